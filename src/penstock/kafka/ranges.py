"""Reading exact offset ranges: one partition, or several merged by time.

A consumer is kept for many ranges; assigning it takes no round trip. Offsets in a range need not hold a record
(compaction, transaction markers and aborted records leave gaps), so a range has ended when a record at or behind its end
comes, or when the client says that it reached the end of the partition there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from confluent_kafka import Consumer, Message, TopicPartition

from penstock.kafka.range_cursor import Cursor, OffsetRange, assigned, poll, run_key, runs
from penstock.kafka.timestamp_merge import Lane, merge

__all__ = ["CHUNK_RECORDS", "OffsetRange", "merge_ranges", "read_range"]

# What is made of a chunk (messages, columns, decoded values) should stay in a core's own cache until it has been processed, also
# where neighbours use the shared one: a count and sum by key took 5.0 us a record in chunks of 5,000, and 4.2 us in chunks of 500.
CHUNK_RECORDS = 500
STALLED_SECONDS = 60.0
# A partition that runs ahead of the others in a merge is paused at this many records. Pausing throws away what the client
# has fetched, so the bound is there for memory, not for balance.
MERGE_BUFFER_RECORDS = 100_000


def read_range(
    consumer: Consumer,
    topic: str,
    partition: int,
    start: int,
    end: int,
    *,
    chunk_records: int = CHUNK_RECORDS,
    stalled_seconds: float = STALLED_SECONDS,
) -> Iterator[list[Message]]:
    """The records of a range in offset order, in lists of at most `chunk_records`.

    Args:
        consumer: From `open_range_consumer`; used by nobody else until the iterator ends or is closed.
        topic: The topic.
        partition: Its partition.
        start: First offset.
        end: Offset behind the last one.
        chunk_records: Longest list.
        stalled_seconds: Give up when nothing comes for so long.

    Raises:
        OffsetsGone: Records of the range were deleted.
        TopicMissing: The topic or partition does not exist.
        RangeStalled: Nothing came for `stalled_seconds`.
    """
    if start >= end:
        return
    cursor = Cursor(OffsetRange(topic, partition, start, end))
    with assigned(consumer, [cursor]):
        for messages in poll(consumer, [cursor], chunk_records=chunk_records, stalled_seconds=stalled_seconds):
            records = cursor.accept(consumer, messages)
            if cursor.done:
                # Before the caller works on the last records: an assigned consumer goes on fetching.
                consumer.unassign()
            if records:
                yield records


def merge_ranges(
    consumer: Consumer,
    ranges: Sequence[OffsetRange],
    *,
    chunk_records: int = CHUNK_RECORDS,
    stalled_seconds: float = STALLED_SECONDS,
) -> Iterator[list[Message]]:
    """The records of several ranges, merged by the timestamp at each partition's head.

    Each partition keeps its offset order. Where heads have the same timestamp, the partition that comes first by
    (topic, partition) goes first. Errors are those of `read_range`.
    """
    wanted = sorted((r for r in ranges if r.start < r.end), key=lambda r: (r.topic, r.partition))
    if len(wanted) == 1:
        r = wanted[0]
        limits = {"chunk_records": chunk_records, "stalled_seconds": stalled_seconds}
        yield from read_range(consumer, r.topic, r.partition, r.start, r.end, **limits)  # type: ignore[arg-type]
        return
    sources = [_Source(r) for r in wanted]
    by_partition = {(s.range.topic, s.range.partition): s for s in sources}
    key = run_key(wanted)
    with assigned(consumer, sources):
        for messages in poll(consumer, sources, chunk_records=chunk_records, stalled_seconds=stalled_seconds):
            for source, run in runs(messages, by_partition, key):
                source.add(consumer, run)
            merged = merge([source.lane for source in sources])
            for source in sources:
                source.hold_or_release(consumer)
            for i in range(0, len(merged), chunk_records):
                yield merged[i : i + chunk_records]


class _Source(Cursor):
    """One range of a merge: its cursor and its lane."""

    __slots__ = ("lane", "paused")

    def __init__(self, offset_range: OffsetRange) -> None:
        super().__init__(offset_range)
        self.lane: Lane[Message] = Lane()
        self.paused = False

    def add(self, consumer: Consumer, messages: list[Message]) -> None:
        records = self.accept(consumer, messages)
        self.lane.add(records, [timestamp for _, timestamp in map(Message.timestamp, records)])
        if self.done and not self.lane.ended:
            self.lane.ended = True
            consumer.incremental_unassign([TopicPartition(self.range.topic, self.range.partition)])

    def hold_or_release(self, consumer: Consumer) -> None:
        if self.done:
            return
        if not self.paused and len(self.lane) > MERGE_BUFFER_RECORDS:
            consumer.pause([TopicPartition(self.range.topic, self.range.partition)])
            self.paused = True
        elif self.paused and len(self.lane) <= MERGE_BUFFER_RECORDS // 2:
            consumer.resume([TopicPartition(self.range.topic, self.range.partition)])
            self.paused = False
