"""Session windows: records at most a gap apart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.functions import AGGREGATOR, MERGER, REDUCER, Function, function
from penstock.state.materialize import session_result
from penstock.topology.operators import Aggregation, SessionAggregate
from penstock.windows import SessionWindows
from tests.interpreter.observe import JSON, Run, Seen, w

COUNT = Aggregation.count()
CONCAT = Aggregation("reduce", None, function(lambda a, v: f"{a}{v}", REDUCER, "reducer"))
TEXT = Aggregation(
    "aggregate",
    lambda: "0",
    function(lambda v, a: f"{a}+{v}", AGGREGATOR, "aggregator"),
    Function(lambda a, b: f"({a}|{b})", ("left", "right")),
)


def run(windows: SessionWindows, aggregation: Aggregation = COUNT, *, caching: bool = False, **options: Any) -> Run:
    store = session_result("s", windows, retention=options.pop("retention", None), **JSON)
    return Run(SessionAggregate("s", windows, aggregation, **options), stores=[store], caching=caching)


def content(r: Run) -> dict[tuple[str, int, int], Any]:
    found = {}
    for key in "ab":
        for windowed, value in r.driver.get_session_store("s").fetch(key):
            found[key, windowed.window.start, windowed.window.end] = value
    return found


def test_records_exactly_a_gap_apart_merge() -> None:
    r = run(SessionWindows(10, 100))
    assert r.pipe(("a", 1, 0)) == [Seen(w("a", 0, 0), 1, 0)]
    assert r.pipe(("a", 1, 10)) == [Seen(w("a", 0, 0), None, 0), Seen(w("a", 0, 10), 2, 10)]
    assert r.pipe(("a", 1, 21)) == [Seen(w("a", 21, 21), 1, 21)]


def test_a_record_between_two_sessions_merges_them_with_a_tombstone_each() -> None:
    r = run(SessionWindows(10, 100), TEXT)
    r.pipe(("a", 1, 0), ("a", 2, 20))
    assert r.pipe(("a", 3, 10)) == [
        Seen(w("a", 0, 0), None, 0),
        Seen(w("a", 20, 20), None, 20),
        Seen(w("a", 0, 20), "((0|0+1)|0+2)+3", 20),
    ]


def test_with_a_cache_a_session_that_keeps_its_window_gives_no_tombstone() -> None:
    r = run(SessionWindows(10, 100), caching=True)
    r.pipe(("a", 1, 0), ("a", 1, 10))
    assert r.pipe(("a", 1, 5)) == [Seen(w("a", 0, 10), 3, 10)]


def test_without_a_cache_a_session_that_keeps_its_window_is_removed_and_put_again() -> None:
    r = run(SessionWindows(10, 100), send_old=True)
    r.pipe(("a", 1, 0), ("a", 1, 10))
    assert r.pipe(("a", 1, 5)) == [Seen(w("a", 0, 10), None, 10, 2), Seen(w("a", 0, 10), 3, 10, None)]


@pytest.mark.parametrize("caching", [False, True])
def test_second_record_of_a_point_session_replaces_it_and_carries_it_as_old(caching: bool) -> None:
    r = run(SessionWindows(10, 100), send_old=True, caching=caching)
    r.pipe(("a", 1, 7))
    assert r.pipe(("a", 1, 7)) == [Seen(w("a", 7, 7), 2, 7, 1)]


def test_lateness_is_judged_on_the_merged_window() -> None:
    r = run(SessionWindows(10, 5), retention=1000)
    r.pipe(("a", 1, 50), ("a", 1, 60), ("b", 1, 76))  # closed up to 76 - 5 - 10 = 61
    assert r.pipe(("a", 1, 40)) == []
    assert r.dropped == {"late for its window": 1}
    r.pipe(("a", 1, 62))
    assert [s.new for s in r.pipe(("a", 1, 45))] == [None, 4]


@pytest.mark.parametrize("caching", [False, True])
def test_merged_end_exactly_at_the_close_time_is_accepted(caching: bool) -> None:
    r = run(SessionWindows(10, 5), caching=caching)
    r.pipe(("b", 1, 100))
    assert r.pipe(("a", 1, 85)) == [Seen(w("a", 85, 85), 1, 85)]
    assert r.pipe(("a", 1, 84)) == []
    assert r.dropped == {"late for its window": 1}


def test_null_key_is_dropped_and_null_values_are_aggregated() -> None:
    r = run(SessionWindows(10, 100))
    assert r.pipe((None, 1, 1000)) == []
    assert r.dropped == {"null key in an aggregation": 1}
    assert r.pipe(("a", None, 3)) == [Seen(w("a", 3, 3), 1, 3)]
    assert run(SessionWindows(10), TEXT).pipe(("a", None, 3)) == [Seen(w("a", 3, 3), "0+None", 3)]
    r = run(SessionWindows(10), CONCAT)
    assert r.pipe(("a", "x", 3), ("a", None, 4))[-1] == Seen(w("a", 3, 4), "xNone", 4)


def test_a_null_aggregate_is_a_tombstone_and_is_not_kept() -> None:
    r = run(SessionWindows(10, 100), CONCAT)
    assert r.pipe(("a", None, 3)) == [Seen(w("a", 3, 3), None, 3)]
    assert r.pipe(("a", "x", 4)) == [Seen(w("a", 4, 4), "x", 4)]


@pytest.mark.parametrize("caching", [False, True])
def test_a_merger_may_change_what_it_gets(caching: bool) -> None:
    def extend(left: list[Any], right: list[Any]) -> list[Any]:
        left += right
        right.clear()
        return left

    def collect(value: Any, aggregate: list[Any]) -> list[Any]:
        aggregate.append(value)
        return aggregate

    aggregation = Aggregation(
        "aggregate", list, function(collect, AGGREGATOR, "aggregator"), Function(extend, ("left", "right"))
    )
    r = run(SessionWindows(10, 100), aggregation, send_old=True, caching=caching)
    r.pipe(("a", 1, 0), ("a", 2, 20))
    seen = r.pipe(("a", 3, 10))
    assert [(s.key.window.start, s.key.window.end, s.new, s.old) for s in seen] == [
        (0, 0, None, [1]), (20, 20, None, [2]), (0, 20, [1, 2, 3], None),
    ]  # fmt: skip


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 60)), max_size=16),
    st.integers(0, 12),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_sessions_are_the_gaps_between_all_records(records: list[tuple[str, int]], gap: int, caching: bool) -> None:
    r = run(SessionWindows(gap, 1000), caching=caching)
    r.pipe(*((key, 1, t) for key, t in records))
    assert content(r) == _expected(records, gap)
    # what went downstream is the same table
    table: dict[Any, Any] = {}
    for seen in r.seen:
        table[seen.key] = seen.new
    assert {k: v for k, v in table.items() if v is not None} == {w(k, s, e): n for (k, s, e), n in content(r).items()}


def _expected(records: list[tuple[str, int]], gap: int) -> dict[tuple[str, int, int], int]:
    expected: dict[tuple[str, int, int], int] = {}
    for key in {k for k, _ in records}:
        times = sorted(t for k, t in records if k == key)
        group = [times[0]]
        for t in [*times[1:], None]:
            if t is not None and t - group[-1] <= gap:
                group.append(t)
                continue
            expected[key, group[0], group[-1]] = len(group)
            group = [t] if t is not None else []
    return expected


def test_merger_with_key_gets_it() -> None:
    keyed = Aggregation(
        "aggregate",
        lambda: "",
        function(lambda v, a: a + v, AGGREGATOR, "aggregator"),
        Function(lambda k, a, b: f"{k}[{a}{b}]", MERGER),
    )
    r = run(SessionWindows(10), keyed)
    assert r.pipe(("a", "x", 0), ("a", "y", 5))[-1] == Seen(w("a", 0, 5), "a[x]y", 5)
