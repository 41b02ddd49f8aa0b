from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.kafka import ranges
from penstock.kafka.admin import Admin
from penstock.kafka.clients import open_producer, open_range_consumer
from penstock.kafka.errors import OffsetsGone, RangeStalled, TopicMissing
from penstock.kafka.ranges import OffsetRange, merge_ranges, read_range
from tests.kafka.conftest import Send, Settings, values

pytestmark = pytest.mark.broker
TopicFactory = Callable[..., str]


def numbered(count: int, prefix: str = "v") -> list[tuple[int, str]]:
    return [(1_000 + i, f"{prefix}{i}") for i in range(count)]


@pytest.fixture
def transactional(settings: Settings, topic: TopicFactory) -> tuple[Producer, str]:
    name = topic()
    producer = open_producer(settings, fixed={"transactional.id": name})
    producer.init_transactions(60)
    return producer, name


def write(producer: Producer, topic: str, texts: list[str], *, commit: bool) -> None:
    producer.begin_transaction()
    for text in texts:
        producer.produce(topic, text.encode())
    producer.flush(30)
    if commit:
        producer.commit_transaction(30)
    else:
        producer.abort_transaction(30)


def test_exactly_the_offsets_of_the_range_come_in_chunks(
    committed_reader: Consumer, topic: TopicFactory, send: Send
) -> None:
    name = topic()
    send(name, numbered(100))
    chunks = list(read_range(committed_reader, name, 0, 10, 90, chunk_records=32))
    assert values(chunks) == [f"v{i}" for i in range(10, 90)]
    assert max(map(len, chunks)) <= 32
    assert values(read_range(committed_reader, name, 0, 99, 100)) == ["v99"]
    assert list(read_range(committed_reader, name, 0, 50, 50)) == []


def test_a_range_left_half_way_does_not_disturb_the_next(
    committed_reader: Consumer, topic: TopicFactory, send: Send
) -> None:
    name = topic(partitions=2)
    send(name, numbered(100, "a"), partition=0)
    send(name, numbered(3, "b"), partition=1)
    first = next(iter(read_range(committed_reader, name, 0, 0, 100, chunk_records=10)))
    assert values([first])[0] == "a0"
    assert values(read_range(committed_reader, name, 1, 0, 3)) == ["b0", "b1", "b2"]
    assert committed_reader.assignment() == []


def test_transaction_markers_and_aborted_records_are_gaps(
    committed_reader: Consumer, transactional: tuple[Producer, str]
) -> None:
    producer, name = transactional
    write(producer, name, ["a", "b"], commit=True)
    write(producer, name, ["never", "seen"], commit=False)
    write(producer, name, ["c"], commit=True)
    # Offsets: a b marker, never seen marker, c marker.
    # A commit is answered before its marker stands in the partition: until then a reader's end lags.
    until = time.monotonic() + 30
    while (end := committed_reader.get_watermark_offsets(TopicPartition(name, 0), timeout=10)) != (0, 8):
        assert time.monotonic() < until, end
    assert values(read_range(committed_reader, name, 0, 0, 8)) == ["a", "b", "c"]
    assert values(read_range(committed_reader, name, 0, 1, 6)) == ["b"]
    assert values(read_range(committed_reader, name, 0, 2, 6)) == []
    assert values(read_range(committed_reader, name, 0, 7, 8)) == []


def test_an_open_transaction_behind_the_range_does_not_hold_it(
    committed_reader: Consumer, transactional: tuple[Producer, str]
) -> None:
    producer, name = transactional
    write(producer, name, ["a"], commit=True)
    producer.begin_transaction()
    producer.produce(name, b"undecided")
    producer.flush(30)
    assert values(read_range(committed_reader, name, 0, 0, 2)) == ["a"]
    producer.abort_transaction(30)


def test_uncommitted_records_come_when_asked_for(settings: Settings, transactional: tuple[Producer, str]) -> None:
    producer, name = transactional
    write(producer, name, ["rolled", "back"], commit=False)
    consumer = open_range_consumer({**settings, "isolation.level": "read_uncommitted"})
    assert values(read_range(consumer, name, 0, 0, 3)) == ["rolled", "back"]
    consumer.close()


def test_deleted_offsets_are_an_error_that_says_what_is_there(
    committed_reader: Consumer, topic: TopicFactory, send: Send, admin: Admin
) -> None:
    name = topic()
    send(name, numbered(10))
    admin.delete_records({(name, 0): 6})
    with pytest.raises(OffsetsGone) as caught:
        list(read_range(committed_reader, name, 0, 2, 10))
    assert caught.value.available == (6, 10)
    assert f"Offsets 2 to 10 of {name}-0 cannot be read: it now holds offsets 6 to 10" in str(caught.value)
    assert values(read_range(committed_reader, name, 0, 6, 10)) == ["v6", "v7", "v8", "v9"]


