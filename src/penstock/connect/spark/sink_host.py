"""A sink task in its process: reads the ranges of a batch, converts and transforms, puts, flushes."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from confluent_kafka import Message

from penstock.connect.api import SinkTask, TopicPartition
from penstock.connect.data import SinkColumns, SinkRecord, TimestampType
from penstock.connect.errors import ConnectError, RetriableError
from penstock.connect.failures import ConsumedColumns, ErrorMetrics, RetryWithTolerance, SystemClock, ToleranceExceeded
from penstock.connect.failures.report import executing_class
from penstock.connect.pipelines import SinkPipeline
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.letters import Letters
from penstock.connect.spark.parts import error_operator, pipeline_parts, task_class
from penstock.connect.spark.reports import Plan, Report, error_counts
from penstock.kafka.clients import open_range_consumer
from penstock.kafka.range_cursor import Cursor, OffsetRange, assigned, poll, run_key, runs
from penstock.kafka.ranges import STALLED_SECONDS
from penstock.records import NO_HEADERS, Headers

log = logging.getLogger("penstock.connect")

_CHUNK_RECORDS = 5_000  # of a put: sinks that write by columns or statements have less to do for many at a time
_FIRST_RETRY_MS, _LONGEST_RETRY_MS = 300, 60_000
_TYPES = (TimestampType.NO_TIMESTAMP_TYPE, TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME)


class SinkHost:
    """Hosts one sink task.

    Args:
        job: The connector.
        task: Number of the task.
        clock: Tells the time; when it is stopped, waiting ends.
    """

    def __init__(self, job: ConnectJob, task: int, clock: SystemClock) -> None:
        self._job = job
        self._number = task
        self._clock = clock
        self._letters = Letters(job)
        self._operator = error_operator(job, task, clock, self._letters.send)
        self._pipeline = SinkPipeline(**pipeline_parts(job, self._operator))
        self._task: SinkTask = task_class(job)(job.tasks[task])
        self._context = _Context(self._operator, executing_class(self._task))
        self._task.context = self._context
        self._task.start()
        self._consumer = open_range_consumer(job.kafka["consumer"], group_id=job.group)
        self._positions: dict[TopicPartition, int] = {}

    def run(self, plan: Plan) -> Report:
        """Write a batch.

        A partition this task has read before goes on where it stopped; one it has not begins where the target stands.
        """
        new = [
            TopicPartition(topic, p)
            for topic, p, _, start, end in plan["ranges"]
            if not self._goes_on(topic, p, start, end)
        ]
        ranges = [self._range(*found) for found in plan["ranges"]]
        if new:
            self._task.open(new)
        count = 0
        self._operator.metrics, self._letters.sent = ErrorMetrics(), 0
        try:
            for records in self._read(ranges):
                count += self._write(records)
        finally:
            self._letters.flush()
        self._positions.update({TopicPartition(r.topic, r.partition): r.end for r in ranges})
        ends = {TopicPartition(r.topic, r.partition): r.end for r in ranges}
        where = ", ".join(f"{topic}-{partition} to offset {end}" for (topic, partition), end in ends.items())
        committed = self._guarded(lambda: self._task.pre_commit(ends), f"flush of {where}")
        return {
            "task": self._number,
            "records": count,
            "errors": error_counts(self._operator.metrics, self._letters.sent),
            "topics": [],
            "committed": [[*at, offset] for at, offset in committed.items()],
            "wake_ms": self._task.wake_ms,
        }

    def _goes_on(self, topic: str, partition: int, start: int, end: int) -> bool:
        """Whether the task has read the partition up to this batch, or into it.

        A batch may be planned again because another task of it failed: what this one has written of it stays written.
        Otherwise another process of the task, on another machine, had the partition in between.
        """
        return start <= self._positions.get(TopicPartition(topic, partition), -1) <= end

    def _range(self, topic: str, partition: int, committed: int, start: int, end: int) -> OffsetRange:
        goes_on = self._goes_on(topic, partition, start, end)
        begin = self._positions[TopicPartition(topic, partition)] if goes_on else committed
        return OffsetRange(topic, partition, begin, end)

    def _write(self, consumed: ConsumedColumns) -> int:
        found = self._pipeline.convert_columns(consumed)
        count = len(found.offsets) if isinstance(found, SinkColumns) else len(found)
        if count:
            self._context.consumed = consumed
            first, last = consumed.offsets[0], consumed.offsets[-1]
            where = f"topic {consumed.topic}, partition {consumed.partition}, offsets {first} to {last}"
            before = self._operator.metrics.total_records_skipped
            self._guarded(lambda: self._put(found), f"TASK_PUT of {where}")
            return count - (self._operator.metrics.total_records_skipped - before)
        return 0

    def _put(self, found: SinkColumns | list[SinkRecord]) -> None:
        """Hand records over, again and again while the task asks for that."""
        delay = _FIRST_RETRY_MS
        while True:
            try:
                return self._task.put_columns(found) if isinstance(found, SinkColumns) else self._task.put(found)
            except RetriableError as error:
                wait = delay if error.after_ms is None else error.after_ms
                log.warning("%s-%d: put is tried again in %d ms: %s", self._job.name, self._number, wait, error)
                if not self._clock.wait(wait):
                    raise
                delay = min(2 * delay, _LONGEST_RETRY_MS)

    def _guarded(self, call: Callable[[], Any], what: str) -> Any:
        try:
            return call()
        except (ToleranceExceeded, RetriableError):
            raise
        except Exception as error:
            raise ConnectError(
                f"Exiting WorkerSinkTask due to unrecoverable exception: task {self._job.name}-{self._number}, {what} failed: "
                f"{type(error).__name__}: {error}",
                hint="Mend what is wrong and restart the task: it goes on with these records.",
            ) from error

    def _read(self, ranges: Sequence[OffsetRange]) -> Iterator[ConsumedColumns]:
        cursors = {(r.topic, r.partition): Cursor(r) for r in ranges if r.start < r.end}
        if not cursors:
            return
        open_cursors = list(cursors.values())
        key = run_key([cursor.range for cursor in open_cursors])
        with assigned(self._consumer, open_cursors):
            for messages in poll(
                self._consumer, open_cursors, chunk_records=_CHUNK_RECORDS, stalled_seconds=STALLED_SECONDS
            ):
                for cursor, run in runs(messages, cursors, key):
                    found = cursor.accept(self._consumer, run)
                    if found:
                        yield consumed_columns(cursor.range.topic, cursor.range.partition, found)

    def close(self) -> None:
        """Stop the task."""
        try:
            self._task.stop()
        finally:
            self._consumer.close()


class _Context:
    """What the task may ask: to report records."""

    def __init__(self, operator: RetryWithTolerance, class_name: str) -> None:
        self._operator = operator
        self._class_name = class_name
        self.consumed: ConsumedColumns | None = None

    def report(self, record: SinkRecord, error: Exception) -> None:
        consumed = self.consumed
        at = (record.original_topic, record.original_partition)
        index = None if consumed is None or at != consumed[:2] else _index(consumed.offsets, record.original_offset)
        if consumed is None or index is None:
            raise ConnectError(
                f"A task reported a record that is not among those it puts: {at}, offset {record.original_offset}"
            ) from error
        self._operator.report(consumed.row(index), self._class_name, error)


def _index(offsets: Sequence[int], offset: int | None) -> int | None:
    """Where an offset is; they rise."""
    at = bisect_left(offsets, -1 if offset is None else offset)
    return at if at < len(offsets) and offsets[at] == offset else None


def consumed_columns(topic: str, partition: int, messages: list[Message]) -> ConsumedColumns:
    """Messages of one partition by their parts."""
    kinds, millis = zip(*map(Message.timestamp, messages), strict=True)
    types = [_TYPES[kinds[0]]] * len(kinds) if len(set(kinds)) == 1 else [_TYPES[kind] for kind in kinds]
    given: Any = list(map(Message.headers, messages))
    return ConsumedColumns(
        topic,
        partition,
        list(map(Message.offset, messages)),  # type: ignore[arg-type]  # offsets of records are never None
        list(map(Message.key, messages)),
        list(map(Message.value, messages)),
        list(millis),
        types,
        [Headers(one) if one else NO_HEADERS for one in given] if any(given) else None,
    )
