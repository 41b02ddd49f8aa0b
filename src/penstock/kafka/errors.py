"""Errors of talking to Kafka.

PenstockError
└── KafkaClientError            anything Kafka answered that has no class of its own
    ├── BrokerUnreachable       no bootstrap server answers
    ├── AuthenticationFailed    the broker answers, and refuses
    ├── TopicMissing
    ├── TopicExists
    ├── RecordTooLarge          one record is larger than the client may send
    ├── QueueFull               the client holds as many records as it may, and the broker takes none
    ├── RecordRefused           one record that the broker will never take
    ├── TopicMismatch           the topic is there, with another number of partitions
    ├── OffsetsGone             records were deleted before they were read
    ├── RangeStalled            a range stopped giving records
    ├── DeliveryFailed          records that did not reach the broker
    └── TransactionError        a transaction that was not committed
        ├── TransactionAborted  rolled back; the same work may be tried again
        └── ProducerFenced      a newer producer took over the transactional id
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from penstock.errors import PenstockError

_SHOWN_KEY_BYTES = 60


class KafkaClientError(PenstockError):
    """Kafka, or its client library, refused something."""


class BrokerUnreachable(KafkaClientError):
    """No bootstrap server answers."""

    def __init__(self, bootstrap_servers: str, *, cause: str = "", seconds: float | None = None) -> None:
        self.bootstrap_servers = bootstrap_servers
        within = f" within {seconds:g} seconds" if seconds is not None else ""
        super().__init__(
            f"No Kafka broker answers at {bootstrap_servers}{within}{f': {cause}' if cause else ''}",
            hint="Start a local one with `penstock broker start`, or point to another with --bootstrap-servers "
            "(or PENSTOCK_BOOTSTRAP_SERVERS).",
        )


class AuthenticationFailed(KafkaClientError):
    """The broker is there and does not let this client in."""

    def __init__(self, bootstrap_servers: str, *, cause: str) -> None:
        self.bootstrap_servers = bootstrap_servers
        super().__init__(
            f"The Kafka broker at {bootstrap_servers} refused the connection: {cause}",
            hint="Check security.protocol and the sasl.* and ssl.* settings.",
        )


class TopicMissing(KafkaClientError):
    """A topic, or a partition of it, does not exist."""

    def __init__(self, topic: str, *, known: Iterable[str] = (), partition: int | None = None) -> None:
        self.topic = topic
        self.partition = partition
        self.suggestion = nearest(topic, known)
        if partition is not None:
            what, hint = f"Topic '{topic}' has no partition {partition}", f"See `penstock topics describe {topic}`."
        elif self.suggestion is not None:
            what = f"Topic '{topic}' does not exist"
            hint = f"Did you mean '{self.suggestion}'? Or create it with `penstock topics create {topic}`."
        else:
            what = f"Topic '{topic}' does not exist"
            hint = f"`penstock topics list` shows what is there, `penstock topics create {topic}` makes it."
        super().__init__(what, hint=hint)


class TopicExists(KafkaClientError):
    """A topic of that name is there already."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        super().__init__(f"Topic '{topic}' exists already", hint=f"See `penstock topics describe {topic}`.")


