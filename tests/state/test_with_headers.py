from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import ProcessorStateError
from penstock.records import NO_HEADERS, Headers, Window, Windowed
from penstock.state.stores import Stores
from penstock.state.with_headers import AggregationWithHeaders, ValueTimestampHeaders
from tests.state.environment import Environment

H = Headers([("trace", b"1"), ("", None)])
pytestmark = pytest.mark.parametrize("caching", [False, True])


def build(builder: Any, environment: Environment, *, caching: bool) -> Any:
    return (builder.with_caching_enabled() if caching else builder).build(environment)


def test_key_value(caching: bool) -> None:
    environment = Environment()
    supplier = Stores.persistent_timestamped_key_value_store_with_headers("kv")
    builder = Stores.timestamped_key_value_store_with_headers_builder(supplier)
    store = build(builder, environment, caching=caching)
    assert store.cached is caching
    store.put("a", ValueTimestampHeaders(1, 10, H))
    store.put("b", ValueTimestampHeaders(2, 20))
    assert environment.record.headers == NO_HEADERS
    assert [store.get("a"), store.get("b")] == [(1, 10, H), (2, 20, NO_HEADERS)]
    assert [tuple(entry) for entry in store.all()] == [("a", (1, 10, H)), ("b", (2, 20, NO_HEADERS))]
    store.flush()
    again = build(builder, environment.restarted(), caching=caching)
    assert again.delete("a") == (1, 10, H)
    assert again.get("a") is None
    with pytest.raises(ProcessorStateError, match="kv keeps headers, but 5 was put"):
        store.put("a", 5)


def test_a_record_that_writes_by_operator_leaves_its_headers(caching: bool) -> None:
    environment = Environment()
    supplier = Stores.persistent_timestamped_key_value_store_with_headers("kv")
    store = build(Stores.timestamped_key_value_store_with_headers_builder(supplier), environment, caching=caching)
    environment.record.headers = H
    store.write("a", 1, 5)
    environment.record.headers = NO_HEADERS
    store.flush()
    assert store.get("a") == ValueTimestampHeaders(1, 5, H)


def test_window(caching: bool) -> None:
    environment = Environment()
    supplier = Stores.persistent_timestamped_window_store_with_headers("w", 100, 10)
    builder = Stores.timestamped_window_store_with_headers_builder(supplier)
    store = build(builder, environment, caching=caching)
    store.put("a", ValueTimestampHeaders(1, 12, H), 10)
    store.put("a", ValueTimestampHeaders(2, 25), 20)
    expected = [(10, (1, 12, H)), (20, (2, 25, NO_HEADERS))]
    assert store.fetch("a", 10) == (1, 12, H)
    assert [tuple(entry) for entry in store.fetch("a", 0, 99)] == expected
    store.flush()
    again = build(builder, environment.restarted(), caching=caching)
    assert [tuple(entry) for entry in again.fetch("a", 0, 99)] == expected


def test_session(caching: bool) -> None:
    environment = Environment()
    builder = Stores.session_store_with_headers_builder(Stores.persistent_session_store_with_headers("s", 100))
    store = build(builder, environment, caching=caching)
    key = Windowed("a", Window(1, 5))
    store.put(key, AggregationWithHeaders(7, H))
    assert store.fetch_session("a", 1, 5) == (7, H)
    assert [tuple(entry) for entry in store.fetch("a")] == [(key, (7, H))]
    store.flush()
    again = build(builder, environment.restarted(), caching=caching)
    assert [tuple(entry) for entry in again.all()] == [(key, (7, H))]
    again.put(key, None)
    assert list(again.fetch("a")) == []
