"""Configurations in Kafka Connect's config topic.

connector-<name>      {"properties": {...}}; a tombstone deletes the connector
target-state-<name>   {"state": "STARTED|PAUSED", "state.v2": "STARTED|PAUSED|STOPPED"}
task-<name>-<n>       {"properties": {...}}, effective with the next commit
commit-<name>         {"tasks": N}
logger-cluster-<ns>   {"level": "DEBUG"}
penstock-leader       {"url": "http://host:8083", "generation": N}: ours; Kafka's workers leave it aside
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from penstock.connect.worker.compacted_log import CompactedLog
from penstock.connect.worker.config_store import Config, ConnectorEntry, TargetState

_CONNECTOR = "connector-"
_TARGET = "target-state-"
_TASK = "task-"
_COMMIT = "commit-"
_LOGGER = "logger-cluster-"
_LEADER = "penstock-leader"


@dataclass(frozen=True, slots=True)
class Leader:
    """The worker that leads, and how many led before it."""

    url: str
    generation: int


class TopicConfigStore:
    """What the config topic says.

    Args:
        on_change: Called with the name of a connector whose entry changed, whoever changed it.
        on_level: Called with a logger and its level for all workers.
    """

    def __init__(self, on_change: Callable[[str], None], on_level: Callable[[str, str], None]) -> None:
        self._entries: dict[str, ConnectorEntry] = {}
        self._targets: dict[str, TargetState] = {}
        self._tasks: dict[str, dict[int, Config]] = {}
        self._lock = threading.Lock()
        self._on_change = on_change
        self._on_level = on_level
        self._log: CompactedLog | None = None
        self.leader: Leader | None = None

    def attach(self, log: CompactedLog) -> None:
        """The log that hands its records to `read`, for writing."""
        self._log = log

    # Writing.

    def put_connector(self, name: str, config: Config, target: TargetState | None = None) -> None:
        records = [(f"{_CONNECTOR}{name}", _json({"properties": dict(config)}))]
        if target is not None:
            # Before the connector itself, so that it never starts in the wrong state.
            records.insert(0, (f"{_TARGET}{name}", _target_json(target)))
        self._write(records)

    def put_target(self, name: str, target: TargetState) -> None:
        self._write([(f"{_TARGET}{name}", _target_json(target))])

    def put_tasks(self, name: str, tasks: Sequence[Config]) -> None:
        records = [(f"{_TASK}{name}-{i}", _json({"properties": dict(task)})) for i, task in enumerate(tasks)]
        self._write([*records, (f"{_COMMIT}{name}", _json({"tasks": len(tasks)}))])

    def remove(self, name: str) -> None:
        self._write([(f"{_CONNECTOR}{name}", None), (f"{_TARGET}{name}", None)])

    def put_level(self, logger: str, level: str) -> None:
        """Changes a logger on all workers."""
        self._write([(f"{_LOGGER}{logger}", _json({"level": level}))])

    def put_leader(self, leader: Leader) -> None:
        """Tells the others who leads."""
        self._write([(_LEADER, _json({"url": leader.url, "generation": leader.generation}))])

    def _write(self, records: Sequence[tuple[str, bytes | None]]) -> None:
        assert self._log is not None
        self._log.write(records)

    # Reading.

    def names(self) -> list[str]:
        with self._lock:
            return sorted(self._entries)

    def get(self, name: str) -> ConnectorEntry | None:
        with self._lock:
            return self._entries.get(name)

    def read(self, key: bytes, value: bytes | None, offset: int, timestamp: int = 0) -> None:
        """Takes in a record of the topic; records of other kinds are left aside."""
        text = key.decode()
        content: Any = None if value is None else orjson.loads(value)
        if text == _LEADER:
            self.leader = None if content is None else Leader(content["url"], content["generation"])
        elif text.startswith(_LOGGER):
            if content is not None:
                self._on_level(text[len(_LOGGER) :], content["level"])
        else:
            changed = self._take(text, content, offset)
            if changed is not None:
                self._on_change(changed)

    def _take(self, key: str, content: Any, offset: int) -> str | None:
        """The connector whose entry is another one now."""
        with self._lock:
            if key.startswith(_CONNECTOR):
                return self._take_connector(key[len(_CONNECTOR) :], content, offset)
            if key.startswith(_TARGET):
                return self._take_target(key[len(_TARGET) :], content)
            if key.startswith(_TASK):
                name, _, number = key[len(_TASK) :].rpartition("-")
                if content is not None:
                    self._tasks.setdefault(name, {})[int(number)] = _properties(content)
            elif key.startswith(_COMMIT) and content is not None:
                self._take_commit(key[len(_COMMIT) :], content["tasks"])
        return None

    def _take_connector(self, name: str, content: Any, offset: int) -> str:
        known = self._entries.get(name)
        if content is None:
            self._entries.pop(name, None)
            self._tasks.pop(name, None)
        elif known is None:
            target = self._targets.get(name, TargetState.STARTED)
            self._entries[name] = ConnectorEntry(name, _properties(content), target, version=offset)
        else:
            config = _properties(content)
            version = known.version if known.config == config else offset
            self._entries[name] = replace(known, config=config, version=version)
        return name

    def _take_target(self, name: str, content: Any) -> str | None:
        if content is None:
            self._targets.pop(name, None)
            return None
        target = TargetState(content.get("state.v2") or content["state"])
        self._targets[name] = target
        if name not in self._entries:
            return None
        self._entries[name] = replace(self._entries[name], target=target)
        return name

    def _take_commit(self, name: str, count: int) -> None:
        tasks = self._tasks.get(name, {})
        if name in self._entries and all(i in tasks for i in range(count)):
            self._entries[name] = replace(self._entries[name], tasks=tuple(tasks[i] for i in range(count)))


def _properties(content: Any) -> dict[str, Any]:
    properties = content["properties"]
    if not isinstance(properties, dict):
        raise TypeError("its properties are no object")
    return properties


def _json(content: Any) -> bytes:
    return orjson.dumps(content)


def _target_json(target: TargetState) -> bytes:
    """Workers before Kafka 3.5 know no STOPPED: to them it is paused."""
    old = TargetState.PAUSED if target is TargetState.STOPPED else target
    return _json({"state": old.value, "state.v2": target.value})