class RecordTooLarge(KafkaClientError):
    """A record that is larger than the client may send."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        super().__init__(
            f"A record for {topic} is too large for the client",
            hint="Raise message.max.bytes in the producer's settings and max.message.bytes of the topic.",
        )


class QueueFull(KafkaClientError):
    """The client holds as many records as it may, and gets rid of none: no fault of the record that comes next."""

    def __init__(self, topic: str, *, seconds: float) -> None:
        super().__init__(
            f"The queue of records for {topic} has been full for {seconds:g} seconds",
            hint="The broker takes records too slowly, or not at all.",
        )


class RecordRefused(KafkaClientError):
    """A record that the broker does not take, however often it is sent."""

    def __init__(self, topic: str, key: bytes | None, reason: str, *, hint: str = "") -> None:
        self.topic = topic
        self.key = key
        self.reason = reason
        shown = "without a key" if key is None else f"with the key {_shortened(key)!r}"
        super().__init__(f"Kafka does not take a record for {topic} {shown}: {reason}", hint=hint)


def _shortened(key: bytes) -> bytes:
    return key if len(key) <= _SHOWN_KEY_BYTES else key[:_SHOWN_KEY_BYTES] + b"..."


class TopicMismatch(KafkaClientError):
    """A topic exists with another number of partitions than is needed."""

    def __init__(self, topic: str, *, expected: int, found: int) -> None:
        self.topic = topic
        self.expected = expected
        self.found = found
        super().__init__(
            f"Topic '{topic}' has {found} partitions, {expected} are needed",
            hint=f"Delete it with `penstock topics delete {topic}` if its records are not needed, "
            f"or create a topic of another name with {expected} partitions.",
        )


class OffsetsGone(KafkaClientError):
    """Records that were to be read are no longer (or not yet) in the partition."""

    def __init__(self, topic: str, partition: int, *, start: int, end: int, available: tuple[int, int] | None) -> None:
        self.topic = topic
        self.partition = partition
        self.start = start
        self.end = end
        self.available = available
        have = f"it now holds offsets {available[0]} to {available[1]}" if available else "its offsets are not known"
        super().__init__(
            f"Offsets {start} to {end} of {topic}-{partition} cannot be read: {have}",
            hint="Retention removed records before they were read, or the topic was deleted and made again. "
            "Raise the topic's retention.ms, or reset the application to start from what is there.",
        )


class RangeStalled(KafkaClientError):
    """The broker answers, but a range gives no more records."""

    def __init__(self, topic: str, partition: int, *, position: int, end: int, seconds: float, cause: str = "") -> None:
        self.topic = topic
        self.partition = partition
        self.position = position
        self.end = end
        super().__init__(
            f"No records came from {topic}-{partition} for {seconds:g} seconds, at offset {position} of {end}"
            f"{f': {cause}' if cause else ''}",
            hint=f"Check that the partition has a leader: `penstock topics describe {topic}`.",
        )


class RefusedRecord(NamedTuple):
    """A record that Kafka does not take, however often it is sent, or for the sake of another one of its batch.

    Attributes:
        topic: Where it was sent to.
        partition: The partition, as it was asked for or as the partitioner chose it.
        key: Its key.
        value: Its value.
        timestamp: Milliseconds.
        code: Kafka's code for the reason.
        reason: The reason.
    """

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    timestamp: int
    code: int
    reason: str

    @property
    def identity(self) -> tuple[str, bytes | None, bytes | None]:
        """What tells it from others that were sent: its topic, key and value."""
        return self.topic, self.key, self.value


class DeliveryFailed(KafkaClientError):
    """Records that the broker did not take."""

    def __init__(
        self, failures: Sequence[tuple[str, str]], *, count: int, refused: Sequence[RefusedRecord] = ()
    ) -> None:
        self.failures = tuple(failures)
        self.count = count
        self.refused = tuple(refused)
        shown = "; ".join(f"{topic}: {reason}" for topic, reason in self.failures[:3])
        super().__init__(
            f"{count} record{'s were' if count > 1 else ' was'} not delivered ({shown})",
            hint="All others arrived.",
        )


class TransactionError(KafkaClientError):
    """A transaction that was not committed."""

    def __init__(self, transactional_id: str, what: str, *, hint: str = "") -> None:
        self.transactional_id = transactional_id
        super().__init__(f"Transaction of '{transactional_id}' failed: {what}", hint=hint)


class TransactionAborted(TransactionError):
    """The transaction was rolled back; the same work may be tried again."""


class ProducerFenced(TransactionError):
    """A newer producer with the same transactional id took over."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like the asked one, if any is near.

    >>> nearest("oders", ["orders", "payments"])
    'orders'
    """
    close = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return close[0] if close else None
