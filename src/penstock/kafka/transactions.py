"""A producer that works in transactions, and keeps its transactional id through fencing and failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from penstock.errors import PenstockError
from penstock.kafka.client_log import logger
from penstock.kafka.clients import ErrorEvents, open_producer, plain_reason, translate
from penstock.kafka.error_codes import DENIED, FATAL, FENCED, STATE
from penstock.kafka.errors import KafkaClientError, ProducerFenced, RefusedRecord, TransactionAborted, TransactionError
from penstock.kafka.producing import DeliveryFailures, RecordHeaders, queue_record, record_error
from penstock.kafka.settings import Settings

TRANSACTION_SECONDS = 60.0
_OFFSETS_SECONDS = 20.0
# Measured, a broker killed between two transactions: the client that had its connection never sends the offsets, a new one
# needs less than a second.
_OFFSETS_AFTER_LOSS_SECONDS = 3.0
_OFFSETS_STEP_SECONDS = 0.2
_FLUSH_STEP_SECONDS = 0.2
_FENCED_HINT = (
    "What it sent was rolled back. Either another process runs the same task now, "
    "or the transaction was open for longer than transaction.timeout.ms."
)
_TRANSACTION_LOG = "__transaction_state"


class TransactionalProducer:
    """One transactional id, and the producer that holds it for now.

    The id belongs to whoever initialised it last. A task that comes back to a process it had left finds its old producer
    fenced, learns of it only inside the next transaction, and then needs a new one: `run` does that. A producer that was
    initialised for this very run and is fenced nevertheless belongs to a zombie, and `run` raises.

    Args:
        settings: Client settings under Kafka's names.
        transactional_id: Kafka's `transactional.id`.
        seconds: How long one step (init, commit, abort) may take, broker failovers included.
    """

    def __init__(self, settings: Settings, transactional_id: str, *, seconds: float = TRANSACTION_SECONDS) -> None:
        self.transactional_id = transactional_id
        self._settings = settings
        self._seconds = seconds
        self._producer: Producer | None = None
        self._failures = DeliveryFailures()
        self._events = ErrorEvents()
        self._events_before = 0

    def run(
        self, work: Callable[[TransactionalProducer], None], *, is_committed: Callable[[], bool], tries: int = 3
    ) -> bool:
        """Run `work` in a transaction and commit; again with a new producer or after a roll-back where that can help.

        Args:
            work: Sends records and offsets through the producer it is given. May be called several times.
            is_committed: Whether this very work was committed before. Asked after each initialisation of the id, when no
                older transaction can still be under way; so it also settles a commit whose outcome was not known.
            tries: How often `work` may run.

        Returns:
            True if this call committed, False if the work had been committed before.

        Raises:
            ProducerFenced: Another process took the id over while this one held it.
            TransactionError: The work was not committed, for another reason.
        """
        for attempt in range(1, tries + 1):
            renewed = self._producer is None
            if renewed:
                self.init()
                if is_committed():
                    return False
            try:
                self.begin()
                work(self)
                self.commit()
                return True
            except ProducerFenced:
                self.close()
                if renewed or attempt == tries:
                    raise
            except TransactionError as error:
                if isinstance(error, TransactionAborted):
                    # At once, not by timeout: readers of committed records wait for the end of every transaction.
                    self._roll_back()
                # After a refused record the library's sequence numbers are off for one more transaction.
                self.close()
                if attempt == tries:
                    raise
            except BaseException:
                self._roll_back()
                raise
        raise ValueError(f"tries must be at least 1, not {tries}")

    def init(self) -> None:
        """Take the id over: fences every older producer and ends its transaction."""
        self.close()
        events = ErrorEvents()
        producer = open_producer(
            self._settings,
            fixed={"transactional.id": self.transactional_id, "on_delivery": self._failures},
            events=events,
        )
        try:
            # The second question makes the client connect to a broker by its own name, not as a bootstrap server.
            # Without that, the library finds the coordinator only when a timer of half a second fires.
            for _ in range(2):
                producer.list_topics(_TRANSACTION_LOG, timeout=self._seconds)
        except KafkaException as error:
            raise translate(error, self._settings) from None
        self._step(lambda: producer.init_transactions(self._seconds))
        self._producer, self._events = producer, events
        self._flush(0)  # hands over the events
        self._events_before = events.count

    def begin(self) -> None:
        """Start a transaction."""
        if self._producer is None:
            self.init()
        self._failures.clear()
        self._step(self._held().begin_transaction)

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
        """Queue a record in the transaction, as `queue_record` does."""
        try:
            queue_record(self._held(), topic, value, key, partition, timestamp, headers)
        except KafkaException as error:
            if error.args[0].code() in {FATAL, STATE} | FENCED:
                # The producer failed in the background; only the transaction interface says how.
                self._step(self._held().abort_transaction)
                # It was of an earlier record, and its roll-back went well: this record is not to blame.
                raise self._aborted("the transaction was rolled back") from None
            raise record_error(error.args[0], self._settings, topic, partition) from None

    def raw_produce(self) -> Callable[..., None]:
        """The client's own produce, for records by the million; its errors are the client's, too."""
        return self._held().produce

    def refused(self) -> list[RefusedRecord]:
        """Wait until all records have an answer; those that Kafka will not take, for which the transaction has to be
        rolled back.
        """
        self._await_reports()
        return list(self._failures.refused)

    def take_refused(self) -> list[RefusedRecord]:
        """After a failure: the records that Kafka will not take, as far as it is known, each told once."""
        if self._producer is not None:
            self._flush(_FLUSH_STEP_SECONDS)  # a transaction fails a moment before its records are reported
        found, self._failures.refused = self._failures.refused, []
        return found

    def send_offsets(self, offsets: Sequence[TopicPartition], group_metadata: Any) -> None:
        """Commit consumer group offsets, with their metadata, in the transaction.

        The client library keeps no time limit here: when the coordinator goes away at the wrong moment, the call may never
        return (librdkafka 5456), also when the coordinator is back (librdkafka 5511). So a producer that has lost a
        connection gets little time. Then it is left to itself, and the next `init` takes its id.

        Raises:
            TransactionError: No answer, or not the right one.
        """
        producer, seconds = self._held(), min(self._seconds, _OFFSETS_SECONDS)
        errors: list[BaseException] = []

        def send() -> None:
            try:
                self._step(lambda: producer.send_offsets_to_transaction(list(offsets), group_metadata, seconds))
            except BaseException as error:  # noqa: BLE001 - raised below, in the caller's thread
                errors.append(error)

        thread = threading.Thread(target=send, name="penstock-send-offsets", daemon=True)
        thread.start()
        waited = self._await_offsets(thread, seconds + 1)
        if thread.is_alive():
            self._producer = None
            raise TransactionError(self.transactional_id, f"no answer about the offsets within {waited:.0f} s")
        if errors:
            raise errors[0]

    def _await_offsets(self, thread: threading.Thread, seconds: float) -> float:
        """Wait for a thread, less long once a connection is lost; how long it was."""
        started = time.monotonic()
        deadline = started + seconds
        while thread.is_alive() and (left := deadline - time.monotonic()) > 0:
            thread.join(min(left, _OFFSETS_STEP_SECONDS))
            self._flush(0)  # hands over the events
            if self._events.count > self._events_before:
                deadline = min(deadline, time.monotonic() + _OFFSETS_AFTER_LOSS_SECONDS)
        return time.monotonic() - started

    def commit(self) -> None:
        """Wait for all records and commit.

        Raises:
            TransactionAborted: Some record or offset did not get through; `abort` and try again.
            ProducerFenced: Another producer has the id.
        """
        producer = self._held()
        # A record that fails during the client's own commit makes it wait for all others, which are not sent any more.
        left = self._await_reports()
        if left and not self._failures.count:
            raise TransactionError(self.transactional_id, f"{left} records still wait after {self._seconds:g} seconds")
        self._step(lambda: producer.commit_transaction(self._seconds))

    def abort(self) -> None:
        """Roll the transaction back."""
        producer = self._held()
        self._step(lambda: producer.abort_transaction(self._seconds))

    def close(self) -> None:
        """Let go of the producer at once; an open transaction is left to the next `init`, or to its timeout."""
        producer, self._producer = self._producer, None
        if producer is not None:
            # What is queued must not keep the client alive. Its own close() would first try to end the transaction.
            producer.purge()

    def _await_reports(self) -> int:
        """Wait until all records have an answer, or one has a bad one; how many have none."""
        deadline = time.monotonic() + self._seconds
        # In short steps: once a record is refused, the client keeps the others back.
        while (left := self._flush(_FLUSH_STEP_SECONDS)) and not self._failures.count and time.monotonic() < deadline:
            pass
        return left

    def _flush(self, seconds: float) -> int:
        try:
            return self._held().flush(seconds)
        except KafkaException as error:
            # Fatal; the transaction interface says how.
            logger.debug("%s: %s", self.transactional_id, plain_reason(error.args[0]))
            return 0

    def _held(self) -> Producer:
        if self._producer is None:
            raise TransactionError(self.transactional_id, "no transaction was begun")
        return self._producer

    def _roll_back(self) -> None:
        """End the transaction so that the next one can begin; a producer that cannot is given up."""
        if self._producer is None:
            return
        try:
            self.abort()
        except KafkaClientError as error:
            logger.warning("giving up the producer of %s: %s", self.transactional_id, error)
            self.close()

    def _step(self, call: Callable[[], None]) -> None:
        """A call of the transaction interface, made again for as long as the library says that this resumes it."""
        deadline = time.monotonic() + self._seconds
        while True:
            try:
                return call()
            except KafkaException as error:
                kafka_error = error.args[0]
                if not kafka_error.retriable() or time.monotonic() >= deadline:
                    raise self._error(kafka_error) from None

    def _error(self, error: KafkaError) -> PenstockError:
        reason = plain_reason(error)
        if error.code() in FENCED:
            return ProducerFenced(self.transactional_id, reason, hint=_FENCED_HINT)
        if error.txn_requires_abort():
            return self._aborted(reason)
        if error.code() in DENIED:
            return translate(error, self._settings)
        return TransactionError(self.transactional_id, f"{reason} ({error.name()})")

    def _aborted(self, reason: str) -> TransactionAborted:
        # The client says only how many records failed; their reports say why.
        why = [f"{where}: {refusal}" for where, refusal in self._failures.first[:1]]
        return TransactionAborted(self.transactional_id, "; ".join([reason, *why]))
