"""What Kafka still has of the ranges of a batch, for applications that go on after a loss of data."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from confluent_kafka import KafkaException, TopicPartition

from penstock.kafka.clients import translate
from penstock.kafka.ranges import OffsetRange

log = logging.getLogger("penstock.input")


def offsets_of(ranges: Sequence[OffsetRange]) -> int:
    """How many offsets there are in ranges."""
    return sum(max(0, r.end - r.start) for r in ranges)


def surviving(consumer: Any, ranges: Sequence[OffsetRange]) -> list[OffsetRange]:
    """The ranges without what retention removed since they were planned; a batch done again would fail for ever on it."""
    found = []
    for r in ranges:
        if r.start >= r.end:
            continue
        try:
            first, end = consumer.get_watermark_offsets(TopicPartition(r.topic, r.partition), timeout=30)
        except KafkaException as error:
            raise translate(error, {}, topic=r.topic) from None
        kept = OffsetRange(r.topic, r.partition, min(max(r.start, first), r.end), min(r.end, max(end, r.start)))
        if kept != r:
            log.warning(
                "%s-%d holds offsets %d to %d: of %d to %d, %d offsets are lost",
                r.topic, r.partition, first, end, r.start, r.end, offsets_of([r]) - offsets_of([kept]),
            )  # fmt: skip
        found.append(kept)
    return found
