"""What the tasks of a slot write to Kafka, committed together."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from confluent_kafka import KafkaException, TopicPartition

from penstock.errors import PenstockError
from penstock.kafka.admin import Admin
from penstock.kafka.errors import (
    BrokerUnreachable,
    DeliveryFailed,
    KafkaClientError,
    QueueFull,
    RefusedRecord,
    TransactionError,
)
from penstock.kafka.producing import RecordProducer
from penstock.kafka.transactions import TransactionalProducer
from penstock.records import Headers, Record
from penstock.spark.job import Job
from penstock.spark.tasks.commits import Commit, committer, is_committed
from penstock.spark.tasks.crashes import crash_point
from penstock.spark.tasks.outgoing import Columns, Outgoing, Records
from penstock.spark.tasks.refusals import BATCH_BYTES, BATCH_RECORDS, Refusals

log = logging.getLogger("penstock.output")

# Returns if Kafka's refusal of a record is to be passed over. A record without such a function is never skipped.
Asked = Callable[[str, Record[Any, Any], Exception], None]
Pending = list[tuple["Asked | None", Outgoing]]

CHUNK = 2_000  # records that are handed to the client at a time: one frame for all of them
_KEPT = 200_000  # records that are kept with at least once, until it is known that they have arrived
_COMMIT_TRIES = 3
_producers: dict[str, Any] = {}
_batch_bytes: dict[str, int] = {}  # of the slots whose topics take less than the client puts into a batch


class SlotOutput:
    """What one slot writes in one batch. Records go out while the tasks still run; `commit` makes them visible.

    Whoever has records appends them to `waiting`, and calls `hand_over` when there are `CHUNK` of them.

    Records are kept until they are known to have arrived, because they may have to be sent again: without those that Kafka
    refuses, once the task they are from says that it goes on without them; and with exactly once also by a new producer, if
    this one turns out to be fenced because another process held the slot for a batch.
    """

    def __init__(self, job: Job, level: int, slot: int) -> None:
        self._job = job
        self._id = job.transactional_id(level, slot)
        self.waiting: list[Outgoing] = []
        self._sent: list[tuple[Asked | None, Records]] = []
        self._unsettled = 0
        self._refused: set[int] = set()  # ids of records, which are no other's as long as `_sent` keeps them
        self._reported: list[RefusedRecord] = []
        self._broken = False
        self._begun = False
        self._asking = False  # a task about a refused record: its dead letters stay in `waiting` meanwhile
        # Not a method of this object: in a cycle the records of a batch would stay until the collector looks for cycles.
        self._refusals = Refusals(partial(_topic_settings, job, self._id), compressed=_is_compressed(_settings(job)))
        self.refused: Asked | None = None  # of the task that runs

    def produce_all(self, records: Records) -> None:
        """Queue many records of a changelog, which are the caller's no more. Without one of them state would be lost."""
        self.hand_over()
        letters, self.waiting = self.waiting, []  # what the client refused a moment ago
        self._produce(None, records)
        self.waiting = letters + self.waiting

    def produce_columns(self, records: Columns) -> None:
        """Queue many records of the task that runs."""
        self.hand_over()
        self._produce(self.refused, records)

    def hand_over(self) -> None:
        """Give waiting records to the client."""
        self._hand_over(self.refused)

    def _hand_over(self, asked: Asked | None) -> None:
        if not self._asking:
            records, self.waiting = self.waiting, []
            self._produce(asked, records)

    def _produce(self, asked: Asked | None, records: Records) -> None:
        if not records:
            return
        self._sent.append((asked, records))
        if not self._begun:
            self._begun = True
            if self._job.exactly_once:
                self._producer().begin()
        # Straight to the client library: each function in between costs as much as the library itself (0.8 us).
        produce, left = self._producer().raw_produce(), iter(records)
        while not self._broken:
            record = None
            try:
                for record in left:
                    produce(*record)
                break
            except Exception as error:
                if record is None or not isinstance(error, (BufferError, KafkaException, TransactionError)):
                    raise
                if not self._produce_slowly(asked, record):
                    left = self._leave_out(asked, record, left)
        self._unsettled += len(records)
        if not self._job.exactly_once and self._unsettled >= _KEPT:
            self._settle()

    def _produce_slowly(self, asked: Asked | None, record: Outgoing) -> bool:
        try:
            return self._send(asked, record)
        except TransactionError as error:
            log.info("%s: %s", self._id, error)
            self._break()
            return True

    def _leave_out(self, asked: Asked | None, record: Outgoing, left: Iterator[Outgoing]) -> Iterator[Outgoing]:
        """Mark the record in hand, of those that were given last, as refused; gives those behind it."""
        records = self._sent[-1][1]
        if not isinstance(records, list):  # from here on it matters which record is which
            behind = len(list(left))
            records = list(records)
            self._sent[-1] = (asked, records)
            record, left = records[-behind - 1], iter(records[len(records) - behind :])
        self._refused.add(id(record))
        return left

    def _break(self) -> None:
        """Nothing more can go out in this transaction."""
        self._broken = True
        self._reported += self._producer().take_refused()

    def _send(self, asked: Asked | None, record: Outgoing) -> bool:
        """Send one record that the client may refuse at once; False if the task goes on without it."""
        topic, value, key, partition, _, _, timestamp, headers = record
        try:
            self._producer().produce(topic, value, key, partition=partition, timestamp=timestamp, headers=headers)
        except (TransactionError, BrokerUnreachable, QueueFull):
            raise
        except KafkaClientError as refusal:
            self._ask(asked, record, refusal)
            return False
        return True

    def _ask(self, asked: Asked | None, record: Outgoing, error: Exception) -> None:
        """Return if the task goes on without a record that Kafka refuses; else raise."""
        topic, value, key, _, _, _, timestamp, headers = record
        if asked is None or topic == self._job.config.dead_letter_topic:
            raise error
        self._asking = True
        try:
            asked(topic, Record(key, value, timestamp, Headers(headers or ())), error)
        finally:
            self._asking = False

    def _producer(self) -> Any:
        if self._id not in _producers:
            _producers[self._id] = _open(self._job, self._id, self._refusals.narrowed)
        return _producers[self._id]

    def commit(self, commits: Mapping[tuple[int, int], Commit]) -> None:
        """Make all records visible, and with them the number of each task's batch.

        Raises:
            PenstockError: Some record is refused, and the task does not go on without it; or Kafka is away.
        """
        self.hand_over()
        self._hand_over(None)  # dead letters of what the client refused a moment ago
        if not self._begun:
            return
        if self._job.exactly_once:
            self._transact(commits)
            self._sent, self._refused = [], set()  # the task keeps this object until its next batch
        else:
            self._settle()
        if BATCH_RECORDS in self._refusals.narrowed:
            self._close()  # the next batch is sent as usual

    def _transact(self, commits: Mapping[tuple[int, int], Commit]) -> None:
        failures = 0
        while True:
            try:
                if self._broken and self._is_done_otherwise(commits):
                    return
                self._commit(commits)
                return
            except TransactionError as error:
                self._break()
                if self._reported:  # there is something to leave out, and it gets less
                    log.info("%s: %s", self._id, error)
                else:
                    failures += 1
                    log.warning(
                        "%s: try %d of %d to commit the batch failed: %s", self._id, failures, _COMMIT_TRIES, error
                    )
                if failures == _COMMIT_TRIES:
                    raise

    def _is_done_otherwise(self, commits: Mapping[tuple[int, int], Commit]) -> bool:
        """Send everything again in a new transaction, unless the last one went through after all."""
        pending = self._pending()
        reported, self._reported = self._reported, []
        if reported:
            pending = self._without_refused(reported, pending)
        self._producer().init()
        self._broken = False
        if is_committed(self._job, commits):
            return True
        self._producer().begin()
        self._send_again(pending)
        return False

    def _pending(self) -> Pending:
        self._sent = [(asked, list(records)) for asked, records in self._sent]  # now it matters which record is which
        return [
            (asked, record) for asked, records in self._sent for record in records if id(record) not in self._refused
        ]

    def _send_again(self, pending: Pending) -> Pending:
        """Send records once more, and the letters about those that the client refuses this time; gives all that was sent."""
        for asked, record in pending:
            if not self._send(asked, record):
                self._refused.add(id(record))
        letters = self._take_letters()
        for asked, letter in letters:
            self._send(asked, letter)
        return [*pending, *letters]

    def _take_letters(self) -> Pending:
        """The dead letters of what was refused while everything was sent; nobody is asked about them."""
        letters, self.waiting = self.waiting, []
        if letters:
            self._sent.append((None, letters))
        return [(None, letter) for letter in letters]

    def _commit(self, commits: Mapping[tuple[int, int], Commit]) -> None:
        job, producer = self._job, self._producer()
        crash_point(job, "in transaction")
        offsets = [
            TopicPartition(job.commits_topic(s), p, commit.sequence + 1, commit.attempt)
            for (s, p), commit in commits.items()
        ]
        producer.send_offsets(offsets, committer(job).consumer_group_metadata())
        crash_point(job, "before commit")
        producer.commit()
        crash_point(job, "after commit")

    def _settle(self) -> None:
        """At least once: wait until everything has arrived that is not skipped."""
        pending: Pending | None = None
        while True:
            try:
                self._producer().flush()
                break
            except DeliveryFailed as error:
                if error.count > len(error.refused):
                    raise
                if pending is None:
                    pending = self._pending()
                late = _late(error.refused, pending)
                pending = self._send_again(self._without_refused(error.refused, late))
        self._sent, self._refused, self._unsettled = [], set(), 0

    def _without_refused(self, reported: Sequence[RefusedRecord], pending: Pending) -> Pending:
        """Records to send again: without those that are to blame, if their tasks go on without them."""
        before = dict(self._refusals.narrowed)
        tasks = {id(record): asked for asked, record in pending}
        blamed = self._refusals.blame(reported, [record for _, record in pending])
        for record, error in blamed:
            log.info("%s: %s", self._id, error)
            self._ask(tasks[id(record)], record, error)
            self._refused.add(id(record))
        if self._refusals.narrowed != before:
            if BATCH_BYTES in self._refusals.narrowed:
                _batch_bytes[self._id] = self._refusals.narrowed[BATCH_BYTES]
            self._close()
        letters = self._take_letters()
        return [*((asked, record) for asked, record in pending if id(record) not in self._refused), *letters]

    def _close(self) -> None:
        producer = _producers.pop(self._id, None)
        if producer is not None and self._job.exactly_once:
            producer.close()

    def abort(self) -> None:
        """Give up: nothing of this batch becomes visible (at least once: what was sent stays)."""
        if not self._job.exactly_once:
            try:
                self._hand_over(None)  # the dead letter of the record that ended the application is among them
                if self._begun:
                    self._producer().flush()
            except PenstockError as error:
                log.warning("%s: while giving up: %s", self._id, error)
        self._close()


