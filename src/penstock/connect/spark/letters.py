"""Dead letters on their way to their topic."""

from __future__ import annotations

from typing import Protocol

from penstock.connect.failures import ErrorSettings
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.refusals import Refusals
from penstock.handlers import DeadLetter
from penstock.kafka.admin import Admin
from penstock.kafka.errors import RecordTooLarge, TopicExists
from penstock.kafka.producing import RecordHeaders, RecordProducer


class Sender(Protocol):
    """Queues records; those of sources are transactional."""

    def produce(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = None,
        *,
        partition: int = -1,
        timestamp: int | None = None,
        headers: RecordHeaders | None = None,
    ) -> None: ...


class Letters:
    """Sends the dead letters of a task.

    Those of a sink go through a producer of their own, which is opened with the first one. Those of a source go the way of
    its records, so that they are committed with them or not at all.

    Args:
        job: The connector.
    """

    def __init__(self, job: ConnectJob) -> None:
        self._job = job
        self._own: RecordProducer | None = None
        self._borrowed: Sender | None = None
        self._refusals: Refusals | None = None
        self._ensured = False
        self.sent = 0

    def go_with(self, sender: Sender, refusals: Refusals) -> None:
        """Letters from now on belong to what is sent there; those known to be refused are told so."""
        self._borrowed = sender
        self._refusals = refusals
        self.sent = 0

    def send(self, letter: DeadLetter) -> None:
        """Queue one letter.

        Raises:
            RecordTooLarge: It is.
        """
        if self._refusals is not None and self._refusals.find(letter.topic, letter.key, letter.value) is not None:
            raise RecordTooLarge(letter.topic)
        if not self._ensured:
            self._ensure_topic(letter.topic)
            self._ensured = True
        self._sender().produce(
            letter.topic, letter.value, letter.key, timestamp=max(letter.timestamp, 0), headers=letter.headers
        )
        self.sent += 1

    def _sender(self) -> Sender:
        if self._borrowed is not None:
            return self._borrowed
        if self._own is None:
            self._own = RecordProducer(self._job.kafka["producer"])
        return self._own

    def _ensure_topic(self, topic: str) -> None:
        admin = Admin(self._job.kafka["admin"])
        if topic not in admin.topics():
            factor = ErrorSettings.parse(self._job.config).dead_letter_replication
            try:
                admin.create_topic(topic, partitions=1, replication_factor=factor)
            except TopicExists:
                pass  # another task was faster

    def flush(self) -> None:
        """Wait until all letters of a sink have arrived: only then may offsets be committed."""
        if self._own is not None:
            self._own.flush()
