"""A started query: waiting for it, stopping it cleanly, and what its progress says."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.spark.failures import QueryFailed, query_failed
from penstock.spark.group_offsets import publish_last
from penstock.spark.job import Job
from penstock.spark.metrics import BatchProgress, ProgressLog
from penstock.spark.query import start_query
from penstock.spark.tasks.client import stop_slots

# A JVM that is gone: a connection that breaks is py4j's error, one that cannot be made is the system's.
_GONE = (Py4JError, OSError)
# A batch that takes longer is interrupted by a stop, and done again at the next start.
DRAIN_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Ended:
    """A query that is over: by itself with a failure, or because somebody stopped it."""

    failure: QueryFailed | None = None


class RunningQuery:
    """The query of a job.

    Args:
        spark: The session.
        job: The application.
        interval_ms: Time between the starts of two batches; a longer batch is followed at once by the next.
        log: Where batches are counted.
        paused: Begin as if `pause` had been called.
    """

    def __init__(
        self,
        spark: SparkSession,
        job: Job,
        *,
        interval_ms: int,
        log: ProgressLog | None = None,
        paused: bool = False,
    ) -> None:
        self._spark = spark
        self._job = job
        self._interval_ms = interval_ms
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._log = log or ProgressLog()
        self._unseen: list[BatchProgress] = []
        self.paused = paused
        self._query: StreamingQuery | None = None if paused else self._start()

    def _start(self) -> StreamingQuery:
        return start_query(self._spark, self._job, interval_ms=self._interval_ms)

    @property
    def job(self) -> Job:
        """What it runs."""
        return self._job

    def poll(self, seconds: float) -> Ended | None:
        """Wait that long for the end; None if it runs on, or is paused."""
        query = self._query
        if query is None:
            return Ended() if self._stopped.wait(seconds) else None
        try:
            ended = query.awaitTermination(seconds)  # type: ignore[arg-type]  # Spark takes fractions of a second
        except StreamingQueryException as error:
            return self._end_of(query, query_failed(error))
        except _GONE as error:
            lost = QueryFailed("the connection to Spark's driver was lost", kind="ConnectionLost")
            lost.__cause__ = error
            return self._end_of(query, lost)
        return self._end_of(query, None) if ended else None

    def _end_of(self, query: StreamingQuery, failure: QueryFailed | None) -> Ended | None:
        if self._stopped.is_set():
            return Ended()
        # A query that `pause` ends is not the end.
        return Ended(failure) if query is self._query else None

    def wait(self) -> QueryFailed | None:
        """Wait until the query ends; what ended it, or None after a stop."""
        while (ended := self.poll(1)) is None:
            pass
        return ended.failure

    def stop(self) -> None:
        """Stop after the batch in hand."""
        self._stopped.set()
        with self._lock:
            self._finish()

    def _finish(self) -> None:
        query, self._query = self._query, None
        if query is not None:
            # Spark's stop() interrupts a batch that is running. Nothing is lost by that, but it is done again at the
            # next start; waiting for the batch is kinder to users of at-least-once.
            try:
                self._drain(query)
                query.stop()
                self._unseen += self._log.take(query.recentProgress)
            except (*_GONE, StreamingQueryException):
                pass  # the session is gone already
        try:
            if query is not None:
                publish_last(self._job)
        finally:
            stop_slots(self._job.run)

    def _drain(self, query: StreamingQuery) -> None:
        deadline = time.monotonic() + DRAIN_SECONDS
        pause = threading.Event()
        first = _last_batch(query)
        # With data waiting one batch follows the other without a pause: the end of any of them will do.
        while query.isActive and query.status["isTriggerActive"] and _last_batch(query) == first:
            if time.monotonic() > deadline:
                return
            pause.wait(0.01)

    def pause(self) -> None:
        """Stop processing, keep the position."""
        with self._lock:
            if not self.paused:
                self.paused = True
                self._finish()

    def resume(self) -> None:
        """Go on where `pause` stopped."""
        with self._lock:
            if self.paused and not self._stopped.is_set():
                self._query = self._start()
                self.paused = False

    def new_batches(self) -> list[BatchProgress]:
        """The batches that ended since the last call."""
        new, self._unseen = self._unseen, []
        query = self._query
        if query is None:
            return new
        try:
            if not self._log.is_current(query.lastProgress):
                new += self._log.take(query.recentProgress)
        except _GONE:
            pass  # `poll` tells why
        return new

    @property
    def idle(self) -> bool:
        """Whether it has nothing to do just now: no batch is at work, and the first look for records is over."""
        query = self._query
        if query is None:
            return True  # paused
        try:
            # In this order: one that has ended meanwhile is not at work, either.
            return query.lastProgress is not None and not query.status["isTriggerActive"] and query.isActive
        except _GONE:
            return False  # `poll` tells why


def _last_batch(query: StreamingQuery) -> int:
    last = query.lastProgress
    return -1 if last is None else int(last["batchId"])
