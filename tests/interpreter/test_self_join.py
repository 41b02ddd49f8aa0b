from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import JoinWindows, StreamsBuilder
from tests.interpreter.piping import Output, Piping, pair

OPTIMIZED = {"topology.optimization": "single.store.self.join"}


def run(before: int, after: int, grace: int = 0, *, optimized: bool = True) -> Piping:
    builder = StreamsBuilder()
    stream = builder.stream("in")
    stream.join(stream, pair, JoinWindows(before, after, grace)).to("out")
    return Piping(builder, OPTIMIZED if optimized else {})


def test_one_store_is_enough() -> None:
    with run(10, 10) as piping:
        assert len(piping.driver.get_all_state_stores()) == 1
    with run(10, 10, optimized=False) as piping:
        assert len(piping.driver.get_all_state_stores()) == 2


def test_a_record_joins_itself_and_the_others_in_both_roles() -> None:
    with run(10, 10) as piping:
        assert piping.values(("in", "k", "a", 100)) == ["a+a"]
        assert piping.pipe("in", "k", "b", 105) == [("k", "b+a", 105), ("k", "a+b", 105), ("k", "b+b", 105)]
        assert piping.values(("in", "other", "c", 105)) == ["c+c"]


def test_itself_stands_before_the_first_later_partner() -> None:
    with run(10, 10) as piping:
        piping.pipe("in", "k", "a", 100)
        piping.pipe("in", "k", "c", 104)
        assert piping.pipe("in", "k", "b", 102) == [
            ("k", "b+a", 102), ("k", "b+c", 104), ("k", "a+b", 102), ("k", "b+b", 102), ("k", "c+b", 104),
        ]  # fmt: skip


@pytest.mark.parametrize("kind", ["left_join", "outer_join"])
def test_left_and_outer_joins_keep_both_stores_and_all_results(kind: str) -> None:
    found = []
    for config in ({}, OPTIMIZED):
        builder = StreamsBuilder()
        stream = builder.stream("in")
        getattr(stream, kind)(stream, pair, JoinWindows(10, 10, 0)).to("out")
        with Piping(builder, config) as piping:
            records = [
                ("in", "k", "a", 100),
                ("in", None, "no key", 105),
                ("in", "k", "b", 200),
                ("in", "k", "late", 50),
            ]
            found.append([piping.pipe(*record) for record in records])
    assert found[0] == found[1]
    assert found[0][1][0] == (None, "no key+None", 105)
    assert found[0][3][0] == ("k", "late+None", 50)


def test_an_asymmetric_window_looks_both_ways() -> None:
    with run(0, 10, 10) as piping:  # the right record is up to 10 ms later
        piping.pipe("in", "k", "a", 100)
        assert piping.values(("in", "k", "b", 105)) == ["a+b", "b+b"]
        assert piping.values(("in", "k", "c", 95)) == ["c+a", "c+b", "c+c"]


def test_a_record_beyond_retention_does_not_meet_itself() -> None:
    with run(10, 10, 5) as piping:  # retention 25
        piping.pipe("in", "k", "a", 200)
        assert piping.values(("in", "x", "b", 176)) == []
        assert piping.values(("in", "y", "c", 177)) == ["c+c"]


def test_null_keys_and_values_are_dropped() -> None:
    with run(10, 10) as piping:
        assert piping.pipe("in", None, "a", 500) == piping.pipe("in", "k", None, 500) == []
        assert piping.driver.dropped_records == 2
        assert piping.values(("in", "k", "b", 100)) == ["b+b"]  # dropped records did not move the time


@pytest.mark.parametrize("window", [(10, 10, 0), (0, 7, 3), (4, 0, 0), (5, 5, 100)])
@settings(max_examples=25, deadline=None)
@given(rows=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 60)), max_size=12))
def test_the_results_are_those_of_a_plain_join(window: tuple[int, int, int], rows: list[tuple[str, int]]) -> None:
    results = []
    for optimized in (True, False):
        with run(*window, optimized=optimized) as piping:
            per_record: list[list[Output]] = [
                sorted(piping.pipe("in", key, f"v{i}", timestamp)) for i, (key, timestamp) in enumerate(rows)
            ]
            results.append(per_record)
    # Records beyond retention meet themselves one millisecond less long than in the plain join.
    retention = sum(window)
    newest = -1
    for (key, timestamp), one, other in zip(rows, *results, strict=True):
        newest = max(newest, timestamp)
        if timestamp > newest - retention + 1:
            assert one == other, (key, timestamp)


def test_output_is_ordered_by_time_within_each_role() -> None:
    with run(100, 100) as piping:
        for value, timestamp in [("a", 10), ("c", 30), ("d", 40)]:
            piping.pipe("in", "k", value, timestamp)
        roles = [output for output in piping.pipe("in", "k", "b", 20) if output[1].startswith("b+")]
        assert all(one[2] <= other[2] for one, other in pairwise(roles[:-1]))


def test_a_host_can_keep_the_clock() -> None:
    with run(10, 10) as piping:
        piping.pipe("in", "k", "a", 200)
        clocks = piping.driver._task.operator_clocks()
        piping.driver.restart()
        piping.driver._task.set_operator_clocks(clocks)
        assert piping.values(("in", "other", "b", 100)) == []
