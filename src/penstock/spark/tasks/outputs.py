"""What the tasks of a slot write: records to Kafka, committed together, and records for the next level."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from penstock.errors import PenstockError, StreamsError
from penstock.kafka.clients import open_consumer, translate
from penstock.kafka.error_codes import MOVING, UNREACHABLE
from penstock.kafka.errors import BrokerUnreachable, KafkaClientError, TransactionError
from penstock.kafka.murmur2 import partition_for
from penstock.kafka.producing import RecordProducer
from penstock.kafka.transactions import TransactionalProducer
from penstock.records import Headers, Record
from penstock.spark.job import Job
from penstock.spark.rows import RECORDS, RecordBuffer, Row
from penstock.spark.tasks.crashes import crash_point

log = logging.getLogger("penstock.output")

# The arguments of the client's produce: topic, value, key, partition, two callbacks, timestamp, headers.
Outgoing = tuple[str, "bytes | None", "bytes | None", int, None, None, int, Any]
CHUNK = 2_000  # records that are handed to the client at a time: one frame for all of them
_COMMIT_TRIES = 3
_COORDINATOR_SECONDS = 60.0
_COORDINATOR_MOVES = MOVING | UNREACHABLE | {KafkaError.REQUEST_TIMED_OUT}
_producers: dict[str, Any] = {}
_committers: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Commit:
    """What the commit of a task's pass says: its number, and the file that holds its state."""

    sequence: int
    attempt: str


def outgoing(
    topic: str, key: bytes | None, value: bytes | None, timestamp: int, headers: Headers, partition: int
) -> Outgoing:
    """A record as the client takes it."""
    # The library takes 0 for "now"; 1 is the earliest timestamp that can be written.
    return (topic, value, key, partition, None, None, timestamp or 1, list(headers) if headers else None)


