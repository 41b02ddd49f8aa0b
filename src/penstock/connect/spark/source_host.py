"""A source task in its process: reads the ranges of a batch, transforms and converts, produces, commits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from penstock.connect.api import SourceRange, SourceTask
from penstock.connect.data import SourceRecord
from penstock.connect.errors import ConnectError
from penstock.connect.failures import EncodedRecord, ErrorMetrics, Failure, Stage, SystemClock
from penstock.connect.offset_key import offset_key
from penstock.connect.pipelines import SourcePipeline
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.letters import Letters
from penstock.connect.spark.parts import error_operator, pipeline_parts, task_class
from penstock.connect.spark.refusals import RecordsRefused, Refusals
from penstock.connect.spark.reports import Plan, Report, error_counts, may_pass
from penstock.connect.spark.topic_creation import TopicCreation
from penstock.kafka.clients import open_consumer, translate
from penstock.kafka.errors import DeliveryFailed, RecordTooLarge, RefusedRecord, TopicMissing
from penstock.kafka.producing import RecordProducer
from penstock.kafka.transactions import TransactionalProducer

CHUNK_RECORDS = 2_000
_PRODUCER = f"{RecordProducer.__module__}.{RecordProducer.__qualname__}"
_COMMITTED_SECONDS = 30.0
_Producer = RecordProducer | TransactionalProducer


class SourceHost:
    """Hosts one source task.

    Args:
        job: The connector.
        task: Number of the task.
        clock: Tells the time; when it is stopped, waiting ends.
    """

    def __init__(self, job: ConnectJob, task: int, clock: SystemClock) -> None:
        self._job = job
        self._number = task
        self._letters = Letters(job)
        self._operator = error_operator(job, task, clock, self._letters.send)
        self._pipeline = SourcePipeline(**pipeline_parts(job, self._operator))
        self._creation = TopicCreation(job)
        self._refusals = Refusals(self._creation.largest_batch)
        self._topics: set[str] = set()
        self._count = 0
        self._last: tuple[Plan, Report] | None = None
        self._id = job.transactional_id(task)
        self._transactions = TransactionalProducer(job.kafka["producer"], self._id) if job.exactly_once else None
        self._producer = None if job.exactly_once else RecordProducer(job.kafka["producer"])
        self._committer: Consumer | None = None
        self._task: SourceTask = task_class(job)(job.tasks[task] if task < len(job.tasks) else job.tasks[0])
        self._task.start()

    def run(self, plan: Plan) -> Report:
        """Bring a batch to Kafka; one that was committed before is left as it is."""
        if self._last is not None and self._last[0] == plan:
            return self._last[1]  # another task of the batch failed, or the answer was lost
        self._refusals = Refusals(self._creation.largest_batch)
        while True:
            try:
                self._attempt(plan)
                break
            except RecordsRefused as refused:
                self._refusals.add(refused.records)
        report: Report = {
            "task": self._number,
            "records": self._count,
            "errors": error_counts(self._operator.metrics, self._letters.sent),
            "topics": sorted(self._topics),
            "committed": [],
        }
        self._last = (plan, report)
        return report

    def _attempt(self, plan: Plan) -> None:
        if self._transactions is None:
            assert self._producer is not None
            self._send(self._producer, plan)
            _settle(self._producer)
            return
        try:
            self._transactions.run(
                lambda producer: self._transact(producer, plan), is_committed=lambda: self._is_committed(plan["batch"])
            )
        except RecordsRefused:
            # After a refused record the library's sequence numbers are off for one more transaction.
            self._transactions.close()
            raise

    def _send(self, producer: _Producer, plan: Plan) -> None:
        self._count = 0
        self._operator.metrics = ErrorMetrics()
        self._letters.go_with(producer, self._refusals)
        for partition, start, end in plan["ranges"]:
            wanted = SourceRange(partition, start, end)
            for chunk in _chunks(self._read(wanted), CHUNK_RECORDS):
                self._produce(producer, chunk)

    def _read(self, wanted: SourceRange) -> Iterator[SourceRecord]:
        """The records of a range; those that do not say where they are from are said to be from it."""
        try:
            for record in self._task.read(wanted):
                if record.source_partition is None:
                    yield record.new_record(source_partition=wanted.partition, source_offset=wanted.end)
                else:
                    yield record
        except Exception as error:
            if may_pass(error):
                raise
            raise ConnectError(
                f"Exiting WorkerSourceTask due to unrecoverable exception: task {self._job.name}-{self._number}, reading "
                f"{dict(wanted.partition)} from {wanted.start} to {wanted.end} failed: {type(error).__name__}: {error}",
                hint="Mend what is wrong and restart the task: it reads the same range again.",
            ) from error

    def _produce(self, producer: _Producer, records: list[SourceRecord]) -> None:
        for topic, partition, key, value, timestamp, headers, source in self._pipeline.convert(records):
            error = self._refusals.find(topic, key, value, partition)
            if error is None:
                if topic not in self._topics:
                    self._creation.ensure(topic)
                    self._topics.add(topic)
                at = -1 if partition is None else partition
                alone = self._refusals.is_suspect(topic, key, value)
                if alone:
                    _settle(producer)
                try:
                    producer.produce(topic, value, key, partition=at, timestamp=timestamp, headers=headers)
                    self._count += 1
                    if alone:
                        _settle(producer)
                    continue
                except (RecordTooLarge, TopicMissing) as refused:
                    if isinstance(refused, TopicMissing) and partition is None:
                        raise  # no record of this topic would get through
                    error = refused
            encoded = EncodedRecord(key, value, headers)
            self._operator.refuse(Failure(Stage.KAFKA_PRODUCE, _PRODUCER, error, source, encoded=encoded))

    def _transact(self, producer: TransactionalProducer, plan: Plan) -> None:
        self._send(producer, plan)
        _settle(producer)
        if self._job.offsets_topic:
            for partition, _, end in plan["ranges"]:
                key = offset_key(self._job.name, partition)
                producer.produce(self._job.offsets_topic, _compact(end), key, partition=-1)
        mark = TopicPartition(self._job.commits_topic, 0, plan["batch"] + 1, self._job.incarnation)
        producer.send_offsets([mark], self._commits().consumer_group_metadata())

    def _is_committed(self, batch: int) -> bool:
        """Whether an earlier attempt committed the batch: the group says which one was last, and of which count."""
        asked = [TopicPartition(self._job.commits_topic, 0)]
        try:
            (found,) = self._commits().committed(asked, timeout=_COMMITTED_SECONDS)
        except KafkaException as error:
            raise translate(error, self._job.kafka["consumer"]) from error
        return found.offset == batch + 1 and found.metadata == self._job.incarnation

    def _commits(self) -> Consumer:
        if self._committer is None:
            self._committer = open_consumer(self._job.kafka["consumer"], group_id=self._id)
        return self._committer

    def close(self) -> None:
        """Stop the task."""
        try:
            self._task.stop()
        finally:
            if self._transactions is not None:
                self._transactions.close()
            if self._committer is not None:
                self._committer.close()


def _settle(producer: _Producer) -> None:
    """Wait until what was sent has arrived; in a transaction, other failures than refusals are left to its commit."""
    if isinstance(producer, TransactionalProducer):
        refused: Sequence[RefusedRecord] = producer.refused()
        if refused:
            raise RecordsRefused(refused)
        return
    try:
        producer.flush()
    except DeliveryFailed as error:
        if error.refused:
            raise RecordsRefused(error.refused) from error
        raise


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _chunks(records: Iterator[SourceRecord], size: int) -> Iterator[list[SourceRecord]]:
    while chunk := list(islice(records, size)):
        yield chunk
