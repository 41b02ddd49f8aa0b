"""How far a range has been read, and what a client's events mean for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import filterfalse, groupby
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from penstock.errors import PenstockError
from penstock.kafka.clients import plain_reason
from penstock.kafka.error_codes import OFFSET_RESET, PARTITION_EOF, UNKNOWN_PARTITION, UNKNOWN_TOPIC
from penstock.kafka.errors import KafkaClientError, OffsetsGone, RangeStalled, TopicMissing

_POLL_SECONDS = 0.5
C = TypeVar("C", bound="Cursor")


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """Records of one partition with offsets from `start` up to, not including, `end`."""

    topic: str
    partition: int
    start: int
    end: int


class Cursor:
    """One range, and the next offset to come."""

    __slots__ = ("done", "position", "range")

    def __init__(self, offset_range: OffsetRange) -> None:
        self.range = offset_range
        self.position = offset_range.start
        self.done = False

    def accept(self, consumer: Consumer, messages: list[Message]) -> list[Message]:
        """The records among messages of this partition that belong to the range.

        Raises:
            OffsetsGone: The client found the offsets missing.
            TopicMissing: The topic is gone.
        """
        if self.done:
            return []
        # Runs in C for every record: an event (end of partition, error) is a message that has an error.
        records = list(filterfalse(Message.error, messages))
        if len(records) != len(messages):
            for message in messages:
                error = message.error()
                if error is not None:
                    self._event(consumer, error, message.offset())
        if records:
            end = self.range.end
            last = records[-1].offset() or 0
            self.position = max(self.position, last + 1)
            if last >= end:
                records = [record for record in records if (record.offset() or 0) < end]
            if self.position >= end:
                self.done = True
        return records

    def _event(self, consumer: Consumer, error: KafkaError, offset: int | None) -> None:
        code = error.code()
        if code == PARTITION_EOF:
            # Short of the range's end it means nothing: a replica that lags, to be asked again.
            if offset is not None and offset >= self.range.end:
                self.position = offset
                self.done = True
        elif code == OFFSET_RESET:
            raise self._offsets_gone(consumer)
        elif code in UNKNOWN_TOPIC:
            raise TopicMissing(self.range.topic)
        elif code == UNKNOWN_PARTITION:
            raise TopicMissing(self.range.topic, partition=self.range.partition)
        else:
            raise KafkaClientError(
                f"{self.range.topic}-{self.range.partition} cannot be read at offset {self.position}: {plain_reason(error)}",
                hint="Check that the partition has a leader (`penstock topics describe "
                f"{self.range.topic}`) and that this client may read the topic.",
            )

    def _offsets_gone(self, consumer: Consumer) -> PenstockError:
        r = self.range
        try:
            available = consumer.get_watermark_offsets(TopicPartition(r.topic, r.partition), timeout=5)
        except KafkaException:
            available = None
        return OffsetsGone(r.topic, r.partition, start=self.position, end=r.end, available=available)


@contextmanager
def assigned(consumer: Consumer, cursors: Sequence[Cursor]) -> Iterator[None]:
    """The consumer fetches these ranges inside the block, and nothing after it."""
    consumer.assign([TopicPartition(c.range.topic, c.range.partition, c.range.start) for c in cursors])
    try:
        yield
    finally:
        consumer.unassign()


def poll(
    consumer: Consumer, cursors: Sequence[Cursor], *, chunk_records: int, stalled_seconds: float
) -> Iterator[list[Message]]:
    """What the consumer gives, until all ranges are read.

    Raises:
        RangeStalled: Nothing came for `stalled_seconds`.
        TopicMissing: A topic or partition does not exist.
    """
    since = time.monotonic()
    checked = False
    while not all(cursor.done for cursor in cursors):
        # consume(n) waits until it has all n, and in a range with gaps they never come: wait for one, take what is there.
        messages = consumer.consume(1, _POLL_SECONDS)
        if messages:
            messages += consumer.consume(chunk_records - 1, 0)
            yield messages
            since = time.monotonic()
            continue
        waiting = next(cursor for cursor in cursors if not cursor.done)
        # The client retries an unknown topic for half a minute before it says so.
        cause = "" if checked else _unreadable(consumer, waiting.range)
        checked = True
        if time.monotonic() - since > stalled_seconds:
            r = waiting.range
            cause = cause or _unreadable(consumer, r)
            raise RangeStalled(
                r.topic, r.partition, position=waiting.position, end=r.end, seconds=stalled_seconds, cause=cause
            )


def run_key(ranges: Sequence[OffsetRange]) -> Callable[[Message], Any]:
    """The cheapest thing that tells neighbouring messages of different ranges apart."""
    topics = {r.topic for r in ranges}
    if len(topics) == len(ranges):
        return Message.topic
    if len(topics) == 1:
        return Message.partition
    return lambda message: (message.topic(), message.partition())


def runs(
    messages: Sequence[Message], cursors: Mapping[tuple[str, int], C], key: Callable[[Message], Any]
) -> Iterator[tuple[C, list[Message]]]:
    """Neighbouring messages of one range, with its cursor.

    Args:
        messages: What the consumer gave.
        cursors: Those of all ranges, by topic and partition.
        key: From `run_key`.

    Raises:
        KafkaClientError: The client tells of an error that belongs to none of the ranges.
    """
    for _, run in groupby(messages, key):
        part = list(run)
        cursor = cursors.get((part[0].topic() or "", part[0].partition() or 0))
        if cursor is None:
            error = part[0].error()
            raise KafkaClientError(
                f"Records cannot be read: {plain_reason(error) if error else part[0].topic()}",
                hint="Check that the brokers answer (`penstock topics list`) and that this client may read the topics.",
            )
        yield cursor, part


def _unreadable(consumer: Consumer, r: OffsetRange) -> str:
    """Why the broker's metadata cannot be had; raises if it says that the partition does not exist."""
    try:
        known = consumer.list_topics(timeout=5).topics
    except KafkaException as error:
        return plain_reason(error.args[0])
    if r.topic not in known:
        raise TopicMissing(r.topic, known=known)
    if r.partition not in known[r.topic].partitions:
        raise TopicMissing(r.topic, partition=r.partition)
    return ""
