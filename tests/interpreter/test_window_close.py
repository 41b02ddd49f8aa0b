"""ON_WINDOW_CLOSE: each window once, when it can no longer change."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from penstock.functions import AGGREGATOR, REDUCER, function
from penstock.interpreter.window_close import close_emitter
from penstock.records import Window, Windowed
from penstock.state.materialize import session_result, window_result
from penstock.topology.operators import Aggregation, SessionAggregate, SlidingAggregate, WindowAggregate
from penstock.windows import SessionWindows, SlidingWindows, TimeWindows
from tests.interpreter.observe import JSON, Run, Seen, w

COUNT = Aggregation.count()


def time(windows: TimeWindows, aggregation: Aggregation = COUNT, *, caching: bool = False, **options: Any) -> Run:
    store = window_result("s", windows, on_close=True, retention=options.pop("retention", None), **JSON)
    operator = WindowAggregate("s", windows, aggregation, emit_on_close=True)
    return Run(operator, stores=[store], caching=caching, **options)


def sliding(windows: SlidingWindows, aggregation: Aggregation = COUNT) -> Run:
    store = window_result("s", windows, on_close=True, **JSON)
    return Run(SlidingAggregate("s", windows, aggregation, emit_on_close=True), stores=[store])


def session(windows: SessionWindows, aggregation: Aggregation = COUNT) -> Run:
    store = session_result("s", windows, on_close=True, **JSON)
    return Run(SessionAggregate("s", windows, aggregation, emit_on_close=True), stores=[store])


@pytest.mark.parametrize("caching", [False, True])
def test_time_window_closes_when_its_end_is_reached_and_grace_is_over(caching: bool) -> None:
    r = time(TimeWindows(10, grace=5), caching=caching)
    assert r.pipe(("a", 1, 1), ("a", 1, 3), ("b", 1, 14)) == []
    assert r.pipe(("b", 1, 15)) == [Seen(w("a", 0, 10), 2, 3)]
    assert r.pipe(("b", 1, 16), ("b", 1, 24)) == []
    assert r.pipe(("b", 1, 25)) == [Seen(w("b", 10, 20), 3, 16)]


@pytest.mark.parametrize("caching", [False, True])
def test_order_is_window_start_then_key_bytes(caching: bool) -> None:
    r = time(TimeWindows(10, 5, grace=100), caching=caching)
    r.pipe(("c", 1, 7), ("a", 1, 8), ("b", 1, 12), ("a", 1, 3))
    assert [(s.key.window.start, s.key.key, s.new) for s in r.pipe(("z", 1, 1000))] == [
        (0, "a", 2), (0, "c", 1), (5, "a", 1), (5, "b", 1), (5, "c", 1), (10, "b", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("caching", [False, True])
def test_a_jump_in_time_loses_nothing(caching: bool) -> None:
    r = time(TimeWindows(100), caching=caching)
    assert r.pipe(("a", 1, 1007), ("a", 1, 1301)) == [Seen(w("a", 1000, 1100), 1, 1007)]
    assert r.pipe(("b", 1, 10**12)) == [Seen(w("a", 1300, 1400), 1, 1301)]


def test_a_window_is_emitted_once_also_over_a_restart() -> None:
    r = time(TimeWindows(10), retention=1000)
    r.pipe(("a", 1, 1))
    assert r.pipe(("b", 1, 10)) == [Seen(w("a", 0, 10), 1, 1)]
    r.driver.restart()
    assert r.pipe(("a", 1, 2), ("b", 1, 11)) == []  # accepted once more as the clock starts anew, but not emitted
    assert r.pipe(("b", 1, 20)) == [Seen(w("b", 10, 20), 2, 11)]


def test_windows_open_at_a_restart_are_emitted_after_it() -> None:
    r = time(TimeWindows(10))
    r.pipe(("a", 1, 1), ("a", 1, 2))
    r.driver.restart()
    assert r.pipe(("b", 1, 10)) == [Seen(w("a", 0, 10), 2, 2)]


def test_null_aggregates_are_not_emitted_and_old_is_null() -> None:
    nothing = Aggregation("aggregate", lambda: 0, function(lambda v, a: None, AGGREGATOR, "aggregator"))
    assert time(TimeWindows(10), nothing).pipe(("a", 1, 1), ("b", 1, 10), ("b", 1, 20)) == []


def test_headers_are_those_of_the_record_that_closed_the_window() -> None:
    r = time(TimeWindows(10))
    r.pipe(("a", 1, 1), headers=[("h", b"1")])
    r.pipe(("a", 1, 10), headers=[("h", b"2")])
    assert [h.last("h") for h in r.headers] == [b"2"]


def test_sliding_window_closes_one_after_the_boundary_of_acceptance() -> None:
    r = sliding(SlidingWindows(10, 5))
    r.pipe(("a", 1, 20))
    assert r.pipe(("b", 1, 25)) == []
    assert r.pipe(("a", 1, 20)) == []  # end 20 >= 25 - 5: still accepted
    assert r.pipe(("b", 1, 26)) == [Seen(w("a", 10, 20), 2, 20)]


def test_early_sliding_record_changes_state_but_does_not_look_for_closed_windows() -> None:
    r = sliding(SlidingWindows(10))
    r.pipe(("a", 1, 0))
    assert r.pipe(("a", 1, 9)) == []
    assert [s.key.window for s in r.pipe(("b", 1, 100))] == [Window(0, 10), Window(1, 11)]


def test_session_closes_when_no_record_can_reach_it_any_more() -> None:
    r = session(SessionWindows(10, 5))
    r.pipe(("a", 1, 0), ("a", 1, 4))
    assert r.pipe(("b", 1, 19)) == []  # 4 is not < 19 - 5 - 10
    assert r.pipe(("b", 1, 20)) == [Seen(w("a", 0, 4), 2, 4)]


def test_sessions_are_ordered_by_end_then_start_then_key() -> None:
    r = session(SessionWindows(5, 100))
    r.pipe(("b", 1, 10), ("c", 1, 7), ("c", 1, 10), ("a", 1, 10), ("z", 1, 3))
    assert [(s.key.key, s.key.window.start, s.key.window.end) for s in r.pipe(("q", 1, 1000))] == [
        ("z", 3, 3), ("c", 7, 10), ("a", 10, 10), ("b", 10, 10),
    ]  # fmt: skip


def test_a_session_exactly_at_the_boundary_is_accepted_and_emitted() -> None:
    r = session(SessionWindows(10, 5))
    r.pipe(("b", 1, 100))
    assert r.pipe(("a", 1, 85)) == []  # end 85 = 100 - 5 - 10: not late
    assert r.dropped == {}
    assert r.pipe(("b", 1, 101)) == [Seen(w("a", 85, 85), 1, 85)]


def test_merged_sessions_are_emitted_once_as_one() -> None:
    concat = Aggregation("reduce", None, function(lambda a, v: a + v, REDUCER, "reducer"))
    r = session(SessionWindows(10, 100), concat)
    assert r.pipe(("k", "x", 0), ("k", "y", 20), ("k", "z", 10)) == []
    assert r.pipe(("q", "!", 1000)) == [Seen(w("k", 0, 20), "xyz", 20)]


def test_between_two_emissions_lies_the_wall_clock_interval() -> None:
    now, forwarded = 0, []
    node: Any = SimpleNamespace(
        forward=lambda *record: forwarded.append(record),
        context=SimpleNamespace(system_time=lambda: now),
        config=SimpleNamespace(emit_interval_ms=1000),
        saved=lambda default: SimpleNamespace(value=default),
    )
    spans: list[tuple[int, int]] = []

    def closed(last: int, close_time: int) -> list[tuple[Windowed[str], int, int]]:
        spans.append((last, close_time))
        return [(w("a", last, close_time), 1, close_time)]

    emit_closed = close_emitter(node, closed)
    emit_closed(10)
    now = 999
    emit_closed(20)
    assert spans == [(-1, 10)]
    now = 1000
    emit_closed(20)
    emit_closed(20)
    assert spans == [(-1, 10), (10, 20)]
    assert [record[0].window for record in forwarded] == [Window(-1, 10), Window(10, 20)]
