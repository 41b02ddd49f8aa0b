"""Producing records without losing the errors: queueing one record, and a producer whose flush tells what failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from penstock.errors import PenstockError
from penstock.kafka.clients import open_producer, plain_reason, translate
from penstock.kafka.error_codes import BESIDE_REFUSED, RECORD_REFUSED, TOO_LARGE, UNKNOWN_PARTITION
from penstock.kafka.errors import DeliveryFailed, QueueFull, RecordTooLarge, RefusedRecord, TopicMissing
from penstock.kafka.settings import Settings

RecordHeaders = Sequence[tuple[str, "bytes | None"]]

FLUSH_SECONDS = 120.0
_QUEUE_FULL_SECONDS = 120.0
_KEPT_FAILURES = 10


class DeliveryFailures:
    """The records a client could not deliver: how many, why for the first few, and those Kafka will never take, with
    those that were refused for their sake.
    """

    def __init__(self) -> None:
        self.count = 0
        self.first: list[tuple[str, str]] = []
        self.refused: list[RefusedRecord] = []

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            return
        self.count += 1
        if len(self.first) < _KEPT_FAILURES:
            self.first.append((f"{message.topic()}-{message.partition()}", plain_reason(error)))
        if error.code() in RECORD_REFUSED or error.code() == BESIDE_REFUSED:
            self.refused.append(_refused(error, message))

    def clear(self) -> None:
        self.count = 0
        self.first = []
        self.refused = []


def _refused(error: KafkaError, message: Message) -> RefusedRecord:
    topic, partition = message.topic() or "", message.partition()
    at = -1 if partition is None else partition
    key: Any = message.key()
    value: Any = message.value()
    return RefusedRecord(topic, at, key, value, message.timestamp()[1], error.code(), plain_reason(error))


class RecordProducer:
    """A producer whose `flush` raises if any record since the last flush did not arrive."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._failures = DeliveryFailures()
        self._producer = open_producer(settings, fixed={"on_delivery": self._failures})

    def produce(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = None,
        *,
        partition: int = -1,
        timestamp: int | None = None,
        headers: RecordHeaders | None = None,
    ) -> None:
        """Queue a record, as `queue_record` does."""
        try:
            queue_record(self._producer, topic, value, key, partition, timestamp, headers)
        except KafkaException as error:
            raise record_error(error.args[0], self._settings, topic, partition) from None

    def raw_produce(self) -> Callable[..., None]:
        """The client's own produce, for records by the million; its errors are the client's, too."""
        return self._producer.produce

    def flush(self, seconds: float = FLUSH_SECONDS) -> None:
        """Wait until every record has arrived.

        Raises:
            DeliveryFailed: Some did not.
        """
        try:
            left = self._producer.flush(seconds)
        except KafkaException as error:
            # Fatal: the client gives up on everything it holds.
            raise DeliveryFailed([("all", plain_reason(error.args[0]))], count=len(self._producer)) from None
        failures = list(self._failures.first)
        refused = list(self._failures.refused)
        count = self._failures.count + left
        if left:
            failures.append(("queue", f"{left} still waiting after {seconds:g} seconds"))
            self._producer.purge()
            self._producer.flush(1)
        self._failures.clear()
        if count:
            raise DeliveryFailed(failures, count=count, refused=refused)


def queue_record(
    producer: Producer,
    topic: str,
    value: bytes | None,
    key: bytes | None,
    partition: int,
    timestamp: int | None,
    headers: RecordHeaders | None,
) -> None:
    """Queue one record, waiting while the queue is full.

    Args:
        producer: The client.
        topic: Where to.
        value: None writes a tombstone.
        key: None lets the client spread records.
        partition: -1 asks Kafka's partitioner.
        timestamp: Milliseconds; None is now. The client library takes 0 for now too, so 0 is written as 1.
        headers: In order; names may repeat.

    Raises:
        KafkaException: The client refused the record; see `record_error`.
        QueueFull: And it stays full.
    """
    # Positional arguments: with keywords a record takes 1.6 us instead of 1.0. The two None are its callbacks.
    written = 0 if timestamp is None else timestamp or 1
    pairs: list[tuple[str, str | bytes | None]] | None = list(headers) if headers else None
    try:
        producer.produce(topic, value, key, partition, None, None, written, pairs)
        return
    except BufferError:
        pass
    deadline = time.monotonic() + _QUEUE_FULL_SECONDS
    while time.monotonic() < deadline:
        producer.poll(0.1)
        try:
            producer.produce(topic, value, key, partition, None, None, written, pairs)
            return
        except BufferError:
            continue
    raise QueueFull(topic, seconds=_QUEUE_FULL_SECONDS)


def record_error(error: KafkaError, settings: Settings, topic: str, partition: int) -> PenstockError:
    """The penstock error for a record the client refused."""
    code = error.code()
    if code == UNKNOWN_PARTITION:
        return TopicMissing(topic, partition=partition)
    if code == TOO_LARGE:
        return RecordTooLarge(topic)
    return translate(error, settings, topic=topic)
