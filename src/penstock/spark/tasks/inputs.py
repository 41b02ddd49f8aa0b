"""The records of a pass: ranges of Kafka partitions and what upstream tasks sent, merged by head timestamp."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Message

from penstock.interpreter.source import SourcePartition
from penstock.interpreter.task import Task
from penstock.kafka.ranges import CHUNK_RECORDS, OffsetRange, read_range
from penstock.kafka.timestamp_merge import Lane, merge
from penstock.spark.rows import Unpacked, unpack_headers


@dataclass(frozen=True, slots=True)
class Inbound:
    """Records that an upstream task sent to this one through a repartition topic."""

    topic: str
    source: str
    records: Unpacked


def feed(
    task: Task,
    consumer: Any,
    ranges: Sequence[OffsetRange],
    inbound: Sequence[Inbound],
    partition: int,
    between: Callable[[], None],
) -> int:
    """Process everything, in the order of a Kafka Streams task; the number of records read.

    Args:
        task: Takes the records.
        consumer: Reads the ranges.
        ranges: Parts of Kafka's partitions.
        inbound: What upstream tasks sent.
        partition: The task's.
        between: Called after every chunk.
    """
    wanted = sorted((r for r in ranges if r.start < r.end), key=lambda r: (r.topic, r.partition))
    sent = sorted((i for i in inbound if i.records[0]), key=lambda i: (i.topic, i.source))
    if len(wanted) == 1 and not sent:
        return _feed_range(task, consumer, wanted[0], between)
    if len(sent) == 1 and not wanted:
        return _feed_records(task.source(sent[0].topic, partition), sent[0].records, between)
    return _feed_merged(task, consumer, wanted, sent, partition, between)


def _feed_range(task: Task, consumer: Any, wanted: OffsetRange, between: Callable[[], None]) -> int:
    source = task.source(wanted.topic, wanted.partition)
    count = 0
    accept: Callable[..., None] = source.accept_columns
    for messages in read_range(consumer, wanted.topic, wanted.partition, wanted.start, wanted.end):
        count += len(messages)
        headers = list(map(Message.headers, messages))
        accept(
            list(map(Message.offset, messages)),
            [timestamp for _, timestamp in map(Message.timestamp, messages)],
            list(map(Message.key, messages)),
            list(map(Message.value, messages)),
            headers if any(headers) else None,
        )
        between()
    return count


def _feed_records(source: SourcePartition, records: Unpacked, between: Callable[[], None]) -> int:
    timestamps, keys, values, headers = records
    for start in range(0, len(timestamps), CHUNK_RECORDS):
        part = slice(start, start + CHUNK_RECORDS)
        offsets = range(start, min(start + CHUNK_RECORDS, len(timestamps)))
        unpacked = None if headers is None else [unpack_headers(packed) for packed in headers[part]]
        source.accept_columns(offsets, timestamps[part], keys[part], values[part], unpacked)
        between()
    return len(timestamps)


def _feed_merged(
    task: Task,
    consumer: Any,
    wanted: Sequence[OffsetRange],
    sent: Sequence[Inbound],
    partition: int,
    between: Callable[[], None],
) -> int:
    """Several inputs: each is deserialised first, because a timestamp extractor may look at the value."""
    lanes: list[tuple[str, int, Lane[Any]]] = []
    for r in wanted:
        source = task.source(r.topic, r.partition)
        lanes.append((r.topic, r.partition, _lane(source, _range_arguments(consumer, r))))
    for i in sent:
        source = task.source(i.topic, partition)
        timestamps, keys, values, headers = i.records
        columns = None if headers else source.prepare_columns(range(len(timestamps)), timestamps, keys, values)
        lane = (
            _lane(source, _record_arguments(i.records)) if columns is None else _prepared(source, columns, timestamps)
        )
        lanes.append((i.topic, partition, lane))
    lanes.sort(key=lambda lane: lane[:2])
    merged = merge([lane for _, _, lane in lanes])
    for start in range(0, len(merged), CHUNK_RECORDS):
        for process, record in merged[start : start + CHUNK_RECORDS]:
            process(record)
        between()
    return len(merged)


def _lane(source: SourcePartition, arguments: Iterator[tuple[Any, ...]]) -> Lane[Any]:
    prepare = source.prepare
    prepared = [p for a in arguments if (p := prepare(*a)) is not None]
    return _prepared(source, prepared, [p.timestamp for p in prepared])


def _prepared(source: SourcePartition, records: Sequence[Any], timestamps: list[int]) -> Lane[Any]:
    lane: Lane[Any] = Lane()
    lane.add([(source.process, record) for record in records], timestamps)
    lane.ended = True
    return lane


def _range_arguments(consumer: Any, r: OffsetRange) -> Iterator[tuple[Any, ...]]:
    for messages in read_range(consumer, r.topic, r.partition, r.start, r.end):
        for m in messages:
            yield m.offset(), m.timestamp()[1], m.key(), m.value(), m.headers()


def _record_arguments(records: Unpacked) -> Iterator[tuple[Any, ...]]:
    timestamps, keys, values, headers = records
    for offset, (timestamp, key, value) in enumerate(zip(timestamps, keys, values, strict=True)):
        yield offset, timestamp, key, value, unpack_headers(headers[offset]) if headers else None
