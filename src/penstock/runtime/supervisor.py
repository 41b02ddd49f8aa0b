"""Keeps an application's query running: restarts it where that helps, and knows when to give up."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from penstock.errors import PenstockError
from penstock.runtime.host import Host, Query
from penstock.runtime.states import Lifecycle, StreamsState
from penstock.runtime.uncaught import StreamThreadExceptionResponse, UncaughtHandler, ask
from penstock.spark.failures import is_transient as may_heal

log = logging.getLogger("penstock.application")
batch_log = logging.getLogger("penstock.batches")


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long a failing query is started again.

    Attributes:
        transient_ms: While the cause may go away by itself, this long from the first failure on.
        attempts: Otherwise this often in a row, if the uncaught exception handler asks for it.
        first_wait: Seconds before the first new start; the wait doubles with each further one.
        longest_wait: Seconds the wait grows to.
        healthy_after: A query that had nothing to do for this many seconds has recovered, as if a batch had succeeded.
    """

    transient_ms: int = 300_000
    attempts: int = 10
    first_wait: float = 0.5
    longest_wait: float = 30.0
    healthy_after: float = 60.0


class Supervisor:
    """Starts the query, watches it, starts it again, stops it.

    Args:
        host: What runs queries.
        lifecycle: The application's state, moved along.
        application_id: Its name, for the log.
        release: Gives everything back when the application ends by itself.
        patience: When to give up.
        check_seconds: Time between two looks at the topics; 0 for never.
        log_batches: Whether each batch is logged as JSON.
    """

    POLL_SECONDS = 0.5
    TEND_SECONDS = 5.0

    def __init__(
        self,
        host: Host,
        lifecycle: Lifecycle,
        *,
        application_id: str,
        release: Callable[[], None],
        patience: Patience,
        check_seconds: float = 5.0,
        log_batches: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._host = host
        self._life = lifecycle
        self._id = application_id
        self._release = release
        self._patience = patience
        self._check_seconds = check_seconds
        self._log_batches = log_batches
        self._clock = clock
        self._lock = threading.RLock()  # held while a query starts or stops
        self._closing = threading.Event()
        self._query: Query | None = None
        self.thread: threading.Thread | None = None
        self._checked = self._tended = self._looked = clock()
        self._idle_seconds = 0.0  # of the running query
        self._first_failure: float | None = None
        self._failures = 0
        self.uncaught: UncaughtHandler | None = None
        self.failure: BaseException | None = None
        self.restarts = 0
        self.paused = False

    # ------------------------------------------------------------------ start and stop

    def start(self) -> bool:
        """Start the query and watch it in a thread; False if the application was closed meanwhile."""
        if not self._start_query():
            return False
        self.thread = threading.Thread(target=self._watch, name=f"{self._id}-supervisor", daemon=True)
        self.thread.start()
        return True

    def _start_query(self) -> bool:
        with self._lock:
            if self._closing.is_set():
                return False
            self._query = self._host.start(paused=self.paused)
            self._looked = self._checked = self._clock()
            self._idle_seconds = 0.0
            return True

    def stop(self) -> None:
        """Stop the query after the batch in hand, and end the watch."""
        self._closing.set()
        try:
            with self._lock:
                if self._query is not None:
                    self._query.stop()
        finally:
            if self.thread is not None and self.thread is not threading.current_thread():
                self.thread.join()
        self._see_batches()

    def pause(self) -> None:
        """Process nothing until `resume`."""
        with self._lock:
            self.paused = True
            if self._query is not None:
                self._query.pause()

    def resume(self) -> None:
        """Go on after `pause`."""
        with self._lock:
            self.paused = False
            if self._query is not None:
                self._query.resume()

    # ------------------------------------------------------------------ the watch

    def _watch(self) -> None:
        try:
            while not self._closing.is_set():
                if not self._step():
                    return
        except Exception as error:  # noqa: BLE001 - a watch that dies would leave an application that nobody watches
            self._give_up(error)

    def _step(self) -> bool:
        """Wait a little and do what is due; False if the application has ended."""
        query = self._query
        assert query is not None
        ended = query.poll(self.POLL_SECONDS)
        self._see_batches()
        if self._closing.is_set():
            return False
        if ended is None:
            return self._look_after()
        if ended.failure is None:
            # Somebody stopped the query by Spark's own means.
            if self._life.move(StreamsState.PENDING_SHUTDOWN):
                self._end(StreamsState.NOT_RUNNING)
            return False
        return self._recover(ended.failure)

    def _see_batches(self) -> None:
        for batch in () if self._query is None else self._query.new_batches():
            self._recovered()
            if self._log_batches:
                batch_log.info("%s", json.dumps({"application": self._id, **batch.as_dict()}))

    def _recovered(self) -> None:
        self._first_failure, self._failures = None, 0

    def _see_idleness(self, now: float) -> None:
        """An application without data recovers, too.

        Only time without a batch counts: the batch that is at work may be the one that fails each time, after minutes.
        A batch that came and went since the last look has succeeded, and was seen.
        """
        looked, self._looked = self._looked, now
        if self._failures and self._query is not None and self._query.idle:
            self._idle_seconds += now - looked
            if self._idle_seconds >= self._patience.healthy_after:
                self._recovered()

    def _look_after(self) -> bool:
        """What is due every few seconds; False if the application has ended."""
        now = self._clock()
        self._see_idleness(now)
        if now - self._tended >= self.TEND_SECONDS:
            self._tended = now
            self._tend()
        if self._check_seconds and now - self._checked >= self._check_seconds:
            self._checked = now
            if self._host.topics_changed():
                log.info("%s: the topics changed, the query starts again with all partitions", self._id)
                try:
                    return self._restart()
                except PenstockError as error:
                    return self._recover(error)
        return True

    def _tend(self) -> None:
        try:
            self._host.tend()
        except Exception as error:  # noqa: BLE001 - nothing the application depends on
            log.warning("%s: %s", self._id, error)

    # ------------------------------------------------------------------ failures

    def _recover(self, failure: Exception) -> bool:
        """Start again after a failure, as often as it makes sense; False if the application has ended."""
        while not self._closing.is_set():
            wait = self._wait_before_restart(failure)
            if wait is None:
                self._give_up(failure)
                return False
            self._life.move(StreamsState.REBALANCING)
            log.warning("%s: the query starts again in %.1f s: %s", self._id, wait, failure)
            if self._closing.wait(wait):
                return False
            try:
                return self._restart()
            except PenstockError as error:
                failure = error  # Kafka is still away, for example
        return False

    def _wait_before_restart(self, failure: Exception) -> float | None:
        """Seconds to wait before the next start; None to give up."""
        now = self._clock()
        self._failures += 1
        self._first_failure = now if self._first_failure is None else self._first_failure
        wait = min(self._patience.longest_wait, self._patience.first_wait * 2.0 ** (self._failures - 1))
        if is_transient(failure):
            left = self._first_failure + self._patience.transient_ms / 1000 - now
            if left > 0:
                return min(wait, left)
        elif _kind(failure) in {"TopicMissing", "MissingSourceTopicError"} and self._host.topics_changed():
            return 0.0  # a topic of a pattern was deleted
        answer = ask(self.uncaught, failure)
        if answer is not StreamThreadExceptionResponse.REPLACE_THREAD:
            return None
        if self._failures > self._patience.attempts:
            log.error("%s: gave up after %d starts in a row without a batch", self._id, self._failures)
            return None
        return wait

    def _restart(self) -> bool:
        self._life.move(StreamsState.REBALANCING)
        with self._lock:
            if self._query is not None:
                self._query.stop()
                self._see_batches()
            if not self._start_query():
                return False
        self.restarts += 1
        self._life.move(StreamsState.RUNNING)
        return True

    def _give_up(self, failure: BaseException) -> None:
        self.failure = failure
        if not self._life.move(StreamsState.PENDING_ERROR):
            return  # closed meanwhile: whoever closes stops the query
        log.error("%s failed: %s", self._id, failure)
        try:
            with self._lock:
                if self._query is not None:
                    self._query.stop()
            self._see_batches()
        except Exception as error:  # noqa: BLE001 - the first failure is the one to tell
            log.warning("%s: the query could not be stopped: %s", self._id, error)
        finally:
            self._end(StreamsState.ERROR)

    def _end(self, final: StreamsState) -> None:
        try:
            self._release()
        except Exception as error:  # noqa: BLE001 - as above
            log.warning("%s: not everything could be cleaned up: %s", self._id, error)
        finally:
            self._life.move(final)  # whatever happened: others wait for it


def is_transient(failure: BaseException) -> bool:
    """Whether waiting may heal it: the failed query says so, or Kafka does not answer."""
    told = getattr(failure, "transient", None)
    return may_heal(_kind(failure), str(failure)) if told is None else bool(told)


def _kind(failure: BaseException) -> str:
    return str(getattr(failure, "kind", "") or type(failure).__name__)
