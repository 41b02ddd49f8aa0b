"""Runs connectors on Spark: what a worker calls."""

from __future__ import annotations

import logging
import shutil
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.connect.api import CONNECTORS, connector_kind
from penstock.connect.config.secrets import NO_SECRETS, Secrets
from penstock.connect.errors import ConnectError, NotFoundError
from penstock.connect.name_in_path import name_in_path
from penstock.connect.spark.connector_run import FAILED, STOPPED, StatusListener
from penstock.connect.spark.launch import Launch, Started
from penstock.connect.spark.offsets import Offsets, SinkGroup, SourceStore
from penstock.connect.spark.worker_session import WorkerSession
from penstock.connect.validation.connector_keys import ConnectorKind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["ConnectorRunner", "StatusListener"]

log = logging.getLogger("penstock.connect")

_GRACE_MS = "task.shutdown.graceful.timeout.ms"


class ConnectorRunner:
    """Runs the connectors of a worker, each as a Spark streaming query in one session.

    Args:
        worker: The worker's settings, as texts.
        spark: A session to use; otherwise one is started with the first connector that has something to do.
        state_dir: Folder for the offsets of sources, unless `stored_offsets` is given.
        publish_offsets: Told of a source's new offsets after each batch, by connector name.
        stored_offsets: Asked for a source's offsets at each start, for offsets that belong to several workers.
    """

    def __init__(
        self,
        worker: Mapping[str, str],
        *,
        spark: SparkSession | None = None,
        state_dir: Path,
        publish_offsets: Callable[[str, Offsets], None] | None = None,
        stored_offsets: Callable[[str], Offsets] | None = None,
    ) -> None:
        self._worker = dict(worker)
        self._state_dir = Path(state_dir)
        self._publish = publish_offsets
        self._stored = stored_offsets
        self._lock = threading.Lock()
        self._runs: dict[str, Started] = {}
        self._session = WorkerSession(self._worker, spark)
        self._launch = Launch(self._worker, self._session)

    def start(
        self,
        name: str,
        config: Mapping[str, str],
        *,
        listener: StatusListener,
        paused: bool = False,
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        """Start a connector; its states are told to the listener, with secrets. Logs of tasks and letters have none.

        Raises:
            PenstockError: The configuration cannot be used, or the connector refuses to start.
        """
        with self._lock:
            if name in self._runs:
                raise ConnectError(f"Connector {name} runs already")
        context = _Context(self, name, listener)
        store = self._source_store(name)
        started = self._launch.start(
            name, config, store=store, context=context, listener=listener, paused=paused, secrets=secrets
        )
        with self._lock:
            self._runs[name] = started
        started.run.start()

    def pause(self, name: str) -> None:
        """Stop processing after the batch in hand; tasks stay."""
        self._find(name).run.pause()

    def resume(self, name: str) -> None:
        """Go on after a pause."""
        self._find(name).run.resume()

    def stop(self, name: str) -> None:
        """End a connector; its offsets stay."""
        started = self._taken(name)
        self._end(started)
        started.listener.connector_state(name, STOPPED, None)

    def restart(self, name: str) -> None:
        """Stop and start a connector with the settings it has."""
        started = self._taken(name)
        self._end(started)
        secrets = started.run.job.secrets
        self.start(name, started.config, listener=started.listener, paused=started.run.paused, secrets=secrets)

    def task_configs(self, name: str) -> list[dict[str, str]]:
        """The settings of a connector's tasks."""
        return [dict(config) for config in self._find(name).run.job.tasks]

    def close(self) -> None:
        """End all connectors, and the session if it was started here."""
        with self._lock:
            started, self._runs = list(self._runs.values()), {}
        threads = [threading.Thread(target=self._end, args=(one,)) for one in started]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._session.close()

    def offsets(self, name: str, config: Mapping[str, str]) -> Offsets:
        """Where a connector stands: `[{"partition": {...}, "offset": {...}}]`. It may be stopped."""
        if self._is_sink(config):
            return self._group(name, config).entries()
        return self._source_store(name).entries()

    def alter_offsets(self, name: str, config: Mapping[str, str], offsets: Offsets) -> None:
        """Set offsets of a stopped connector; an offset of None forgets a partition.

        Raises:
            ConnectError: It runs, or the offsets cannot be used.
        """
        self._require_stopped(name)
        if self._is_sink(config):
            self._group(name, config).alter(offsets)
        else:
            self._source_store(name).alter(_class(config), config, offsets)

    def reset_offsets(self, name: str, config: Mapping[str, str]) -> None:
        """Forget all offsets of a stopped connector."""
        self._require_stopped(name)
        if self._is_sink(config):
            self._group(name, config).reset()
        else:
            self._source_store(name).reset(_class(config), config)

    def forget(self, name: str, *, offsets: bool = False) -> None:
        """A connector was deleted. As in Kafka its offsets stay for the next one of that name, unless told otherwise."""
        with self._lock:
            runs = name in self._runs
        if runs:
            self.stop(name)
        if offsets:
            shutil.rmtree(self._folder(name), ignore_errors=True)

    def reconfigure(self, name: str) -> None:
        """Divide the work of a connector between its tasks again, if that makes a difference."""
        started = self._find(name)
        before = [{key: value for key, value in one.items() if key != "task.class"} for one in started.run.job.tasks]
        if started.connector.task_configs(int(started.config.get("tasks.max") or 1)) != before:
            self.restart(name)

    def _find(self, name: str) -> Started:
        with self._lock:
            if name not in self._runs:
                raise NotFoundError(f"Connector {name} does not run")
            return self._runs[name]

    def _taken(self, name: str) -> Started:
        with self._lock:
            started = self._runs.pop(name, None)
        if started is None:
            raise NotFoundError(f"Connector {name} does not run")
        return started

    def _end(self, started: Started) -> None:
        started.run.stop(int(self._worker.get(_GRACE_MS) or 5000) / 1000)
        try:
            started.connector.stop()
        except Exception as error:  # noqa: BLE001 - it ends, whatever it says
            log.warning("Connector %s did not stop well: %s", started.run.job.name, error)

    def _require_stopped(self, name: str) -> None:
        with self._lock:
            if name in self._runs:
                raise ConnectError(f"Connector {name} must be stopped before its offsets can be modified")

    def _group(self, name: str, config: Mapping[str, str]) -> SinkGroup:
        job = self._launch.job(name, config)
        return SinkGroup(job, self._launch.admin(job), _class(config))

    def _source_store(self, name: str) -> SourceStore:
        publish, stored = self._publish, self._stored
        return SourceStore(
            self._folder(name),
            publish=None if publish is None else lambda entries: publish(name, entries),
            stored=None if stored is None else lambda: stored(name),
        )

    def _folder(self, name: str) -> Path:
        return self._state_dir / "connectors" / name_in_path(name)

    @staticmethod
    def _is_sink(config: Mapping[str, str]) -> bool:
        return connector_kind(_class(config)) is ConnectorKind.SINK


def _class(config: Mapping[str, str]) -> Any:
    return CONNECTORS.find(config.get("connector.class", "").strip())


class _Context:
    """What a running connector may ask of its worker."""

    def __init__(self, runner: ConnectorRunner, name: str, listener: StatusListener) -> None:
        self._runner = runner
        self._name = name
        self._listener = listener

    def request_task_reconfiguration(self) -> None:
        # In a thread of its own: the connector asks from one of its threads, which a restart waits for.
        threading.Thread(target=self._reconfigure, name=f"penstock-reconfigure-{self._name}", daemon=True).start()

    def _reconfigure(self) -> None:
        try:
            self._runner.reconfigure(self._name)
        except NotFoundError:
            log.debug("Connector %s asked for tasks after its end", self._name)
        except Exception as error:  # noqa: BLE001 - connector code
            self.raise_error(error)

    def raise_error(self, error: Exception) -> None:
        trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self._listener.connector_state(self._name, FAILED, trace)
