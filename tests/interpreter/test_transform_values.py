"""A user's transformer of a table's values."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import PenstockError
from penstock.functions import JOINER, function
from penstock.state.builders import KeyValueStoreBuilder, TimestampedKeyValueStoreBuilder
from penstock.topology.operators import StreamTableJoin, TableTransformValues
from penstock.topology.views import StoreView, TransformValuesView
from tests.interpreter.observe import JSON, Run, Seen

TABLE = TimestampedKeyValueStoreBuilder(name="table", **JSON)
OWN = TimestampedKeyValueStoreBuilder(name="own", caching=True, **JSON)


class Numbering:
    """Numbers its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def transform(self, key: str, value: Any) -> str:
        self.calls += 1
        return f"{key}:{value}#{self.calls}"


def test_called_with_tombstones_too() -> None:
    r = Run(TableTransformValues(Numbering))
    assert r.pipe(("a", 1, 1), ("a", None, 2)) == [Seen("a", "a:1#1", 1), Seen("a", "a:None#2", 2)]


def test_without_a_store_the_old_value_is_transformed_again() -> None:
    r = Run(TableTransformValues(Numbering, send_old=True), table=TABLE)
    assert r.pipe(("a", 1, 1), ("a", 2, 2)) == [Seen("a", "a:1#1", 1, "a:None#2"), Seen("a", "a:2#3", 2, "a:1#4")]


@pytest.mark.parametrize("caching", [False, True])
def test_with_a_store_the_old_value_comes_from_it(caching: bool) -> None:
    r = Run(TableTransformValues(Numbering, store="own", send_old=True), stores=[OWN], caching=caching)
    assert r.pipe(("a", 1, 1), ("a", 2, 2)) == [Seen("a", "a:1#1", 1, None), Seen("a", "a:2#2", 2, "a:1#1")]


def test_transform_may_take_the_value_alone_and_a_supplier_may_be_an_object_with_get() -> None:
    class Doubling:
        def transform(self, value: int) -> int:
            return value * 2

    class Supplier:
        def get(self) -> Doubling:
            return Doubling()

    assert Run(TableTransformValues(Supplier())).pipe(("a", 2, 1)) == [Seen("a", 4, 1)]


def test_init_store_and_close() -> None:
    events: list[Any] = []

    class Summing:
        def init(self, context: Any) -> None:
            self._store = context.get_state_store("sums")
            events.append(("init", context.task_id))

        def transform(self, key: str, value: int) -> int:
            total = (self._store.get(key) or 0) + value
            self._store.put(key, total)
            return total

        def close(self) -> None:
            events.append("close")

    sums = KeyValueStoreBuilder(name="sums", **JSON)
    r = Run(TableTransformValues(Summing), stores=[sums])
    assert [s.new for s in r.pipe(("a", 1, 1), ("a", 2, 2))] == [1, 3]
    r.driver.close()
    assert events == [("init", "0_0"), "close"]


def test_forwarding_is_refused() -> None:
    class Forwarding:
        def init(self, context: Any) -> None:
            self._context = context

        def transform(self, key: str, value: Any) -> Any:
            self._context.forward((key, value))

    with pytest.raises(PenstockError, match="transformer of node-1 forwards"):
        Run(TableTransformValues(Forwarding)).pipe(("a", 1, 1))


def test_a_supplier_of_something_else_is_refused() -> None:
    with pytest.raises(PenstockError, match="no transform"):
        Run(TableTransformValues(dict))


def test_reading_a_transformed_table_without_a_store() -> None:
    """Its reader has a transformer of its own, and sees no current record but the row's timestamp."""
    seen: list[Any] = []

    class Noting:
        def init(self, context: Any) -> None:
            self._context = context

        def transform(self, key: str, value: Any) -> Any:
            seen.append((value, self._context.record_metadata))
            return None if value is None else f"<{value}>"

    view = TransformValuesView(StoreView("table"), Noting, ())
    join = StreamTableJoin(True, view, function(lambda k, left, right: [left, right], JOINER, "joiner"))
    r = Run(join, stores=[TABLE])
    assert r.pipe(("a", 1, 5)) == [Seen("a", [1, None], 5)]
    r.driver.get_timestamped_key_value_store("table").put("a", ("row", 3))
    assert r.pipe(("a", 2, 6)) == [Seen("a", [2, "<row>"], 6)]
    assert seen == [(None, None), ("row", None)]
