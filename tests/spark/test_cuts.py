from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import StreamsBuilder
from penstock.spark.cuts import Budget, TimeLine, cut, together
from penstock.spark.layout import lay_out
from tests.spark.fake_kafka import At, FakeKafka

SERDES: dict[str, Any] = {"key_serde": "string", "value_serde": "string"}


def groups(builder: StreamsBuilder, **partitions: int) -> list[set[At]]:
    topology = builder.build()
    layout = lay_out(topology, partitions)
    inputs = [(topic, p) for topic, n in partitions.items() for p in range(n)]
    return [set(group) for group in together(layout, topology.internal_topics, inputs)]


def test_joined_topics_are_cut_together_partition_by_partition() -> None:
    builder = StreamsBuilder()
    table = builder.table("prices", **SERDES)
    builder.stream("orders", **SERDES).join(table, lambda a, b: a, **SERDES).to("out")
    assert groups(builder, orders=2, prices=2) == [
        {("orders", 0), ("prices", 0)},
        {("orders", 1), ("prices", 1)},
    ]


def test_topics_that_never_meet_are_cut_on_their_own() -> None:
    builder = StreamsBuilder()
    builder.stream("a", **SERDES).to("out")
    builder.stream("b", **SERDES).to("out")
    assert groups(builder, a=2, b=1) == [{("a", 0)}, {("a", 1)}, {("b", 0)}]


def test_behind_a_shuffle_every_partition_meets_every_other() -> None:
    builder = StreamsBuilder()
    table = builder.table("prices", **SERDES)
    orders = builder.stream("orders", **SERDES).select_key(lambda v: v)
    orders.join(table, lambda a, b: a, name="j", **SERDES).to("out")
    builder.stream("other", **SERDES).to("out")
    assert groups(builder, orders=2, prices=2, other=2) == [
        {("orders", 0), ("orders", 1), ("prices", 0), ("prices", 1)},
        {("other", 0)},
        {("other", 1)},
    ]


def ends_of(
    kafka: FakeKafka, records: float, *, size: float = 1e18, begin: dict[At, int] | None = None
) -> dict[At, int]:
    first = begin or {at: log.start for at, log in kafka.logs.items()}
    available = {at: log.end - first[at] for at, log in kafka.logs.items()}
    budget = Budget(records, size, {at[0]: log.size for at, log in kafka.logs.items()})
    return cut([list(kafka.logs)], first, available, budget, TimeLine(kafka.time_at, kafka.offsets_for_time))


def test_everything_is_taken_if_it_fits_and_nothing_is_asked() -> None:
    kafka = FakeKafka()
    kafka.add("a", range(10))
    kafka.add("b", range(5))
    assert ends_of(kafka, 15) == {("a", 0): 10, ("b", 0): 5}
    assert kafka.asked == []


def times_before(kafka: FakeKafka, ends: dict[At, int]) -> tuple[int, int]:
    """The latest timestamp that was taken, and the earliest that was left."""
    taken = [t for at, log in kafka.logs.items() for t in log.times[: ends[at] - log.start]]
    left = [t for at, log in kafka.logs.items() for t in log.times[ends[at] - log.start :]]
    return max(taken), min(left)


def test_topics_of_different_density_end_at_the_same_time() -> None:
    kafka = FakeKafka()
    kafka.add("orders", range(0, 1_000_000, 10))
    kafka.add("prices", range(0, 1_000_000, 1000))
    ends = ends_of(kafka, 10_000)
    latest, earliest = times_before(kafka, ends)
    assert latest <= earliest
    assert 8_000 <= sum(ends.values()) <= 10_000
    assert kafka.asked.count("time") <= 13


def test_a_topic_that_begins_later_waits() -> None:
    kafka = FakeKafka()
    kafka.add("history", range(50_000))
    kafka.add("today", range(1_000_000, 1_050_000))
    ends = ends_of(kafka, 20_000)
    assert ends["today", 0] == 0
    assert 16_000 <= ends["history", 0] <= 20_000