class SlotOutput:
    """What one slot writes in one batch. Records go out while the tasks still run; `commit` makes them visible.

    Whoever has records appends them to `waiting`, and calls `hand_over` when there are `CHUNK` of them.

    With exactly once, a producer may turn out to be fenced: another process held the slot for a batch. Then the id is taken
    back and everything is sent again; that is why records are kept until the commit.
    """

    def __init__(self, job: Job, level: int, slot: int) -> None:
        self._job = job
        self._id = f"{job.application_id}-{level}-{slot}"
        self.waiting: list[Outgoing] = []
        self._sent: list[list[Outgoing]] = []
        self._keeps = job.exactly_once
        self._refused: set[int] = set()
        self._broken = False
        self._begun = False
        self.refused: Callable[[str, Record[Any, Any], Exception], None] | None = None  # of the task that runs

    def produce_all(self, records: list[Outgoing]) -> None:
        """Queue many records, which are the caller's no more."""
        self.hand_over()
        self.waiting = records
        self.hand_over()

    def hand_over(self) -> None:
        """Give waiting records to the client."""
        if not self.waiting:
            return
        records, self.waiting = self.waiting, []
        if self._keeps:
            self._sent.append(records)
        if not self._begun:
            self._begun = True
            self._begin()
        # Straight to the client library: each function in between costs as much as the library itself (0.8 us).
        produce, left = self._producer().raw_produce(), iter(records)
        while not self._broken:
            record = None
            try:
                for record in left:
                    produce(*record)
                break
            except Exception as error:
                if record is None:
                    raise
                self._produce_slowly(record, error)

    def _produce_slowly(self, record: Outgoing, error: Exception) -> None:
        if not isinstance(error, (BufferError, KafkaException, TransactionError)):
            raise error
        try:
            self._send(record)
        except TransactionError as broken:
            log.info("%s: %s", self._id, broken)
            self._broken = True
        except KafkaClientError as refusal:
            if self.refused is None or isinstance(refusal, BrokerUnreachable):
                raise
            topic, value, key, _, _, _, timestamp, headers = record
            self.refused(topic, Record(key, value, timestamp, Headers(headers or ())), refusal)
            self._refused.add(id(record))  # `_sent` keeps it, so that nothing else gets its id

    def _begin(self) -> None:
        if self._job.exactly_once:
            self._producer().begin()

    def _send(self, record: Outgoing) -> None:
        topic, value, key, partition, _, _, timestamp, headers = record
        self._producer().produce(topic, value, key, partition=partition, timestamp=timestamp, headers=headers)

    def _producer(self) -> Any:
        if self._id not in _producers:
            settings = _settings(self._job)
            exactly_once = self._job.exactly_once
            _producers[self._id] = (
                TransactionalProducer(settings, self._id) if exactly_once else RecordProducer(settings)
            )
        return _producers[self._id]

    def commit(self, commits: Mapping[tuple[int, int], Commit]) -> None:
        """Make all records visible, and with them the number of each task's batch."""
        self.hand_over()
        if not self._begun:
            return
        if not self._job.exactly_once:
            self._producer().flush()
            return
        for attempt in range(_COMMIT_TRIES):
            try:
                if attempt > 0 or self._broken:
                    self._renew()
                    if _is_committed(self._job, commits):
                        return
                    self._producer().begin()
                    for record in itertools.chain.from_iterable(self._sent):
                        if id(record) not in self._refused:
                            self._send(record)
                self._commit(commits)
                return
            except TransactionError as error:
                log.info("%s: %s", self._id, error)
                if attempt == _COMMIT_TRIES - 1:
                    raise

    def _renew(self) -> None:
        self._broken = False
        self._producer().init()

    def _commit(self, commits: Mapping[tuple[int, int], Commit]) -> None:
        job, producer = self._job, self._producer()
        crash_point(job, "in transaction")
        offsets = [
            TopicPartition(job.commits_topic(s), p, commit.sequence + 1, commit.attempt)
            for (s, p), commit in commits.items()
        ]
        producer.send_offsets(offsets, _committer(job).consumer_group_metadata())
        crash_point(job, "before commit")
        producer.commit()
        crash_point(job, "after commit")

    def abort(self) -> None:
        """Give up: nothing of this batch becomes visible (at least once: what was sent stays)."""
        if self._job.exactly_once:
            producer = _producers.pop(self._id, None)
            if producer is not None:
                producer.close()
            return
        try:
            self.hand_over()  # the dead letter of the record that ended the application is among them
            if self._begun:
                self._producer().flush()
        except PenstockError as error:
            log.warning("%s: while giving up: %s", self._id, error)
        _producers.pop(self._id, None)


def _is_committed(job: Job, commits: Mapping[tuple[int, int], Commit]) -> bool:
    """Whether a commit whose answer was lost went through.

    Raises:
        StreamsError: Another process, which held the slot meanwhile, has committed these passes. Sending them again would
            double them; Spark's next attempt finds that commit and takes its state.
    """
    found = committed(job, list(commits))
    if any(found.get(task) == commit for task, commit in commits.items()):
        return True
    done = [f"{s}_{p}" for (s, p), at in found.items() if at.sequence >= commits[s, p].sequence]
    if done:
        raise StreamsError(f"another process has committed this batch of {', '.join(done)} already")
    return False


def _settings(job: Job) -> dict[str, Any]:
    """As Kafka Streams, a slot waits longer than other producers: its commit sends what waits, so nobody waits for it.

    Measured: a tenth more records a second than with 5 ms, as a request has more of them.
    """
    return {"linger.ms": 100, **job.kafka["producer"]}


def take_over(job: Job, level: int, slot: int) -> bool:
    """Make sure this process holds the slot's transactional id; True if it had to take it over."""
    transactional_id = f"{job.application_id}-{level}-{slot}"
    held = _producers.get(transactional_id)
    if held is None:
        held = _producers[transactional_id] = TransactionalProducer(_settings(job), transactional_id)
        held.init()
        return True
    return False


def committed(job: Job, tasks: list[tuple[int, int]]) -> dict[tuple[int, int], Commit]:
    """The last committed pass of each task."""
    asked = [TopicPartition(job.commits_topic(s), p) for s, p in tasks]
    found = _ask_committed(job, asked)
    return {
        task: Commit(at.offset - 1, at.metadata or "") for task, at in zip(tasks, found, strict=True) if at.offset >= 0
    }


