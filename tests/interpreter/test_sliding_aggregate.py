"""Sliding windows: one for each distinct set of records."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.functions import AGGREGATOR, REDUCER, function
from penstock.state.materialize import window_result
from penstock.topology.operators import Aggregation, SlidingAggregate
from penstock.windows import SlidingWindows
from tests.interpreter.observe import JSON, Run, Seen, w

COUNT = Aggregation.count()
CONCAT = Aggregation("reduce", None, function(lambda a, v: a + v, REDUCER, "reducer"))


def run(windows: SlidingWindows, aggregation: Aggregation = COUNT, *, caching: bool = False, **options: Any) -> Run:
    store = window_result("s", windows, retention=options.pop("retention", None), **JSON)
    return Run(SlidingAggregate("s", windows, aggregation, **options), stores=[store], caching=caching)


def content(r: Run) -> dict[tuple[str, int], Any]:
    store = r.driver.get_window_store("s")
    return {(key.key, key.window.start): value for key, value in store.all()}


@pytest.mark.parametrize("caching", [False, True])
def test_left_and_right_windows(caching: bool) -> None:
    r = run(SlidingWindows(10, 100), CONCAT, caching=caching)
    assert r.pipe(("k", "a", 20)) == [Seen(w("k", 10, 20), "a", 20)]
    # 25: the right window of 20 now has content, then its own left window
    assert r.pipe(("k", "b", 25)) == [Seen(w("k", 21, 31), "b", 25), Seen(w("k", 15, 25), "ab", 25)]
    # out of order between the two: updates newest window first, then creates left, then right without itself
    assert r.pipe(("k", "c", 22)) == [
        Seen(w("k", 21, 31), "bc", 25),
        Seen(w("k", 15, 25), "abc", 25),
        Seen(w("k", 12, 22), "ac", 22),
        Seen(w("k", 23, 33), "b", 25),
    ]
    assert r.pipe(("k", "d", 20)) == [
        Seen(w("k", 15, 25), "abcd", 25),
        Seen(w("k", 12, 22), "acd", 22),
        Seen(w("k", 10, 20), "ad", 20),
    ]


def test_ends_belong_to_the_window() -> None:
    r = run(SlidingWindows(10, 100), CONCAT)
    r.pipe(("k", "a", 20))
    assert r.pipe(("k", "b", 30)) == [Seen(w("k", 21, 31), "b", 30), Seen(w("k", 20, 30), "ab", 30)]
    # the right window of 30 and the left window of 41 are the same one: written twice, as in Kafka Streams
    assert r.pipe(("k", "c", 41)) == [Seen(w("k", 31, 41), "c", 41)] * 2


@pytest.mark.parametrize("caching", [False, True])
def test_early_records_share_the_window_from_zero(caching: bool) -> None:
    r = run(SlidingWindows(10, 100), CONCAT, caching=caching)
    assert r.pipe(("k", "a", 5)) == [Seen(w("k", 0, 10), "a", 5)]
    assert r.pipe(("k", "b", 8)) == [Seen(w("k", 6, 16), "b", 8), Seen(w("k", 0, 10), "ab", 8)]
    assert r.pipe(("k", "c", 2)) == [Seen(w("k", 3, 13), "ab", 8), Seen(w("k", 0, 10), "abc", 8)]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 60)), max_size=14), st.integers(1, 20))
@settings(max_examples=150, deadline=None)
def test_each_distinct_set_of_records_is_in_one_window(records: list[tuple[str, int]], difference: int) -> None:
    r = run(SlidingWindows(difference, 1000))
    r.pipe(*((key, 1, t) for key, t in records))
    assert content(r) == _expected(records, difference)


def _expected(records: list[tuple[str, int]], difference: int) -> dict[tuple[str, int], int]:
    expected: dict[tuple[str, int], int] = {}
    for key in {k for k, _ in records}:
        times = Counter(t for k, t in records if k == key)
        starts = {max(0, t - difference) for t in times} | {t + 1 for t in times}
        for start in starts:
            inside = sum(n for t, n in times.items() if start <= t <= start + difference)
            if inside:
                expected[key, start] = inside
    return expected


def test_null_key_and_null_value_are_dropped_and_do_not_move_the_clock() -> None:
    r = run(SlidingWindows(10))
    r.pipe(("k", None, 1000), (None, 1, 1000))
    assert r.dropped == {"null key or value in a sliding window": 2}
    assert r.pipe(("k", 1, 20)) == [Seen(w("k", 10, 20), 1, 20)]


def test_boundary_of_lateness() -> None:
    r = run(SlidingWindows(10, 5))
    r.pipe(("x", 1, 100))
    # its windows end at 95 and 105 at the latest: 95 >= 100 - 5 is accepted, 94 is not, 84 + 10 is dropped at once
    assert [s.key for s in r.pipe(("k", 1, 95))] == [w("k", 85, 95)]
    assert r.pipe(("k", 1, 94)) != []  # the window that contains both ends at 95
    assert r.dropped == {"late for its window": 1}  # its own left window [84, 94]
    assert r.pipe(("k", 1, 84)) == []
    assert r.dropped == {"late for its window": 2}


@pytest.mark.parametrize("caching", [False, True])
def test_old_values(caching: bool) -> None:
    r = run(SlidingWindows(10, 100), CONCAT, send_old=True, caching=caching)
    r.pipe(("k", "a", 20))
    assert [(s.key.window.start, s.new, s.old) for s in r.pipe(("k", "b", 25))] == [(21, "b", None), (15, "ab", None)]
    assert [(s.key.window.start, s.new, s.old) for s in r.pipe(("k", "c", 25))] == [(21, "bc", "b"), (15, "abc", "ab")]


@pytest.mark.parametrize("caching", [False, True])
def test_an_aggregator_may_change_the_aggregate_it_gets(caching: bool) -> None:
    def collect(value: Any, aggregate: list[Any]) -> list[Any]:
        aggregate.append(value)
        return aggregate

    r = run(
        SlidingWindows(10, 100),
        Aggregation("aggregate", list, function(collect, AGGREGATOR, "aggregator")),
        send_old=True,
        caching=caching,
    )
    r.pipe(("k", "a", 20), ("k", "b", 25))
    assert [(s.key.window.start, s.new, s.old) for s in r.pipe(("k", "c", 22))] == [
        (21, ["b", "c"], ["b"]),
        (15, ["a", "b", "c"], ["a", "b"]),
        (12, ["a", "c"], None),
        (23, ["b"], None),
    ]


def test_null_aggregate_removes_the_window() -> None:
    nothing = Aggregation("aggregate", lambda: 0, function(lambda v, a: None, AGGREGATOR, "aggregator"))
    r = run(SlidingWindows(10), nothing)
    assert r.pipe(("k", 1, 20)) == [Seen(w("k", 10, 20), None, 20)]
    assert content(r) == {}


@pytest.mark.parametrize(("caching", "timestamp"), [(False, 25), (True, 22)])
def test_a_tombstone_out_of_a_cache_has_the_timestamp_of_its_record(caching: bool, timestamp: int) -> None:
    once = Aggregation("aggregate", lambda: 0, function(lambda v, a: None if a else 1, AGGREGATOR, "aggregator"))
    r = run(SlidingWindows(10, 100), once, caching=caching)
    r.pipe(("k", 1, 25))
    assert r.pipe(("k", 1, 22))[0] == Seen(w("k", 15, 25), None, timestamp)