def _topic_settings(job: Job, slot: str, topic: str) -> Mapping[str, str]:
    try:
        return Admin(job.kafka["admin"]).topic_settings(topic)
    except BrokerUnreachable:
        raise
    except KafkaClientError as error:
        log.warning("%s: the settings of %s cannot be read: %s", slot, topic, error)
        return {}


def _late(reported: Sequence[RefusedRecord], pending: Pending) -> Pending:
    """What has to be sent (again): the records that did not arrive, and those of their keys that came after them, so that
    the last of a key stays the last.
    """
    missing = Counter(one.identity for one in reported)
    keys: set[tuple[str, bytes]] = set()
    found: Pending = []
    for asked, record in pending:
        topic, value, key = record[:3]
        if missing[topic, key, value] > 0:
            missing[topic, key, value] -= 1
            if key is not None:
                keys.add((topic, key))
        elif key is None or (topic, key) not in keys:
            continue
        found.append((asked, record))
    return found


def _settings(job: Job) -> dict[str, Any]:
    """As Kafka Streams, a slot waits longer than other producers: its commit sends what waits, so nobody waits for it.

    Measured: a tenth more records a second than with 5 ms, as a request has more of them.
    """
    return {"linger.ms": 100, **job.kafka["producer"]}


def _is_compressed(settings: Mapping[str, Any]) -> bool:
    return any(settings.get(name, "none") != "none" for name in ("compression.type", "compression.codec"))


def _open(job: Job, transactional_id: str, narrowed: Mapping[str, int]) -> Any:
    settings = {**_settings(job), **narrowed}
    if transactional_id in _batch_bytes:
        settings[BATCH_BYTES] = _batch_bytes[transactional_id]
    return TransactionalProducer(settings, transactional_id) if job.exactly_once else RecordProducer(settings)


def take_over(job: Job, level: int, slot: int) -> bool:
    """Make sure this process holds the slot's transactional id; True if it had to take it over."""
    transactional_id = job.transactional_id(level, slot)
    held = _producers.get(transactional_id)
    if held is None:
        held = _open(job, transactional_id, {})
        held.init()
        _producers[transactional_id] = held  # not before: a process whose attempt failed here holds nothing yet
        return True
    return False
