from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import ConfigError, InvalidStateStoreError, ProcessorStateError, TopologyError
from penstock.records import ValueAndTimestamp
from penstock.serde import Serdes
from penstock.state.stores import Stores
from tests.state.environment import Environment


def key_value(environment: Environment | None = None, *, caching: bool = False, **serdes: Any) -> Any:
    builder = Stores.key_value_store_builder(Stores.in_memory_key_value_store("kv"), **serdes)
    return (builder.with_caching_enabled() if caching else builder).build(environment or Environment())


@pytest.mark.parametrize("caching", [False, True])
def test_public_operations(caching: bool) -> None:
    store = key_value(caching=caching)
    store.put("a", 1)
    store.put_all({"c": 3, "b": 2})
    assert store.put_if_absent("a", 9) == 1
    assert store.put_if_absent("d", 4) is None
    assert [tuple(entry) for entry in store.all()] == [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    assert [entry.key for entry in store.reverse_all()] == ["d", "c", "b", "a"]
    assert [entry.key for entry in store.range("b", "c")] == ["b", "c"]
    assert [entry.key for entry in store.range(None, "b")] == ["a", "b"]
    assert [entry.key for entry in store.reverse_range("c", None)] == ["d", "c"]
    assert list(store.range("c", "a")) == []
    assert store.delete("c") == 3
    assert store.delete("c") is None
    assert store.approximate_num_entries == 3
    assert (store.name, store.persistent, store.is_open, store.kind) == ("kv", False, True, "key_value")


def test_as_a_dict() -> None:
    store = key_value()
    store["a"] = 1
    assert store["a"] == 1
    assert "a" in store
    assert "b" not in store
    assert list(store) == ["a"]
    del store["a"]
    with pytest.raises(KeyError):
        store["a"]
    with pytest.raises(KeyError):
        del store["a"]


def test_order_is_that_of_the_bytes_so_negative_numbers_come_last() -> None:
    store = key_value(key_serde="long")
    for number in (-1, 5, 0):
        store.put(number, number)
    assert list(store) == [0, 5, -1]


@pytest.mark.parametrize("caching", [False, True])
def test_prefix_scan(caching: bool) -> None:
    store = key_value(caching=caching)
    store.put_all([("ab", 1), ("a", 2), ("b", 3), ("abc", 4)])
    assert [entry.key for entry in store.prefix_scan("ab")] == ["ab", "abc"]
    assert [entry.key for entry in store.prefix_scan(b"b")] == ["b"]
    assert [entry.key for entry in store.prefix_scan("a", Serdes.string())] == ["a", "ab", "abc"]


def test_iterators_are_context_managers_and_survive_changes() -> None:
    store = key_value()
    store.put_all({"a": 1, "b": 2, "c": 3})
    with store.all() as entries:
        assert next(entries) == ("a", 1)
        store.put("bb", 9)
        store.delete("b")
        assert entries.peek() == ("b", 2)
        assert [entry.key for entry in entries] == ["b", "c"]
    with store.all() as entries:
        next(entries)
    assert list(entries) == []


@pytest.mark.parametrize("caching", [False, True])
def test_a_null_key_is_refused(caching: bool) -> None:
    store = key_value(caching=caching)
    with pytest.raises(ProcessorStateError, match="a key of the store kv is None"):
        store.get(None)
    with pytest.raises(ProcessorStateError, match="kv"):
        store.put(None, 1)


def test_a_closed_store_says_so() -> None:
    store = key_value()
    store.close()
    with pytest.raises(InvalidStateStoreError, match="kv is closed"):
        store.all()


def test_a_store_without_serde_names_the_setting() -> None:
    with pytest.raises(ConfigError, match="kv has no value serde"):
        key_value(Environment(default_value_serde=None))


@pytest.mark.parametrize("caching", [False, True])
def test_a_timestamped_store_wants_timestamps(caching: bool) -> None:
    supplier = Stores.persistent_timestamped_key_value_store("rows")
    builder = Stores.timestamped_key_value_store_builder(supplier)
    store: Any = (builder.with_caching_enabled() if caching else builder).build(Environment())
    store.put("a", ValueAndTimestamp(1, 10))
    store.put("b", (2, 20))
    assert store.get("a") == ValueAndTimestamp(1, 10)
    assert [tuple(entry) for entry in store.all()] == [("a", (1, 10)), ("b", (2, 20))]
    store.put("a", ValueAndTimestamp(None, 30))
    assert store.get("a") is None
    with pytest.raises(ProcessorStateError, match="rows keeps timestamps, but 5 was put"):
        store.put("a", 5)


def test_changelog_records_have_plain_values() -> None:
    changes = []
    environment = Environment()
    environment.record.timestamp = 7
    store = key_value(environment, value_serde="string")
    store.on_change = lambda *change: changes.append(change)
    store.put("a", "x")
    store.delete("a")
    builder = Stores.timestamped_key_value_store_builder(Stores.in_memory_key_value_store("t"), value_serde="string")
    rows: Any = builder.build(environment)
    rows.on_change = store.on_change
    rows.write("a", "x", 3)
    assert changes == [(b"a", b"x", 7), (b"a", None, 7), (b"a", b"x", 3)]


def test_lru_map_forgets_the_least_recently_used() -> None:
    environment = Environment()
    builder = Stores.key_value_store_builder(Stores.lru_map("lru", 2))
    store: Any = builder.build(environment)
    changes = []
    store.on_change = lambda key, value, timestamp: changes.append((key, value is not None))
    store.put("a", 1)
    store.put("b", 2)
    store.get("a")
    store.put("c", 3)
    assert list(store) == ["a", "c"]
    assert changes[-2:] == [(b"c", True), (b"b", False)]
    store.delete("a")
    store.put("d", 4)
    assert list(store) == ["c", "d"]
    store.flush()
    again: Any = builder.build(environment.restarted())
    again.put("e", 5)
    assert list(again) == ["d", "e"]


def test_lru_map_with_timestamps() -> None:
    store: Any = Stores.timestamped_key_value_store_builder(Stores.lru_map("lru", 1)).build(Environment())
    store.write("a", 1, 10)
    store.write("b", 2, 20)
    assert [tuple(entry) for entry in store.all()] == [("b", (2, 20))]
    assert (store.kind, store.cached) == ("timestamped_key_value", False)


def test_bad_suppliers() -> None:
    with pytest.raises(TopologyError, match="max_entries of the store lru is 0"):
        Stores.lru_map("lru", 0)
    with pytest.raises(TopologyError, match="the name of a store is ''"):
        Stores.persistent_key_value_store("")
    with pytest.raises(TopologyError, match="session_store_builder was given"):
        Stores.session_store_builder(Stores.lru_map("lru", 1))  # type: ignore[arg-type]
    with pytest.raises(TopologyError, match="less than their size of 10 ms"):
        Stores.persistent_window_store("w", 5, 10)


def test_builders_are_immutable() -> None:
    plain = Stores.key_value_store_builder(Stores.persistent_key_value_store("kv"), "string", "long")
    logged = plain.with_logging_enabled({"retention.ms": "1"}).with_caching_enabled()
    assert (plain.caching, plain.log_config) == (False, ())
    assert (logged.caching, logged.logging, logged.log_config) == (True, True, (("retention.ms", "1"),))
    assert not logged.with_logging_disabled().logging
    assert logged.with_caching_disabled().caching is False
    versioned = Stores.versioned_key_value_store_builder(Stores.persistent_versioned_key_value_store("v", "1h"))
    assert versioned.retention_ms == 3_600_000
    with pytest.raises(TopologyError, match="versioned store v cannot be cached"):
        versioned.with_caching_enabled()
