"""Tumbling, hopping and unlimited windows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.durations import MAX_LONG
from penstock.expr import aggregate_all, fn, v
from penstock.functions import AGGREGATOR, REDUCER, Constant, Function, function
from penstock.handlers import LogAndContinueProcessingExceptionHandler
from penstock.state.materialize import window_result
from penstock.streams.expression_aggregates import step_function
from penstock.topology.operators import Aggregation, WindowAggregate
from penstock.windows import TimeWindows, UnlimitedWindows
from tests.interpreter.observe import Run, Seen, w

COUNT = Aggregation.count()
CONCAT = Aggregation("reduce", None, function(lambda a, v: f"{a}{v}", REDUCER, "reducer"))
TEXT = Aggregation("aggregate", lambda: "0", function(lambda k, v, a: f"{a}+{v}", AGGREGATOR, "aggregator"))


def run(windows: Any, aggregation: Aggregation = COUNT, *, caching: bool = False, **options: Any) -> Run:
    key_serde, config = options.pop("key_serde", "string"), options.pop("config", {})
    store = window_result(
        "s", windows, retention=options.pop("retention", None), key_serde=key_serde, value_serde="json"
    )
    operator = WindowAggregate("s", windows, aggregation, **options)
    return Run(operator, stores=[store], caching=caching, key_serde=key_serde, config=config)


@pytest.mark.parametrize("caching", [False, True])
def test_tumbling_windows_are_half_open_and_aligned_to_the_epoch(caching: bool) -> None:
    r = run(TimeWindows(10), caching=caching)
    assert r.pipe(("a", 1, 0), ("a", 1, 9), ("a", 1, 10), ("b", 1, 25)) == [
        Seen(w("a", 0, 10), 1, 0),
        Seen(w("a", 0, 10), 2, 9),
        Seen(w("a", 10, 20), 1, 10),
        Seen(w("b", 20, 30), 1, 25),
    ]


@pytest.mark.parametrize("caching", [False, True])
def test_hopping_record_goes_to_every_window_in_ascending_start(caching: bool) -> None:
    r = run(TimeWindows(10, 4), caching=caching)
    assert [s.key.window.start for s in r.pipe(("a", 1, 0))] == [0]
    assert [s.key.window.start for s in r.pipe(("a", 1, 9))] == [0, 4, 8]
    assert [s.key.window.start for s in r.pipe(("a", 1, 10))] == [4, 8]
    assert r.pipe(("a", 1, 12)) == [
        Seen(w("a", 4, 14), 3, 12),
        Seen(w("a", 8, 18), 3, 12),
        Seen(w("a", 12, 22), 1, 12),
    ]


def test_timestamp_is_the_largest_of_the_window() -> None:
    r = run(TimeWindows(10, grace=10))
    assert [s.timestamp for s in r.pipe(("a", 1, 7), ("a", 1, 3), ("a", 1, 12), ("a", 1, 5))] == [7, 7, 12, 7]


@pytest.mark.parametrize("caching", [False, True])
def test_a_window_takes_records_while_its_end_is_after_stream_time_less_grace(caching: bool) -> None:
    r = run(TimeWindows(10, grace=5), caching=caching)
    r.pipe(("a", 1, 0), ("b", 1, 14))  # end 10 > 14 - 5
    assert r.pipe(("a", 1, 9)) == [Seen(w("a", 0, 10), 2, 9)]
    r.pipe(("b", 1, 15))  # end 10 is not > 15 - 5
    assert r.pipe(("a", 1, 9)) == []
    assert r.dropped == {"late for its window": 1}


def test_a_late_record_is_counted_for_each_window_that_is_closed() -> None:
    r = run(TimeWindows(10, 2))
    r.pipe(("b", 1, 15))
    # windows of 8 start at 0, 2, 4, 6, 8; those that end by 15 are closed
    assert [s.key.window.start for s in r.pipe(("a", 1, 8))] == [6, 8]
    assert r.dropped == {"late for its window": 3}
    assert r.pipe(("a", 1, 1)) == []
    assert r.dropped == {"late for its window": 4}


def test_null_key_is_dropped_and_does_not_move_the_clock() -> None:
    r = run(TimeWindows(10))
    r.pipe((None, 1, 1000))
    assert r.dropped == {"null key in an aggregation": 1}
    assert r.pipe(("a", 1, 5)) == [Seen(w("a", 0, 10), 1, 5)]


@pytest.mark.parametrize("caching", [False, True])
def test_null_values_are_aggregated(caching: bool) -> None:
    assert run(TimeWindows(10), caching=caching).pipe(("a", None, 1)) == [Seen(w("a", 0, 10), 1, 1)]
    assert run(TimeWindows(10), TEXT, caching=caching).pipe(("a", None, 1)) == [Seen(w("a", 0, 10), "0+None", 1)]
    r = run(TimeWindows(10), CONCAT, caching=caching)
    assert r.pipe(("a", "x", 1), ("a", None, 2)) == [Seen(w("a", 0, 10), "x", 1), Seen(w("a", 0, 10), "xNone", 2)]


def test_first_null_of_a_reduce_is_a_tombstone_and_the_next_value_starts_anew() -> None:
    r = run(TimeWindows(10), CONCAT)
    assert r.pipe(("a", None, 1), ("a", "x", 2)) == [Seen(w("a", 0, 10), None, 1), Seen(w("a", 0, 10), "x", 2)]


@pytest.mark.parametrize("caching", [False, True])
def test_null_aggregate_deletes_the_window(caching: bool) -> None:
    until_three = Function(lambda v, a: None if a == 2 else a + 1, ("value", "aggregate"))
    r = run(TimeWindows(10), Aggregation("aggregate", lambda: 0, until_three), caching=caching)
    assert [s.new for s in r.pipe(*[("a", 1, t) for t in range(5)])] == [1, 2, None, 1, 2]


@pytest.mark.parametrize("caching", [False, True])
def test_old_value_of_a_new_window_is_null_and_not_the_initializers(caching: bool) -> None:
    r = run(TimeWindows(10), TEXT, send_old=True, caching=caching)
    assert r.pipe(("a", 1, 1), ("a", 2, 2)) == [
        Seen(w("a", 0, 10), "0+1", 1, None),
        Seen(w("a", 0, 10), "0+1+2", 2, "0+1"),
    ]


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize("windows", [TimeWindows(10), TimeWindows(10, 5)])
def test_an_aggregator_may_change_the_aggregate_it_gets(windows: TimeWindows, caching: bool) -> None:
    def collect(value: Any, aggregate: list[Any]) -> list[Any]:
        aggregate.append(value)
        return aggregate

    aggregation = Aggregation("aggregate", list, function(collect, AGGREGATOR, "aggregator"))
    r = run(windows, aggregation, send_old=True, caching=caching)
    r.pipe(("a", 1, 6))
    assert all((s.new, s.old) == ([1, 2], [1]) for s in r.pipe(("a", 2, 7)))
    assert [(s.new, s.old) for s in r.pipe(("a", 3, 8))] == [([1, 2, 3], [1, 2])] * (1 if windows.advance == 10 else 2)


@pytest.mark.parametrize("caching", [False, True])
def test_windows_do_not_share_the_objects_of_a_record(caching: bool) -> None:
    """A value kept in several hopping windows and changed in one of them later stays as it was in the others."""

    def merge(value: Any, aggregate: dict[str, Any]) -> dict[str, Any]:
        if value["id"] in aggregate:
            aggregate[value["id"]]["n"][0] += value["n"][0]
        else:
            aggregate[value["id"]] = value
        return aggregate

    aggregation = Aggregation("aggregate", dict, function(merge, AGGREGATOR, "aggregator"))
    r = run(TimeWindows(10, 5), aggregation, caching=caching)
    r.pipe(("a", {"id": "x", "n": [1]}, 6))
    seen = r.pipe(("a", {"id": "x", "n": [1]}, 7), ("a", {"id": "x", "n": [1]}, 12))
    assert [s.new["x"]["n"] for s in seen] == [[2], [2], [3], [1]]


@pytest.mark.parametrize("caching", [False, True])
def test_reduced_values_are_not_shared_between_windows(caching: bool) -> None:
    def add(aggregate: dict[str, int], value: dict[str, int]) -> dict[str, int]:
        aggregate["n"] += value["n"]
        return aggregate

    aggregation = Aggregation("reduce", None, function(add, REDUCER, "reducer"))
    r = run(TimeWindows(10, 5), aggregation, caching=caching)
    r.pipe(("a", {"n": 1}, 6))
    assert [s.new for s in r.pipe(("a", {"n": 10}, 7))] == [{"n": 11}, {"n": 11}]


def test_unlimited_window_ignores_earlier_records_and_never_closes() -> None:
    r = run(UnlimitedWindows(100))
    assert r.pipe(("a", 1, 99)) == []
    assert r.pipe(("a", 1, 100), ("a", 1, 10_000_000), ("a", 1, 101)) == [
        Seen(w("a", 100, MAX_LONG), 1, 100),
        Seen(w("a", 100, MAX_LONG), 2, 10_000_000),
        Seen(w("a", 100, MAX_LONG), 3, 10_000_000),
    ]
    assert r.driver.dropped_records == 0  # as in Kafka Streams, such records are not counted


def test_operator_clock_starts_anew_after_a_restart() -> None:
    r = run(TimeWindows(10), retention=1000)
    r.pipe(("a", 1, 5), ("a", 1, 20))
    assert r.pipe(("a", 1, 6)) == []
    r.driver.restart()
    assert r.pipe(("a", 1, 6)) == [Seen(w("a", 0, 10), 2, 6)]


@pytest.mark.parametrize("caching", [False, True])
def test_headers_are_those_of_the_record_that_caused_the_update(caching: bool) -> None:
    r = run(TimeWindows(10), caching=caching)
    r.pipe(("a", 1, 5), headers=[("h", b"1")])
    r.pipe(("a", 1, 6), headers=[("h", b"2")])
    assert [h.last("h") for h in r.headers] == [b"1", b"2"]


def test_a_failing_aggregator_is_reported_with_its_node() -> None:
    r = run(TimeWindows(10), Aggregation("aggregate", lambda: 0, Function(lambda v, a: 1 / 0, ("value", "aggregate"))))
    with pytest.raises(Exception, match=r"ZeroDivisionError.*node-0.*topic in.*offset 0"):
        r.pipe(("a", 1, 5))


def test_expressions_may_use_the_records_timestamp() -> None:
    last = Aggregation("expression", lambda: 0, Function(lambda t, a: t + a, ("timestamp", "aggregate")))
    assert [s.new for s in run(TimeWindows(10), last).pipe(("a", 1, 5), ("a", 1, 6))] == [5, 11]


@pytest.mark.parametrize("caching", [False, True])
def test_keys_are_told_apart_by_their_bytes(caching: bool) -> None:
    r = run(TimeWindows(10), caching=caching, key_serde="json")
    seen = r.pipe((1, 1, 1), (1.0, 1, 2), (True, 1, 3), ({"a": [1]}, 1, 4), ({"a": [1]}, 1, 5))
    assert [(s.key.key, s.new) for s in seen] == [(1, 1), (1.0, 1), (True, 1), ({"a": [1]}, 1), ({"a": [1]}, 2)]


def test_a_batch_forwards_the_last_update_of_each_window_in_the_order_of_the_last_changes() -> None:
    r = run(TimeWindows(10, 5), send_old=True, caching=True)
    assert r.batch(("a", 1, 3), ("b", 1, 7), ("a", 1, 6)) == [
        Seen(w("b", 0, 10), 1, 7), Seen(w("b", 5, 15), 1, 7), Seen(w("a", 0, 10), 2, 6), Seen(w("a", 5, 15), 1, 6),
    ]  # fmt: skip
    assert r.batch(("a", 1, 9), ("b", 1, 11), ("a", 1, 9)) == [
        Seen(w("a", 0, 10), 3, 9, 2),
        Seen(w("b", 5, 15), 2, 11, 1), Seen(w("b", 10, 20), 1, 11), Seen(w("a", 5, 15), 3, 9, 1),
    ]  # fmt: skip
    assert r.dropped == {"late for its window": 1}


records = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 99), st.integers(0, 60)), max_size=30)


def _append(value: int, aggregate: list[int]) -> list[int]:
    aggregate.append(value)
    return aggregate


COLLECT = Aggregation("aggregate", list, function(_append, AGGREGATOR, "aggregator"))
STATES = aggregate_all(all=fn.collect(v), least=fn.min(v))
EXPRESSION = Aggregation("expression", Constant(STATES.initial()), step_function(STATES), mutates=False)


@pytest.mark.slow
@given(
    st.lists(records, max_size=5),
    st.integers(1, 20),
    st.integers(1, 20),
    st.integers(0, 30),
    st.sampled_from([COLLECT, CONCAT, EXPRESSION]),
)
@settings(max_examples=200, deadline=None)
def test_batches_give_the_same_table_as_single_updates(
    batches: list[list[tuple[str, int, int]]], size: int, advance: int, grace: int, aggregation: Aggregation
) -> None:
    windows = TimeWindows(size, min(advance, size), grace)
    single = run(windows, aggregation, send_old=True)
    cached = run(windows, aggregation, send_old=True, caching=True)
    for batch in batches:
        expected = _last(single.batch(*batch))
        seen = cached.batch(*batch)
        assert len({s.key for s in seen}) == len(seen)
        assert {s.key: (s.new, s.timestamp) for s in seen} == {k: (s.new, s.timestamp) for k, s in expected.items()}
        assert [s.key for s in seen] == list(expected)
    assert cached.dropped == single.dropped
    for r in (single, cached):
        table: dict[Any, Any] = {}
        for seen_one in r.seen:
            assert seen_one.old == table.get(seen_one.key)
            table[seen_one.key] = seen_one.new


def _last(seen: list[Seen]) -> dict[Any, Seen]:
    """The last update of each key, at its place."""
    last: dict[Any, Seen] = {}
    for s in seen:
        last.pop(s.key, None)
        last[s.key] = s
    return last


@pytest.mark.parametrize("caching", [False, True])
def test_a_record_that_is_skipped_leaves_no_half_changed_aggregate(caching: bool) -> None:
    def add(value: Any, aggregate: dict[str, int]) -> dict[str, int]:
        aggregate["n"] += 1
        aggregate["sum"] += value["x"]
        return aggregate

    aggregation = Aggregation("aggregate", lambda: {"n": 0, "sum": 0}, function(add, AGGREGATOR, "aggregator"))
    handler = {"processing.exception.handler": LogAndContinueProcessingExceptionHandler()}
    r = run(TimeWindows(10), aggregation, caching=caching, config=handler)
    assert [s.new for s in r.pipe(("a", {"x": 1}, 1), ("a", {"y": 1}, 2), ("a", {"x": 5}, 3))] == [
        {"n": 1, "sum": 1}, {"n": 2, "sum": 6},
    ]  # fmt: skip


@pytest.mark.parametrize("config", [{}, {"processing.exception.handler": LogAndContinueProcessingExceptionHandler()}])
@pytest.mark.parametrize(("caching", "timestamp"), [(False, 9), (True, 5)])
def test_a_tombstone_out_of_a_cache_has_the_timestamp_of_its_record(
    config: dict[str, Any], caching: bool, timestamp: int
) -> None:
    once = Aggregation("aggregate", lambda: 0, function(lambda v, a: None if a else 1, AGGREGATOR, "aggregator"))
    r = run(TimeWindows(10), once, caching=caching, config=config)
    assert [(s.new, s.timestamp) for s in r.pipe(("a", 1, 9), ("a", 1, 5))] == [(1, 9), (None, timestamp)]


@pytest.mark.parametrize("caching", [False, True])
def test_a_value_returned_as_the_aggregate_is_not_shared_between_windows(caching: bool) -> None:
    def add(value: dict[str, int], aggregate: dict[str, int]) -> dict[str, int]:
        if not aggregate:
            return value
        aggregate["n"] += value["n"]
        return aggregate

    aggregation = Aggregation("aggregate", dict, function(add, AGGREGATOR, "aggregator"))
    r = run(TimeWindows(10, 5), aggregation, caching=caching)
    assert [s.new for s in r.batch(("a", {"n": 1}, 6), ("a", {"n": 10}, 7))][-2:] == [{"n": 11}, {"n": 11}]


@pytest.mark.parametrize("caching", [False, True])
def test_a_flat_aggregate_that_takes_a_part_of_a_value_keeps_it_for_itself(caching: bool) -> None:
    def tag(value: dict[str, Any], aggregate: dict[str, Any]) -> dict[str, Any]:
        if "tags" in aggregate:
            aggregate["tags"].append(value["n"])
        elif value["n"] == 2:
            aggregate["tags"] = value["tags"]
        aggregate["last"] = value["n"]
        return aggregate

    aggregation = Aggregation("aggregate", dict, function(tag, AGGREGATOR, "aggregator"))
    r = run(TimeWindows(10, 5), aggregation, caching=caching)
    seen = r.batch(*[("a", {"n": n, "tags": []}, 5 + n) for n in (1, 2, 3)])
    assert [s.new for s in seen][-2:] == [{"tags": [3], "last": 3}] * 2
