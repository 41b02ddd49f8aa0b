"""A compacted topic that every worker reads from the beginning and follows: what the workers of a group share."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, KafkaError, KafkaException, Message, TopicPartition

from penstock.connect.errors import BadRequestError, ConnectError
from penstock.kafka.admin import Admin
from penstock.kafka.clients import open_consumer, open_producer, translate
from penstock.kafka.error_codes import PARTITION_EOF, TOO_LARGE

log = logging.getLogger("penstock.connect.worker")

OnRecord = Callable[[bytes, "bytes | None", int, int], None]
"""What is done with a record: key, value (None is a tombstone), offset, timestamp."""

# A configuration is one record, and a connector with a long list of tables has a long one: Kafka's limit is 1 MB.
LARGEST_RECORD = 10 << 20
_TIMEOUT_SECONDS = 30.0
_POLL_SECONDS = 0.2
# Few records come, and somebody waits for each of them.
_FOLLOWING: Mapping[str, object] = {
    "enable.partition.eof": True,
    "auto.offset.reset": "earliest",
    "fetch.wait.max.ms": 50,
    "isolation.level": "read_committed",
}


class CompactedLog:
    """Follows a topic on a thread of its own, and writes to it.

    Args:
        settings: Settings of Kafka clients.
        topic: The topic.
        partitions: How many it has.
        on_record: Called for each record, one at a time.
    """

    def __init__(self, settings: Mapping[str, str], topic: str, partitions: int, on_record: OnRecord) -> None:
        self.topic = topic
        self._settings = settings
        self._on_record = on_record
        # The offset behind the last record read, for each partition; -1 before the end was reached once.
        self._reached = dict.fromkeys(range(partitions), -1)
        self._news = threading.Condition()
        self._closed = threading.Event()
        fixed = {"delivery.report.only.error": False, "linger.ms": 0, "message.max.bytes": LARGEST_RECORD}
        self._producer = open_producer(settings, fixed=fixed)
        self._admin = Admin(settings)
        self._consumer = open_consumer({**settings, **_FOLLOWING})
        self._thread = threading.Thread(target=self._follow, name=f"log-{topic}", daemon=True)

    def start(self) -> None:
        """Reads what there is, then goes on in the background.

        Raises:
            ConnectError: The topic cannot be read to its end in time.
        """
        self._consumer.assign([TopicPartition(self.topic, one, OFFSET_BEGINNING) for one in self._reached])
        self._thread.start()
        self._wait_until(lambda: min(self._reached.values()) >= 0)

    def write(self, records: Iterable[tuple[str | bytes, bytes | None]], *, read_back: bool = True) -> None:
        """Writes records, in order, and waits until Kafka has them, and until they are read back.

        Raises:
            BadRequestError: One is too large.
            PenstockError: Kafka does not take them.
        """
        written: dict[int, int] = {}
        refused: list[KafkaError] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                refused.append(error)
            else:
                written[message.partition() or 0] = message.offset() or 0

        largest = 0
        for key, value in records:
            largest = max(largest, len(value or b""))
            try:
                self._producer.produce(self.topic, value, key, on_delivery=delivered)
            except KafkaException as error:
                refused.append(error.args[0])
                break
        if self._producer.flush(_TIMEOUT_SECONDS):
            raise ConnectError(f"The topic {self.topic} did not take a change in {_TIMEOUT_SECONDS:.0f} seconds")
        if refused and refused[0].code() == TOO_LARGE:
            raise BadRequestError(
                f"The topic {self.topic} does not take a record of {largest} bytes",
                hint=f"Make the configuration shorter, or raise max.message.bytes of the topic, to {LARGEST_RECORD} at most.",
            )
        if refused:
            raise translate(refused[0], self._settings, topic=self.topic)
        if read_back:
            self._wait_until(lambda: all(self._reached[one] > offset for one, offset in written.items()))

    def write_later(self, key: str | bytes, value: bytes | None) -> None:
        """Writes a record without waiting for it; what Kafka does not take is logged."""
        try:
            self._producer.produce(self.topic, value, key, on_delivery=self._log_failure)
        except (KafkaException, BufferError) as error:
            log.warning("The topic %s did not take a record: %s", self.topic, error)
        self._producer.poll(0)

    def catch_up(self) -> None:
        """Waits until everything is read that is in the topic now."""
        ends = self._admin.end_offsets([(self.topic, one) for one in self._reached], committed=True)
        self._wait_until(lambda: all(self._reached[one] >= end for (_, one), end in ends.items()))

    def close(self) -> None:
        """Writes what is left, and ends."""
        self._closed.set()
        self._producer.flush(_TIMEOUT_SECONDS)
        if self._thread.is_alive():
            self._thread.join()
        self._consumer.close()

    def _wait_until(self, is_read: Callable[[], bool]) -> None:
        with self._news:
            if not self._news.wait_for(is_read, _TIMEOUT_SECONDS):
                raise ConnectError(
                    f"The topic {self.topic} could not be read to its end in {_TIMEOUT_SECONDS:.0f} seconds",
                    hint="Look at the broker: a partition may have no leader.",
                )

    def _follow(self) -> None:
        while not self._closed.is_set():
            message = self._consumer.poll(_POLL_SECONDS)
            self._producer.poll(0)
            if message is not None:
                self._take(message)

    def _take(self, message: Any) -> None:
        error = message.error()
        if error is not None:
            if error.code() == PARTITION_EOF:
                self._advance(message.partition(), message.offset())
            else:
                log.warning("The topic %s cannot be read at the moment: %s", self.topic, error.str())
                time.sleep(_POLL_SECONDS)
            return
        try:
            self._on_record(message.key() or b"", message.value(), message.offset(), message.timestamp()[1])
        except Exception as failure:  # noqa: BLE001 - somebody else wrote it; it must not keep the worker from reading on
            log.warning("A record of topic %s at offset %s is left aside: %s", self.topic, message.offset(), failure)
        self._advance(message.partition(), message.offset() + 1, is_end=False)

    def _advance(self, partition: int, offset: int, *, is_end: bool = True) -> None:
        with self._news:
            # Until the end was seen once, the worker does not know enough to answer.
            if is_end or self._reached[partition] >= 0:
                self._reached[partition] = max(self._reached[partition], offset)
                self._news.notify_all()

    def _log_failure(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            log.warning("The topic %s did not take a record: %s", self.topic, error.str())
