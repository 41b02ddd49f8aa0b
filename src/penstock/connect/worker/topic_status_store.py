"""States in Kafka Connect's status topic.

status-connector-<name>                 {"state", "trace", "worker_id", "generation", "version"}
status-task-<name>-<n>                  the same
status-topic-<topic>:connector-<name>   {"topic": {"name", "connector", "task", "discoverTimestamp"}}
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

import orjson

from penstock.connect.worker.compacted_log import CompactedLog
from penstock.connect.worker.status_store import MemoryStatusStore, State, Status

_CONNECTOR = "status-connector-"
_TASK = "status-task-"
_TOPIC = "status-topic-"
_OF_CONNECTOR = ":connector-"


class TopicStatusStore:
    """What the status topic says; what this worker writes counts at once."""

    def __init__(self) -> None:
        self._known = MemoryStatusStore()
        self._log: CompactedLog | None = None
        # Own records that are still to be read back: they are no news, and an older one must not undo a newer one.
        self._pending: Counter[str] = Counter()
        self._lock = threading.Lock()

    def attach(self, log: CompactedLog) -> None:
        """The log that hands its records to `read`, for writing."""
        self._log = log

    def follow(self) -> None:
        """Another worker leads: what the topic says counts from now on."""
        with self._lock:
            self._pending.clear()

    # Reading.

    def connector(self, name: str) -> Status | None:
        return self._known.connector(name)

    def tasks(self, name: str) -> dict[int, Status]:
        return self._known.tasks(name)

    def topics(self, name: str) -> list[str]:
        return self._known.topics(name)

    # Writing.

    def put_connector(self, name: str, status: Status) -> None:
        self._known.put_connector(name, status)
        self._write(f"{_CONNECTOR}{name}", _status_fields(status))

    def put_task(self, name: str, task: int, status: Status | None) -> None:
        self._known.put_task(name, task, status)
        self._write(f"{_TASK}{name}-{task}", None if status is None else _status_fields(status))

    def add_topics(self, name: str, topics: Iterable[str]) -> None:
        new = [topic for topic in topics if topic not in self._known.topics(name)]
        self._known.add_topics(name, new)
        for topic in new:
            used = {"name": topic, "connector": name, "task": 0, "discoverTimestamp": int(time.time() * 1000)}
            self._write(f"{_TOPIC}{topic}{_OF_CONNECTOR}{name}", {"topic": used})

    def reset_topics(self, name: str) -> None:
        for topic in self._known.topics(name):
            self._write(f"{_TOPIC}{topic}{_OF_CONNECTOR}{name}", None)
        self._known.reset_topics(name)

    def remove(self, name: str) -> None:
        self.reset_topics(name)
        for task in self._known.tasks(name):
            self._write(f"{_TASK}{name}-{task}", None)
        self._write(f"{_CONNECTOR}{name}", None)
        self._known.remove(name)

    def _write(self, key: str, fields: dict[str, Any] | None) -> None:
        assert self._log is not None
        with self._lock:
            self._pending[key] += 1
        self._log.write_later(key, None if fields is None else orjson.dumps(fields))

    # The topic.

    def read(self, key: bytes, value: bytes | None, offset: int, timestamp: int = 0) -> None:
        """Takes in a record of the topic."""
        text = key.decode()
        with self._lock:
            if self._pending[text] > 0:
                self._pending[text] -= 1
                return
            del self._pending[text]
        fields: Any = None if value is None else orjson.loads(value)
        if text.startswith(_CONNECTOR):
            name = text[len(_CONNECTOR) :]
            if fields is None:
                self._known.remove(name)
            else:
                self._known.put_connector(name, _status(fields))
        elif text.startswith(_TASK):
            name, _, number = text[len(_TASK) :].rpartition("-")
            self._known.put_task(name, int(number), None if fields is None else _status(fields))
        elif text.startswith(_TOPIC):
            topic, _, name = text[len(_TOPIC) :].partition(_OF_CONNECTOR)
            if fields is None:
                self._known.forget_topic(name, topic)
            else:
                self._known.add_topics(name, [topic])


def _status_fields(status: Status) -> dict[str, Any]:
    fields = {
        "state": status.state.value,
        "trace": status.trace,
        "worker_id": status.worker_id,
        "generation": status.generation,
        "version": status.version,
    }
    return fields if status.metrics is None else {**fields, "metrics": dict(status.metrics)}


def _status(fields: dict[str, Any]) -> Status:
    return Status(
        State(fields["state"]),
        fields["worker_id"],
        fields.get("trace"),
        int(fields.get("generation") or 0),
        fields.get("version"),
        fields.get("metrics"),
    )
