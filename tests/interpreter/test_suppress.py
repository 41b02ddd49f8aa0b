"""Suppress: only the last update of a key goes on, later."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import BufferFullError, PenstockError
from penstock.serde import WindowedSerdes
from penstock.state.builders import TimestampedKeyValueStoreBuilder
from penstock.state.internal_builders import SuppressBufferBuilder
from penstock.state.materialize import session_result, window_result
from penstock.topology.operators import (
    Aggregation,
    SessionAggregate,
    SlidingAggregate,
    Suppress,
    WindowAggregate,
)
from penstock.windows import SessionWindows, SlidingWindows, TimeWindows
from tests.interpreter.observe import JSON, Run, Seen, w

TABLE = TimestampedKeyValueStoreBuilder(name="table", **JSON)
COUNT = Aggregation.count()


def limit(wait: int, *, max_records: int | None = None, max_bytes: int | None = None, **options: Any) -> Run:
    operator = Suppress("buffer", wait, False, max_records, max_bytes, options.pop("strict", False), **options)
    return Run(operator, stores=[SuppressBufferBuilder(name="buffer", **JSON)], table=TABLE)


def final(windows: TimeWindows | SlidingWindows | SessionWindows) -> Run:
    wait = windows.grace + (windows.gap if isinstance(windows, SessionWindows) else 0)
    suppress = Suppress("buffer", wait, True, None, None, True)
    if isinstance(windows, SessionWindows):
        serde = WindowedSerdes.session_windowed("string")
        store: Any = session_result("s", windows, **JSON)
        operator: Any = SessionAggregate("s", windows, COUNT, send_old=True)
    else:
        size = windows.size if isinstance(windows, TimeWindows) else windows.difference
        serde = WindowedSerdes.time_windowed("string", size)
        store = window_result("s", windows, **JSON)
        kind = WindowAggregate if isinstance(windows, TimeWindows) else SlidingAggregate
        operator = kind("s", windows, COUNT, send_old=True)  # type: ignore[arg-type]
    buffer = SuppressBufferBuilder(name="buffer", key_serde=serde, value_serde="json")
    return Run(operator, suppress, stores=[store, buffer])


def test_waiting_nothing_emits_at_once() -> None:
    assert limit(0).pipe(("a", 1, 5), ("a", 2, 3)) == [Seen("a", 1, 5), Seen("a", 2, 3)]


def test_the_time_of_an_entry_is_that_of_its_first_update() -> None:
    r = limit(10)
    assert r.pipe(("a", 1, 0), ("a", 2, 9)) == []
    assert r.pipe(("b", 1, 10)) == [Seen("a", 2, 9)]
    assert r.pipe(("a", 3, 11), ("b", 2, 19)) == []
    assert r.pipe(("c", 1, 20)) == [Seen("b", 2, 19)]
    assert r.pipe(("c", 2, 21)) == [Seen("a", 3, 11)]


def test_order_is_time_then_key_bytes() -> None:
    r = limit(10)
    r.pipe(("c", 1, 2), ("b", 1, 2), ("a", 1, 3), ("b", 2, 4))
    assert [(s.key, s.new) for s in r.pipe(("z", 1, 100))] == [("b", 2), ("c", 1), ("a", 1)]


def test_the_record_itself_may_be_due() -> None:
    r = limit(10)
    r.pipe(("z", 1, 100))
    assert r.pipe(("a", 1, 90)) == [Seen("a", 1, 90)]
    assert r.pipe(("a", 2, 91)) == []


def test_tombstones_are_emitted_with_a_time_limit() -> None:
    r = limit(10)
    r.pipe(("a", 1, 0), ("a", None, 1))
    assert r.pipe(("b", 1, 10)) == [Seen("a", None, 1)]


def test_old_is_the_value_last_emitted() -> None:
    r = limit(10, send_old=True)
    r.pipe(("a", 1, 0), ("a", 2, 5))
    assert r.pipe(("b", 1, 10)) == [Seen("a", 2, 5, None)]
    r.pipe(("a", 3, 11), ("a", 4, 12))
    assert r.pipe(("c", 1, 21)) == [Seen("b", 1, 10, None), Seen("a", 4, 12, 2)]


def test_headers_are_those_of_the_buffered_update() -> None:
    r = limit(10)
    for timestamp in (0, 5, 10):
        r.pipe(("a" if timestamp < 10 else "b", timestamp, timestamp), headers=[("h", str(timestamp).encode())])
    assert [h.last("h") for h in r.headers] == [b"5"]


def test_eager_limit_emits_the_oldest() -> None:
    r = limit(1000, max_records=2)
    assert r.pipe(("b", 1, 2), ("a", 1, 1), ("b", 2, 3)) == []
    assert r.pipe(("c", 1, 4)) == [Seen("a", 1, 1)]


def test_byte_limit() -> None:
    r = limit(1000, max_bytes=1)
    assert r.pipe(("a", 1, 1)) == [Seen("a", 1, 1)]


def test_strict_limit_fails_with_the_numbers() -> None:
    r = limit(1000, max_records=1, strict=True)
    r.pipe(("a", 1, 1))
    with pytest.raises(PenstockError, match=r"buffer of node-1 is full: 2 of 1 records") as raised:
        r.pipe(("b", 1, 2))
    assert isinstance(raised.value.__cause__, BufferFullError)


def test_time_windows_are_emitted_once_when_they_close() -> None:
    r = final(TimeWindows(10, grace=5))
    assert r.pipe(("a", 1, 1), ("a", 1, 2), ("b", 1, 14)) == []
    assert r.pipe(("b", 1, 15)) == [Seen(w("a", 0, 10), 2, 2)]
    assert r.pipe(("a", 1, 3), ("b", 1, 24)) == []
    assert r.dropped == {"late for its window": 1}
    assert r.pipe(("b", 1, 25)) == [Seen(w("b", 10, 20), 2, 15)]


def test_sliding_windows_overlap_by_a_millisecond() -> None:
    """At the boundary the result goes out, and an update is still accepted and goes out again."""
    r = final(SlidingWindows(10, 5))
    r.pipe(("a", 1, 20))
    assert r.pipe(("b", 1, 25)) == [Seen(w("a", 10, 20), 1, 20)]
    assert r.pipe(("a", 1, 20)) == [Seen(w("a", 10, 20), 2, 20)]


def test_session_tombstones_are_swallowed() -> None:
    r = final(SessionWindows(10))
    assert r.pipe(("a", 1, 0), ("a", 1, 5)) == []
    assert r.pipe(("b", 1, 15)) == [Seen(w("a", 0, 5), 2, 5)]


def test_the_buffer_survives_a_restart() -> None:
    r = limit(10, send_old=True)
    r.pipe(("a", 1, 0), ("a", 2, 5))
    r.driver.restart()
    assert r.pipe(("b", 1, 10)) == [Seen("a", 2, 5, None)]
