"""The life of one connector: plans batches, runs them, and tells what becomes of it."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from penstock.connect.errors import ConnectError, RetriableError
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.reports import Plan, Report, may_pass
from penstock.connect.spark.task_client import stop_tasks
from penstock.connect.spark.task_metrics import TaskMetrics
from penstock.connect.spark.worker_session import SessionLost
from penstock.errors import PenstockError

log = logging.getLogger("penstock.connect")

RUNNING, PAUSED, FAILED, STOPPED, RESTARTING = "RUNNING", "PAUSED", "FAILED", "STOPPED", "RESTARTING"
_FIRST_RETRY_SECONDS, _LONGEST_RETRY_SECONDS = 0.5, 30.0
_CRASHES = 3  # batches in a row that Spark could not run, after which the tasks are failed


class StatusListener(Protocol):
    """Hears what becomes of connectors and tasks, from any thread."""

    def connector_state(self, name: str, state: str, trace: str | None) -> None: ...

    def task_state(self, name: str, task: int, state: str, trace: str | None) -> None: ...

    def task_metrics(self, name: str, task: int, metrics: Mapping[str, Any]) -> None: ...

    def topics_used(self, name: str, topics: set[str]) -> None: ...


class Planner(Protocol):
    """Knows how far there is something to read, and where the connector stands."""

    @property
    def idle_ms(self) -> int: ...

    def next(self) -> list[Plan]: ...

    def done(self, plans: Sequence[Plan], reports: Sequence[Report]) -> None: ...

    def topics(self, plans: Sequence[Plan]) -> set[str]: ...

    def close(self) -> None: ...


class Batches(Protocol):
    """Runs batches; `BatchQuery` does it on Spark."""

    def run(self, plans: list[Plan]) -> list[Report]: ...

    def stop(self) -> None: ...


class _TaskFailed(Exception):
    """A task reported a failure that waiting does not help against."""

    def __init__(self, task: int, trace: str) -> None:
        self.task = task
        self.trace = trace
        super().__init__(trace)


class ConnectorRun:
    """One start of a connector.

    Args:
        job: What runs.
        planner: Makes the planner; called in the connector's own thread, as it may ask Kafka.
        batches: Makes the query; called there too, as it may have to wait for Spark.
        listener: Is told of states.
        paused: Begin as if `pause` had been called.
    """

    def __init__(
        self,
        job: ConnectJob,
        *,
        planner: Callable[[], Planner],
        batches: Callable[[], Batches],
        listener: StatusListener,
        paused: bool = False,
    ) -> None:
        self.job = job
        self._make_planner = planner
        self._make_batches = batches
        self._listener = listener
        self._changed = threading.Condition()
        self.paused = paused
        self._stopping = False
        self._planner: Planner | None = None
        self._batches: Batches | None = None
        self._topics: set[str] = set()
        self._told = ""
        self._retry_seconds = _FIRST_RETRY_SECONDS
        self._crashes = 0
        self._metrics = [TaskMetrics() for _ in job.tasks]
        self._lost = 0  # sessions, since a batch was done
        self._thread = threading.Thread(target=self._run, name=f"penstock-connector-{job.name}", daemon=True)

    def start(self) -> None:
        """Begin; the connector's code runs in a thread of its own."""
        self._tell(PAUSED if self.paused else RUNNING)
        self._thread.start()

    def pause(self) -> None:
        """Process nothing more after the batch in hand."""
        self._set(paused=True)

    def resume(self) -> None:
        """Go on."""
        self._set(paused=False)

    def _set(self, *, paused: bool) -> None:
        with self._changed:
            self.paused = paused
            self._changed.notify_all()
        if not self._thread.is_alive() and self._told != FAILED:
            self._tell(PAUSED if paused else RUNNING)

    def stop(self, grace_seconds: float) -> None:
        """End after the batch in hand; one that takes longer is interrupted, and done again at the next start."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is threading.current_thread():
            return
        self._thread.join(grace_seconds)
        if self._thread.is_alive():
            log.warning("Connector %s does not end its batch in time: it is interrupted", self.job.name)
            if self._batches is not None:
                self._batches.stop()
            stop_tasks(self.job.run)
            self._thread.join(grace_seconds)

    def _run(self) -> None:
        try:
            while not self._stopping:
                self._step()
        except Exception as error:  # noqa: BLE001 - one connector's failure never ends another
            self._fail(error)
        finally:
            self._close()

    def _step(self) -> None:
        if self.paused:
            self._tell(PAUSED)
            self._wait(None)
            return
        if not self._lost:
            self._tell(RUNNING)
        try:
            if self._planner is None:
                self._planner = self._make_planner()
            plans = self._planner.next()
            if plans:
                self._batch(self._planner, plans)
            idle = 0 if plans else self._planner.idle_ms
            self._retry_seconds, self._lost = _FIRST_RETRY_SECONDS, 0
            self._tell_metrics()
        except Exception as error:
            if not may_pass(error):
                raise
            log.warning("Connector %s tries again in %g s: %s", self.job.name, self._retry_seconds, error)
            if isinstance(error, SessionLost):
                self._leave_session(error)
            idle = int(self._retry_seconds * 1000)
            self._retry_seconds = min(2 * self._retry_seconds, _LONGEST_RETRY_SECONDS)
        if idle:
            self._wait(idle / 1000)

    def _leave_session(self, error: SessionLost) -> None:
        """The next batch is run in another session. What this one had under way ends first: it would write beside it."""
        self._lost += 1
        again = f"{error} Attempt {self._lost}, in {self._retry_seconds:g} s."
        self._tell(RESTARTING, again)
        batches, self._batches = self._batches, None
        if batches is not None:
            batches.stop()
        stop_tasks(self.job.run)

    def _batch(self, planner: Planner, plans: list[Plan]) -> None:
        begun = time.monotonic()
        try:
            if self._batches is None:
                self._batches = self._make_batches()
            if self._stopping:  # Spark took its time to start
                return
            reports = self._batches.run(plans)
        except SessionLost:
            raise
        except PenstockError as error:
            self._crashes += 1
            if self._crashes >= _CRASHES or not (self._lost or isinstance(error, ConnectError)):
                raise
            raise RetriableError(str(error)) from error
        self._crashes = 0
        failures = [report for report in reports if "error" in report]
        for report in failures:
            if not report["error"]["transient"]:
                raise _TaskFailed(report["task"], report["error"]["trace"])
        if failures:
            raise RetriableError(failures[0]["error"]["message"])
        planner.done(plans, reports)
        for report in reports:
            if report["task"] < len(self._metrics):
                self._metrics[report["task"]].add(report)
        records = sum(report["records"] for report in reports)
        log.debug("Connector %s: %d records in %.3f s", self.job.name, records, time.monotonic() - begun)
        topics = planner.topics(plans).union(*(report["topics"] for report in reports))
        if not topics <= self._topics:
            self._topics |= topics
            self._guard(lambda: self._listener.topics_used(self.job.name, topics))

    def _wait(self, seconds: float | None) -> None:
        """Until something changes, or that long."""
        with self._changed:
            paused = self.paused
            self._changed.wait_for(lambda: self._stopping or self.paused != paused, seconds)

    def _fail(self, error: Exception) -> None:
        if self._stopping:
            return
        self._told = FAILED
        trace = (
            error.trace
            if isinstance(error, _TaskFailed)
            else "".join(traceback.format_exception(type(error), error, error.__traceback__))
        )
        log.error("Connector %s failed: %s", self.job.name, trace.strip().splitlines()[-1])
        failed = error.task if isinstance(error, _TaskFailed) else None
        for task in range(len(self.job.tasks)):
            text = (
                trace
                if failed in {None, task}
                else f"Task {failed} failed, and with it the connector's query.\n{trace}"
            )
            self._guard(lambda task=task, text=text: self._listener.task_state(self.job.name, task, FAILED, text))  # type: ignore[misc]

    def _tell(self, state: str, why: str | None = None) -> None:
        if state == self._told and why is None:
            return
        self._told = state
        self._guard(lambda: self._listener.connector_state(self.job.name, state, why))
        for task in range(len(self.job.tasks)):
            self._guard(lambda task=task: self._listener.task_state(self.job.name, task, state, why))  # type: ignore[misc]

    def _tell_metrics(self) -> None:
        now = time.monotonic()
        for task, metrics in enumerate(self._metrics):
            news = metrics.news(now)
            if news is not None:
                self._guard(lambda task=task, news=news: self._listener.task_metrics(self.job.name, task, news))  # type: ignore[misc]

    def _guard(self, tell: Callable[[], None]) -> None:
        try:
            tell()
        except Exception:
            log.exception("The state of connector %s could not be told", self.job.name)

    def _close(self) -> None:
        endings = [part.stop for part in (self._batches,) if part is not None]
        endings += [part.close for part in (self._planner,) if part is not None]
        for end in endings:
            try:
                end()
            except Exception as error:  # noqa: BLE001 - it ends, whatever connector or client say
                log.warning("Connector %s did not end well: %s", self.job.name, error)
        stop_tasks(self.job.run)