def test_offsets_that_are_not_there_yet_are_an_error(
    committed_reader: Consumer, topic: TopicFactory, send: Send
) -> None:
    name = topic()
    send(name, numbered(3))
    with pytest.raises(OffsetsGone):
        list(read_range(committed_reader, name, 0, 7, 9))
    with pytest.raises(RangeStalled, match=rf"No records came from {name}-0 for 1 seconds, at offset 3 of 9"):
        list(read_range(committed_reader, name, 0, 0, 9, stalled_seconds=1))


def test_a_missing_topic_or_partition_is_found_out_at_once(committed_reader: Consumer, topic: TopicFactory) -> None:
    name = topic()
    with pytest.raises(TopicMissing, match=f"'{name}x' does not exist. Did you mean '{name}'"):
        list(read_range(committed_reader, f"{name}x", 0, 0, 5))
    with pytest.raises(TopicMissing, match="has no partition 3"):
        list(read_range(committed_reader, name, 3, 0, 5))


def test_partitions_merge_by_the_timestamp_of_their_heads(
    committed_reader: Consumer, topic: TopicFactory, send: Send
) -> None:
    name = topic(partitions=3)
    send(name, [(10, "a10"), (5, "a5"), (30, "a30")], partition=0)
    send(name, [(10, "b10"), (20, "b20"), (20, "b20'")], partition=1)
    send(name, [(1, "c1"), (30, "c30")], partition=2)
    wanted = [OffsetRange(name, 2, 0, 2), OffsetRange(name, 1, 0, 3), OffsetRange(name, 0, 0, 3)]
    expected = ["c1", "a10", "a5", "b10", "b20", "b20'", "a30", "c30"]
    assert values(merge_ranges(committed_reader, wanted)) == expected
    assert values(merge_ranges(committed_reader, wanted, chunk_records=2)) == expected
    assert values(merge_ranges(committed_reader, [OffsetRange(name, 1, 1, 3), OffsetRange(name, 0, 3, 3)])) == [
        "b20",
        "b20'",
    ]
    assert list(merge_ranges(committed_reader, [])) == []


def test_topics_merge_in_the_order_of_their_names_where_times_are_equal(
    committed_reader: Consumer, topic: TopicFactory, send: Send
) -> None:
    left, right = topic("left", partitions=2), topic("right", partitions=2)
    for name in (right, left):
        for partition in (1, 0):
            send(name, [(7, f"{'left' if name == left else 'right'}-{partition}")], partition=partition)
    wanted = [OffsetRange(name, partition, 0, 1) for name in (right, left) for partition in (1, 0)]
    assert values(merge_ranges(committed_reader, wanted)) == ["left-0", "left-1", "right-0", "right-1"]
    assert values(merge_ranges(committed_reader, wanted[1::2])) == ["left-0", "right-0"]


def test_a_partition_that_runs_ahead_is_paused_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, committed_reader: Consumer, topic: TopicFactory, send: Send
) -> None:
    monkeypatch.setattr(ranges, "MERGE_BUFFER_RECORDS", 50)
    name = topic(partitions=2)
    send(name, [(i, f"a{i}") for i in range(2_000)], partition=0)
    send(name, [(i, f"b{i}") for i in range(0, 4_000, 2)], partition=1)
    wanted = [OffsetRange(name, 0, 0, 2_000), OffsetRange(name, 1, 0, 2_000)]
    merged = [
        (message.timestamp()[1], message.partition(), message.offset())
        for chunk in merge_ranges(committed_reader, wanted, chunk_records=64)
        for message in chunk
    ]
    assert len(merged) == 4_000
    assert merged == sorted(merged)
    # A pause must not outlive the merge.
    assert values(read_range(committed_reader, name, 1, 0, 2)) == ["b0", "b2"]


def test_errors_of_one_partition_end_the_merge(
    committed_reader: Consumer, topic: TopicFactory, send: Send, admin: Admin
) -> None:
    name = topic(partitions=2)
    send(name, numbered(5), partition=0)
    send(name, numbered(5), partition=1)
    admin.delete_records({(name, 1): 3})
    with pytest.raises(OffsetsGone, match=f"{name}-1"):
        list(merge_ranges(committed_reader, [OffsetRange(name, 0, 0, 5), OffsetRange(name, 1, 0, 5)]))
    assert committed_reader.assignment() == []
