"""A runner without Spark: it keeps what it was told, and tells the states a real one would."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, ConfigValue
from penstock.connect.config.secrets import NO_SECRETS, Secrets
from penstock.connect.config.validators import NonEmpty
from penstock.connect.errors import ConnectError, NotFoundError
from penstock.connect.plugins import Plugin
from penstock.connect.validation import ConnectorKind
from penstock.connect.worker.config_store import ConfigStore, MemoryConfigStore
from penstock.connect.worker.connector_check import ConnectorCheck
from penstock.connect.worker.connector_types import ConnectorType
from penstock.connect.worker.herder import Herder
from penstock.connect.worker.runner_api import Offsets, StatusListener
from penstock.connect.worker.status_store import MemoryStatusStore, StatusStore
from penstock.connect.worker.supervisor import Supervisor
from penstock.connect.worker.worker_config import Mode, WorkerConfig

SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
WORKER = {
    "bootstrap.servers": "localhost:9092",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    "offset.storage.file.filename": "offsets",
}


def _refuse_root(settings: Mapping[str, str]) -> list[ConfigValue]:
    """A check of the class itself."""
    return [ConfigValue("file", errors=["The root folder is no file"])] if settings.get("file") == "/" else []


class Types:
    """Two classes of connectors."""

    def __init__(self) -> None:
        file = ConfigKey(name="file", default=None, doc="The file.")
        secret = ConfigKey(name="secret", type=ConfigType.PASSWORD, default=None, doc="A password.")
        topic = ConfigKey(name="topic", validator=NonEmpty(), doc="The topic.")
        source = ConfigDef(file, topic, secret)
        self._known = [
            ConnectorType(SOURCE, ConnectorKind.SOURCE, "1.0", source, _refuse_root),
            ConnectorType(SINK, ConnectorKind.SINK, "1.0", ConfigDef(file), _refuse_root),
        ]

    def find(self, name: str) -> ConnectorType:
        from penstock.connect.errors import ConfigError

        for one in self._known:
            simple = Plugin(one.java_name, "").simple_name
            if name in {one.java_name, simple, simple.removesuffix("Connector")}:
                return one
        raise ConfigError(f"Class {name} could not be found.", hint="Known are two.")

    def __iter__(self) -> Iterator[ConnectorType]:
        return iter(self._known)


@dataclass
class Started:
    config: dict[str, str]
    listener: StatusListener
    paused: bool


@dataclass
class InProcessRunner:
    """Runs nothing, tells everything."""

    running: dict[str, Started] = field(default_factory=dict)
    kept: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    hanging: threading.Event | None = None
    refusing: str | None = None

    def start(
        self,
        name: str,
        config: Mapping[str, str],
        *,
        listener: StatusListener,
        paused: bool = False,
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        self.calls.append(("start", name))
        if self.hanging is not None:
            self.hanging.wait(30)
        if self.refusing is not None:
            raise ConnectError(self.refusing)
        self.running[name] = Started(dict(config), listener, paused)
        self._tell(name)
        listener.topics_used(name, {config["topic"]} if "topic" in config else set(config["topics"].split(",")))

    def _tell(self, name: str) -> None:
        one = self.running[name]
        state = "PAUSED" if one.paused else "RUNNING"
        one.listener.connector_state(name, state, None)
        for task in range(len(self.task_configs(name))):
            one.listener.task_state(name, task, state, None)

    def pause(self, name: str) -> None:
        self.calls.append(("pause", name))
        self.running[name].paused = True
        self._tell(name)

    def resume(self, name: str) -> None:
        self.calls.append(("resume", name))
        self.running[name].paused = False
        self._tell(name)

    def stop(self, name: str) -> None:
        self.calls.append(("stop", name))
        if name not in self.running:
            raise NotFoundError(f"Connector {name} does not run")
        one = self.running.pop(name)
        one.listener.connector_state(name, "STOPPED", None)

    def fail(self, name: str, trace: str) -> None:
        """What a query that failed tells."""
        self.calls.append(("fail", name))
        self.running[name].listener.task_state(name, 0, "FAILED", trace)

    def task_configs(self, name: str) -> list[dict[str, str]]:
        config = self.running[name].config
        return [{**config, "task": str(task)} for task in range(int(config.get("tasks.max", "1")))]

    def offsets(self, name: str, config: Mapping[str, str]) -> Offsets:
        return self.kept.get(name, [])

    def alter_offsets(self, name: str, config: Mapping[str, str], offsets: Offsets) -> None:
        assert name not in self.running
        self.kept[name] = [dict(one) for one in offsets if one["offset"] is not None]

    def reset_offsets(self, name: str, config: Mapping[str, str]) -> None:
        assert name not in self.running
        self.kept.pop(name, None)

    def forget(self, name: str, *, offsets: bool = False) -> None:
        assert name not in self.running
        if offsets:
            self.kept.pop(name, None)

    def close(self) -> None:
        self.running.clear()


@dataclass
class Parts:
    """A worker without REST and without Spark."""

    herder: Herder
    supervisor: Supervisor
    runner: InProcessRunner
    configs: ConfigStore
    statuses: StatusStore

    def settle(self) -> None:
        """Waits until everything that was asked for is done."""
        assert self.supervisor.settle(30) == []


def parts(
    settings: Mapping[str, str] | None = None, *, stored_offsets: Callable[[str], Offsets] = lambda name: ()
) -> Parts:
    """A worker with those settings on top of the usual ones."""
    worker = WorkerConfig.parse({**WORKER, **(settings or {})}, Mode.STANDALONE)
    check = ConnectorCheck(worker, Types())
    configs, statuses, runner = MemoryConfigStore(), MemoryStatusStore(), InProcessRunner()
    supervisor = Supervisor(runner, configs, statuses, check, worker_id="host:8083", stored_offsets=stored_offsets)
    herder = Herder(configs, statuses, supervisor, check, kafka_cluster_id="cluster")
    return Parts(herder, supervisor, runner, configs, statuses)
