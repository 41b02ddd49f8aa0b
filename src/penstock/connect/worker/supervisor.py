"""Brings what runs in line with what is wanted, connector by connector."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from penstock.connect.config.config_transformer import TransformedConfig
from penstock.connect.config.secrets import Secrets
from penstock.connect.errors import NotFoundError, java_class_name
from penstock.connect.worker.auto_restart import AutoRestart
from penstock.connect.worker.config_store import Config, ConfigStore, ConnectorEntry, TargetState
from penstock.connect.worker.connector_check import ConnectorCheck
from penstock.connect.worker.runner_api import Offsets, Runner
from penstock.connect.worker.status_store import State, Status, StatusStore
from penstock.connect.worker.strands import Strands
from penstock.errors import PenstockError

log = logging.getLogger("penstock.connect.worker")
T = TypeVar("T")


@dataclass(slots=True)
class _Running:
    """A connector the runner has: what it was started with."""

    version: int
    original: Config
    paused: bool
    secrets: Secrets
    plugin_version: str | None
    started: bool = False
    config: TransformedConfig | None = None
    reload: threading.Timer | None = None
    metrics: dict[int, Mapping[str, Any]] = field(default_factory=dict)


class Supervisor:
    """Starts, pauses and stops connectors, and keeps their states. Work for one connector is done in order.

    Args:
        runner: Runs connectors.
        configs: What is wanted.
        statuses: Where states go.
        check: Knows the worker's settings and the classes.
        worker_id: This worker, host:port.
        stored_offsets: Offsets of a source that are kept outside its checkpoint.
    """

    def __init__(
        self,
        runner: Runner,
        configs: ConfigStore,
        statuses: StatusStore,
        check: ConnectorCheck,
        *,
        worker_id: str,
        stored_offsets: Callable[[str], Offsets] = lambda name: (),
    ) -> None:
        self._runner = runner
        self._configs = configs
        self._statuses = statuses
        self._check = check
        self._strands = Strands()
        self._auto_restart = AutoRestart(self._restart)
        self._running: dict[str, _Running] = {}
        self._quiet: set[str] = set()
        self._lock = threading.RLock()
        self._stored_offsets = stored_offsets
        self.worker_id = worker_id
        self.generation = 0
        self.leading = True

    # What the herder asks for.

    def reconcile(self, name: str) -> Future[None]:
        """Brings a connector in line with its entry; a failure to start is its state, not an error here."""
        return self._strands.submit(name, lambda: self._reconcile(name))

    def restart(self, name: str) -> Future[None]:
        """Ends a connector and starts it again, with references looked up anew."""
        self._auto_restart.forget(name)
        return self._restart(name)

    def _restart(self, name: str) -> Future[None]:
        def work() -> None:
            self._end(name)
            self._reconcile(name)

        return self._strands.submit(name, work)

    def remove(self, entry: ConnectorEntry, *, offsets: bool = False) -> Future[None]:
        """Ends a connector that is no longer wanted; with `offsets`, also forgets where it was."""
        self._auto_restart.forget(entry.name)

        def work() -> None:
            self._end(entry.name)
            try:
                if offsets:
                    with self._check.resolved(entry.config) as settings:
                        self._runner.reset_offsets(entry.name, settings)
                self._runner.forget(entry.name, offsets=offsets)
            except Exception as error:
                log.error("Connector %s is deleted, but not all it left behind: %s", entry.name, error)  # noqa: TRY400 - it may be an answer, too
                raise
            finally:
                if self._configs.get(entry.name) is None:
                    self._statuses.remove(entry.name)

        return self._strands.submit(entry.name, work)

    def offsets(self, entry: ConnectorEntry) -> Offsets:
        """Where a connector stands."""
        with self._check.resolved(entry.config) as settings:
            return self._runner.offsets(entry.name, settings)

    def alter_offsets(self, entry: ConnectorEntry, offsets: Offsets | None) -> Future[None]:
        """Changes where a stopped connector stands; None resets it."""

        def work() -> None:
            with self._check.resolved(entry.config) as settings:
                if offsets is None:
                    self._runner.reset_offsets(entry.name, settings)
                else:
                    self._runner.alter_offsets(entry.name, settings, offsets)

        return self._strands.submit(entry.name, work)

    @property
    def secrets(self) -> Secrets:
        """What must not appear anywhere: the worker's secrets, and those of connectors that run."""
        with self._lock:
            running = [one.secrets for one in self._running.values()]
        return self._check.worker.secrets.union(*running)

    def stop_all(self, timeout: float) -> list[str]:
        """Ends all connectors without a change of what is wanted; those that did not end in time are returned."""
        with self._lock:
            names = list(self._running)
        for name in names:
            self._auto_restart.forget(name)
            self._strands.submit(name, lambda name=name: self._end(name))  # type: ignore[misc]
        return self.settle(timeout)

    def settle(self, timeout: float) -> list[str]:
        """Waits until everything that was asked for is done; the connectors that are not ready in time."""
        return self._strands.wait(timeout)

    # What the runner tells.

    def connector_state(self, name: str, state: str, trace: str | None) -> None:
        """The state of a connector changed."""
        running = self._heard(name)
        if running is not None:
            self._statuses.put_connector(name, self._status(name, State(state), trace, running))
            if running.started:
                # It may have divided its work anew.
                self._strands.submit(name, lambda: self._refresh_tasks(name, running))

    def task_state(self, name: str, task: int, state: str, trace: str | None) -> None:
        """The state of a task changed."""
        running = self._heard(name)
        if running is not None:
            status = self._status(name, State(state), trace, running)
            self._statuses.put_task(name, task, replace(status, metrics=running.metrics.get(task)))

    def task_metrics(self, name: str, task: int, metrics: Mapping[str, Any]) -> None:
        """What a task has done since it was started."""
        running = self._heard(name)
        known = self._statuses.tasks(name).get(task)
        if running is not None and known is not None:
            running.metrics[task] = {
                key: self._redacted(value, running) if isinstance(value, str) else value
                for key, value in metrics.items()
            }
            self._statuses.put_task(name, task, replace(known, metrics=running.metrics[task]))

    def topics_used(self, name: str, topics: set[str]) -> None:
        """A connector read or wrote topics."""
        if self._check.worker.values["topic.tracking.enable"] and self._heard(name) is not None:
            self._statuses.add_topics(name, sorted(topics))

    def _heard(self, name: str) -> _Running | None:
        """The connector, unless it is being ended: what it says then is no news."""
        with self._lock:
            return None if name in self._quiet else self._running.get(name)

    def _status(self, name: str, state: State, trace: str | None, running: _Running) -> Status:
        shown = None if trace is None else self._redacted(trace, running)
        if state is State.FAILED:
            settings = running.original if running.config is None else running.config.settings
            shown = f"{shown or ''}{self._auto_restart.failed(name, settings)}"
        return Status(state, self.worker_id, shown, self.generation, running.plugin_version)

    def _redacted(self, text: str, running: _Running) -> str:
        return running.secrets.redact(text)

    # The work itself, on the connector's own thread.

    def _reconcile(self, name: str) -> None:
        entry = self._configs.get(name)
        with self._lock:
            running = self._running.get(name)
        if entry is None or not self.leading:
            self._auto_restart.forget(name)
            self._end(name)
        elif entry.target is TargetState.STOPPED:
            self._auto_restart.forget(name)
            self._end(name)
            self._stopped(entry)
        elif running is None or running.version != entry.version:
            if running is not None:
                self._auto_restart.forget(name)
            self._end(name)
            self._start(entry)
        elif running.paused != (entry.target is TargetState.PAUSED):
            if running.started:
                self._pause_or_resume(entry, running)
            else:
                # It could not be started; somebody who wants it in another state wants it to be tried again.
                self._end(name)
                self._start(entry)

    def _pause_or_resume(self, entry: ConnectorEntry, running: _Running) -> None:
        paused = entry.target is TargetState.PAUSED
        running.paused = paused
        self._guarded(
            entry, running, lambda: self._runner.pause(entry.name) if paused else self._runner.resume(entry.name)
        )

    def _start(self, entry: ConnectorEntry) -> None:
        paused = entry.target is TargetState.PAUSED
        secrets = self._check.worker.secrets  # until its own are known
        running = _Running(entry.version, entry.config, paused, secrets, self._check.version(entry.config))
        with self._lock:
            if not self.leading:
                return  # it was ended for another worker just now, and would not be ended again
            self._running[entry.name] = running

        def start() -> None:
            config = self._check.worker.transformer.transform(entry.config)
            running.config, running.secrets = config, self._check.secrets(config)
            settings = {key: value for key, value in config.settings.items() if value is not None}
            self._restore_offsets(entry, settings)
            self._runner.start(entry.name, settings, listener=self, paused=paused, secrets=running.secrets)
            running.started = True
            self._put_tasks(entry.name, config)
            self._reload_later(entry.name, running, config)

        self._guarded(entry, running, start)

    def _restore_offsets(self, entry: ConnectorEntry, settings: Mapping[str, str]) -> None:
        """A source whose checkpoint is not here goes on where its kept offsets say."""
        if self._check.kind(entry.config) != "source":
            return
        stored = self._stored_offsets(entry.name)
        if stored and not self._runner.offsets(entry.name, settings):
            log.info("Connector %s has no checkpoint here; it goes on from its kept offsets", entry.name)
            self._runner.alter_offsets(entry.name, settings, stored)

    def _guarded(self, entry: ConnectorEntry, running: _Running, work: Callable[[], None]) -> None:
        """Runs connector code: what it raises is the connector's failure."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 - one connector's failure never ends another
            trace = _trace(error)
            log.error("Connector %s failed: %s", entry.name, running.secrets.redact(str(error)))  # noqa: TRY400 - the trace is its state
            self._statuses.put_connector(entry.name, self._status(entry.name, State.FAILED, trace, running))

    def _end(self, name: str) -> None:
        with self._lock:
            running = self._running.get(name)
            if running is None:
                return
            self._quiet.add(name)
            if running.reload is not None:
                running.reload.cancel()
        try:
            self._runner.stop(name)
        except NotFoundError:
            log.debug("Connector %s did not run", name)  # it failed before it had started
        except Exception as error:  # noqa: BLE001 - it has to end, whatever it says
            log.warning("Connector %s did not end well: %s", name, running.secrets.redact(str(error)))
        finally:
            with self._lock:
                self._quiet.discard(name)
                self._running.pop(name, None)

    def _stopped(self, entry: ConnectorEntry) -> None:
        """A stopped connector has no tasks."""
        if entry.tasks:
            self._configs.put_tasks(entry.name, ())
        for task in self._statuses.tasks(entry.name):
            self._statuses.put_task(entry.name, task, None)
        status = Status(State.STOPPED, self.worker_id, None, self.generation, self._check.version(entry.config))
        self._statuses.put_connector(entry.name, status)

    def _refresh_tasks(self, name: str, running: _Running) -> None:
        with self._lock:
            is_current = self._running.get(name) is running
        try:
            if is_current and running.config is not None:
                self._put_tasks(name, running.config)
        except NotFoundError:
            pass  # it has just ended

    def _put_tasks(self, name: str, config: TransformedConfig) -> None:
        tasks = [shown_task(task, config) for task in self._runner.task_configs(name)]
        for task in self._statuses.tasks(name):
            if task >= len(tasks):
                self._statuses.put_task(name, task, None)
        entry = self._configs.get(name)
        if entry is not None and list(entry.tasks) != tasks:
            self._configs.put_tasks(name, tasks)

    def _reload_later(self, name: str, running: _Running, config: TransformedConfig) -> None:
        """A connector whose references are good for a time only is restarted after it."""
        delay = config.restart_after_ms
        if delay is None or (config.settings.get("config.action.reload") or "restart").strip().lower() == "none":
            return
        running.reload = threading.Timer(delay / 1000, lambda: self.restart(name))
        running.reload.daemon = True
        running.reload.start()


def shown_task(task: Mapping[str, str], config: TransformedConfig) -> dict[str, str]:
    """A task's configuration as it may be kept and shown: references in place of what they stand for."""
    shown = {}
    for name, value in task.items():
        original: Any = config.original.get(name)
        same = original is not None and config.settings.get(name) == value
        shown[name] = str(original) if same else config.secrets.redact(value)
    return shown


def _trace(error: BaseException) -> str:
    """The text of a failure as states show it: its Java class and message first, as readers of Kafka expect."""
    message = str(error) if isinstance(error, PenstockError) else f"{error}"
    return f"{java_class_name(error)}: {message}\n{''.join(traceback.format_exception(error))}".rstrip()
