"""A look at single records, for the planner: when they were written and how large they are."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from confluent_kafka import Message, TopicPartition

from penstock.kafka.clients import open_range_consumer
from penstock.spark.offsets import PartitionId, Positions

_SECONDS = 5.0
_SIZE_RECORDS = 200
_SIZES_VALID_SECONDS = 30.0
_OVERHEAD_BYTES = 30  # of a record in a task's memory and in Kafka's log, beside key, value and headers


class Samples:
    """Reads a few records here and there.

    Args:
        settings: Of the consumer.
        group_id: Its group; nothing is committed.
    """

    def __init__(self, settings: Mapping[str, Any], *, group_id: str) -> None:
        self._settings = settings
        self._group_id = group_id
        self._consumer: Any = None
        self._sizes: dict[str, tuple[float, float]] = {}

    def time_at(self, positions: Positions) -> dict[PartitionId, int]:
        """The timestamp of the first record at or behind each position; partitions that have none are left out."""
        return {at: messages[0].timestamp()[1] for at, messages in self._read(positions, 1).items() if messages}

    def sizes(self, positions: Positions) -> dict[str, float]:
        """Bytes of a record by topic, from the records at one of its positions; looked at again from time to time."""
        now = time.monotonic()
        unknown: dict[str, PartitionId] = {}
        for topic, partition in positions:
            if now - self._sizes.get(topic, (0.0, -_SIZES_VALID_SECONDS))[1] >= _SIZES_VALID_SECONDS:
                unknown.setdefault(topic, (topic, partition))
        if unknown:
            for at, messages in self._read({at: positions[at] for at in unknown.values()}, _SIZE_RECORDS).items():
                if messages:
                    self._sizes[at[0]] = (sum(map(_size, messages)) / len(messages), now)
        return {topic: size for topic, (size, _) in self._sizes.items()}

    def _read(self, positions: Positions, count: int) -> dict[PartitionId, list[Message]]:
        """Up to `count` records from each position on. What cannot be read in time is not there: it is a sample."""
        found: dict[PartitionId, list[Message]] = {at: [] for at in positions}
        open_at = set(positions)
        consumer = self._open()
        consumer.assign([TopicPartition(topic, partition, at) for (topic, partition), at in positions.items()])
        try:
            for message in self._messages(consumer):
                at = (message.topic() or "", message.partition() or 0)
                if message.error() is not None:
                    open_at.discard(at)  # its end, or something that whoever reads the batch will say
                elif at in open_at:
                    found[at].append(message)
                    if len(found[at]) >= count:
                        open_at.discard(at)
                if not open_at:
                    break
        finally:
            consumer.unassign()
        return found

    @staticmethod
    def _messages(consumer: Any) -> Iterator[Any]:
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            messages = consumer.consume(1, 0.2)
            yield from messages
            if messages:
                yield from consumer.consume(1000, 0)

    def _open(self) -> Any:
        if self._consumer is None:
            # Little is wanted of each partition: do not let the client read ahead by megabytes.
            few = {"queued.min.messages": 1, "fetch.message.max.bytes": 1 << 16, "fetch.wait.max.ms": 10}
            self._consumer = open_range_consumer({**self._settings, **few}, group_id=self._group_id)
        return self._consumer


def _size(message: Message) -> int:
    pairs: Any = message.headers() or ()
    headers = sum(len(name) + len(value or b"") for name, value in pairs)
    return len(message.key() or b"") + len(message.value() or b"") + headers + _OVERHEAD_BYTES
