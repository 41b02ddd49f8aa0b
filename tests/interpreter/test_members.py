"""Aggregates of expressions are kept as lists of their members between two flushes; nobody can tell."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Materialized, StreamsBuilder, fn, v
from penstock.expr.errors import ExpressionError
from penstock.state.cells import VALUE
from tests.interpreter.in_memory import in_memory_task

SERDES: dict[str, Any] = {"key_serde": "string", "value_serde": "json"}


class Totals:
    """A task with one table."""

    def __init__(self, **aggregates: Any) -> None:
        builder = StreamsBuilder()
        table = builder.stream("in", **SERDES).group_by_key().agg(Materialized.as_("totals"), **aggregates)
        table.to_stream().to("out", **SERDES)
        self.task, self.outputs = in_memory_task(builder)
        self.store = self.task.stores["totals"]
        self._offset = 0

    def take(self, *values: bytes, key: bytes = b"a") -> None:
        source = self.task.source("in", 0)
        for value in values:
            source.accept_columns([self._offset], [10 * self._offset], [key], [value], None)
            self._offset += 1

    def flush(self) -> list[bytes | None]:
        self.task.flush()
        sent, self.outputs.pending = self.outputs.pending, []
        return [value for _, _, value, *_ in sent]


def test_a_row_goes_on_over_flushes_and_tasks() -> None:
    totals = Totals(n=fn.count(), sum=fn.sum(v.x), seen=fn.collect(v.x))
    totals.take(b'{"x": 1}', b'{"x": null}', b'{"x": 2}')
    assert totals.store.get("a") == ({"n": 3, "sum": 3, "seen": [1, 2]}, 20)
    assert totals.flush() == [b'{"n":3,"seen":[1,2],"sum":3}']
    totals.take(b'{"x": 4}')
    assert totals.flush() == [b'{"n":4,"seen":[1,2,4],"sum":7}']
    totals.store._clean.clear()  # as in another process: the row is read from the bytes again
    totals.take(b'{"x": 1}')
    assert totals.flush() == [b'{"n":5,"seen":[1,2,4,1],"sum":8}']


def test_what_readers_get_is_their_own() -> None:
    totals = Totals(seen=fn.collect(v.x))
    totals.take(b'{"x": 1}')
    totals.store.get("a").value["seen"].append("reader")
    [(_, (row, _))] = list(totals.store.all())
    row["seen"].append("scan")
    totals.take(b'{"x": 2}')
    assert totals.flush() == [b'{"seen":[1,2]}']


def test_a_record_that_fails_changes_no_member() -> None:
    totals = Totals(n=fn.count(), sum=fn.sum(v.x))
    totals.take(b'{"x": 1}')
    with pytest.raises(ExpressionError, match=r"v\.x = 'y'"):
        totals.take(b'{"x": "y"}')
    assert totals.store.get("a").value == {"n": 1, "sum": 1}
    with pytest.raises(ExpressionError):
        Totals(n=fn.count(), sum=fn.sum(v.x + 1)).take(b'{"x": "y"}')


@pytest.mark.parametrize("flushed", [True, False])
def test_rows_that_somebody_else_wrote(flushed: bool) -> None:
    def written(row: Any, **aggregates: Any) -> Totals:
        totals = Totals(**aggregates)
        totals.store.write("a", row, 1)
        if flushed:
            totals.flush()
            totals.store._clean.clear()
        assert totals.store.get("a") == (row, 1)
        return totals

    more = written({"n": 5, "sum": 1, "more": [1]}, n=fn.count(), sum=fn.sum(v.x))
    more.take(b'{"x": 2}', b'{"x": 3}')
    assert more.flush() == [b'{"n":7,"sum":6}']
    assert isinstance(more.store.load("a")[VALUE], list)

    for other in ({"m": 1}, 5, [5], "n"):
        foreign = written(other, n=fn.count())
        with pytest.raises(ExpressionError):
            foreign.take(b"{}")
        assert foreign.store.get("a") == (other, 1)


def test_a_deleted_row_begins_anew() -> None:
    totals = Totals(n=fn.count())
    totals.take(b"{}", b"{}")
    totals.store.write("a", None, 15)
    totals.take(b"{}")
    assert totals.flush() == [b'{"n":1}']
    totals.store.write("a", None, 35)
    assert totals.flush() == [None]