def test_a_short_old_topic_does_not_hold_up_the_batch() -> None:
    kafka = FakeKafka()
    kafka.add("table", range(1000))
    kafka.add("stream", range(1_000_000, 1_100_000))
    ends = ends_of(kafka, 10_000)
    assert ends["table", 0] == 1000
    assert 7_000 <= ends["stream", 0] <= 9_000


@pytest.mark.parametrize("gap", [1, 2, 500])
def test_offsets_without_a_record_at_the_end_do_not_hide_what_is_before_them(gap: int) -> None:
    kafka = FakeKafka()
    for partition in range(4):
        kafka.add("lines", range(partition, 4_000_000, 400), partition=partition, gap=gap)
    ends = ends_of(kafka, 15_000)
    assert sum(ends.values()) >= 10_000, "a partition's share is as long as the partition, whose last offset is a mark"
    assert max(ends.values()) - min(ends.values()) <= 1


def test_a_burst_within_one_millisecond_is_cut_in_proportion() -> None:
    kafka = FakeKafka()
    kafka.add("a", [5] * 3000)
    kafka.add("b", [5] * 1000)
    ends = ends_of(kafka, 400)
    assert ends == {("a", 0): 300, ("b", 0): 100}


def test_large_records_count_by_their_bytes() -> None:
    kafka = FakeKafka()
    kafka.add("small", range(1000), size=100)
    kafka.add("large", range(1000), size=100_000)
    ends = ends_of(kafka, 1e9, size=10_000_000)
    assert 80 <= ends["large", 0] <= 100
    assert ends["small", 0] == pytest.approx(ends["large", 0], abs=2)


def test_a_record_larger_than_the_limit_is_taken_alone() -> None:
    kafka = FakeKafka()
    kafka.add("a", range(10), size=5_000)
    assert ends_of(kafka, 1000, size=100) == {("a", 0): 1}
    kafka.add("b", range(10), size=5_000)
    assert sum(ends_of(kafka, 1000, size=100).values()) == 1


def test_a_record_from_the_future_waits_for_its_time_and_is_not_stuck() -> None:
    kafka = FakeKafka()
    kafka.add("a", [10_000, 1, 2, 3])
    kafka.add("b", range(1000))
    begin = {("a", 0): 0, ("b", 0): 0}
    for _ in range(20):
        begin = ends_of(kafka, 100, begin=begin)
    assert begin == {("a", 0): 4, ("b", 0): 1000}


@given(
    st.lists(st.lists(st.integers(0, 50), min_size=0, max_size=40), min_size=1, max_size=4),
    st.integers(1, 20),
)
def test_batches_always_move_and_reach_the_end(partitions: list[list[int]], records: int) -> None:
    kafka = FakeKafka()
    for i, times in enumerate(partitions):
        kafka.add(f"t{i}", times)
    position: dict[Any, int] = dict.fromkeys(kafka.logs, 0)
    total = sum(map(len, partitions))
    for _ in range(total):
        before = dict(position)
        if sum(position.values()) == total:
            break
        position = ends_of(kafka, records, begin=position)
        assert all(position[at] >= before[at] for at in position)
        assert sum(position.values()) - sum(before.values()) > 0
    assert sum(position.values()) == total


@given(st.lists(st.lists(st.integers(0, 10_000), min_size=5, max_size=60).map(sorted), min_size=2, max_size=4))
def test_partitions_in_time_order_are_processed_in_time_order(partitions: list[list[int]]) -> None:
    """Only within the short span of time to which the search came down may a record be left that is before a taken one."""
    kafka = FakeKafka()
    for i, times in enumerate(partitions):
        kafka.add(f"t{i}", times)
    ends = ends_of(kafka, 10)
    if sum(ends.values()) < sum(map(len, partitions)):
        latest, earliest = times_before(kafka, ends)
        assert latest - earliest <= 10_000 / 2**5