def _ask_committed(job: Job, asked: list[TopicPartition]) -> list[TopicPartition]:
    """A coordinator that moves or loads says so for a while, and the client library passes that on."""
    deadline = time.monotonic() + _COORDINATOR_SECONDS
    while True:
        try:
            return _committer(job).committed(asked, timeout=10)  # type: ignore[no-any-return]
        except KafkaException as error:
            if error.args[0].code() not in _COORDINATOR_MOVES or time.monotonic() > deadline:
                raise translate(error, job.kafka["consumer"]) from error
            time.sleep(0.05)


def _committer(job: Job) -> Any:
    consumer = _committers.get(job.commits_group)
    if consumer is None:
        consumer = _committers[job.commits_group] = open_consumer(job.kafka["consumer"], group_id=job.commits_group)
    return consumer


class TaskCollector:
    """Takes what a task's sinks write: internal topics become rows for the next level, others go to Kafka."""

    def __init__(self, job: Job, task: str) -> None:
        self._job = job
        self._task = task
        self._internal = {job.real_topic(t): t for t in job.topology.internal_topics}
        self._buffers: dict[tuple[str, int], RecordBuffer] = {}
        self._counts = {job.real_topic(t): n for t, n in job.layout.partitions.items()}
        self._any_partition = itertools.count()
        self.output: SlotOutput | None = None  # None: this batch was committed before, nothing is sent again
        self.count = 0

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: Headers,
        partition: int | None,
    ) -> None:
        """Take one record."""
        self.count += 1
        if topic not in self._internal:
            if self.output is not None:
                # As `outgoing` does, without the call.
                chosen, stamp = -1 if partition is None else partition, timestamp or 1
                waiting = self.output.waiting
                waiting.append((topic, value, key, chosen, None, None, stamp, list(headers) if headers else None))
                if len(waiting) >= CHUNK:
                    self.output.hand_over()
            return
        if partition is None:
            n = self._counts[topic]
            partition = next(self._any_partition) % n if key is None else partition_for(key, n)
        target = (topic, partition)
        buffer = self._buffers.get(target)
        if buffer is None:
            buffer = self._buffers[target] = RecordBuffer()
        buffer.add(key, value, timestamp, headers)

    def send_all(
        self,
        topic: str,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        timestamps: Sequence[int],
        headers: Sequence[Headers],
    ) -> None:
        """Take many records of one topic."""
        if topic in self._internal:
            for record in zip(keys, values, timestamps, headers, strict=True):
                self.send(topic, *record, None)
            return
        self.count += len(keys)
        if self.output is None:
            return
        # As `send`, without a frame a record.
        stamps = [timestamp or 1 for timestamp in timestamps]
        lists = [list(one) if one else None for one in headers] if any(headers) else itertools.repeat(None)
        none = itertools.repeat(None)
        records = zip(itertools.repeat(topic), values, keys, itertools.repeat(-1), none, none, stamps, lists)
        while chunk := list(itertools.islice(records, CHUNK)):
            self.output.waiting += chunk
            self.output.hand_over()

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has; topics the application does not read are asked for once."""
        if topic not in self._counts:
            known = _committer(self._job).list_topics(topic, timeout=10).topics[topic].partitions
            self._counts[topic] = max(1, len(known))
        return self._counts[topic]

    def rows(self) -> Iterator[Row]:
        """The records for other tasks, packed."""
        job = self._job
        for (topic, partition), buffer in self._buffers.items():
            for reader in job.layout.readers(self._internal[topic]):
                slots = job.layout.slots(reader.level, job.slots)
                for blob in buffer.blobs():
                    yield {
                        "slot": job.layout.slot_of(reader.subtopology, partition, slots),
                        "level": reader.level,
                        "kind": RECORDS,
                        "subtopology": reader.subtopology,
                        "partition": partition,
                        "topic": topic,
                        "source": self._task,
                        "payload": blob,
                    }
        self._buffers = {}
