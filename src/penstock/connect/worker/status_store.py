"""States of connectors and tasks, and the topics they use."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol


class State(str, Enum):
    """The state of a connector or task."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"


@dataclass(frozen=True, slots=True)
class Status:
    """What is known of a connector or a task.

    Attributes:
        state: Its state.
        worker_id: The worker it is on, host:port.
        trace: Why it failed; None if it did not.
        generation: Counts changes of leadership.
        version: Version of the connector.
        metrics: What a task has done since it was started; Kafka's own workers leave it aside.
    """

    state: State
    worker_id: str
    trace: str | None = None
    generation: int = 0
    version: str | None = None
    metrics: Mapping[str, Any] | None = None


class StatusStore(Protocol):
    """Where states are kept."""

    def connector(self, name: str) -> Status | None:
        """The status of a connector."""
        ...

    def tasks(self, name: str) -> dict[int, Status]:
        """The statuses of its tasks, in order."""
        ...

    def put_connector(self, name: str, status: Status) -> None:
        """Changes the status of a connector."""
        ...

    def put_task(self, name: str, task: int, status: Status | None) -> None:
        """Changes the status of a task; None forgets it."""
        ...

    def topics(self, name: str) -> list[str]:
        """The topics a connector used since the last reset."""
        ...

    def add_topics(self, name: str, topics: Iterable[str]) -> None:
        """Remembers topics."""
        ...

    def reset_topics(self, name: str) -> None:
        """Forgets the topics of a connector."""
        ...

    def remove(self, name: str) -> None:
        """Forgets a connector, its tasks and its topics."""
        ...


class MemoryStatusStore:
    """Statuses in memory, for standalone workers."""

    def __init__(self) -> None:
        self._connectors: dict[str, Status] = {}
        self._tasks: dict[str, dict[int, Status]] = {}
        self._topics: dict[str, dict[str, int]] = {}
        self._lock = threading.Lock()

    def connector(self, name: str) -> Status | None:
        with self._lock:
            return self._connectors.get(name)

    def tasks(self, name: str) -> dict[int, Status]:
        with self._lock:
            return dict(sorted(self._tasks.get(name, {}).items()))

    def put_connector(self, name: str, status: Status) -> None:
        with self._lock:
            self._connectors[name] = status

    def put_task(self, name: str, task: int, status: Status | None) -> None:
        with self._lock:
            tasks = self._tasks.setdefault(name, {})
            if status is None:
                tasks.pop(task, None)
            else:
                tasks[task] = status

    def topics(self, name: str) -> list[str]:
        with self._lock:
            return list(self._topics.get(name, {}))

    def add_topics(self, name: str, topics: Iterable[str]) -> None:
        now = int(time.time() * 1000)
        with self._lock:
            known = self._topics.setdefault(name, {})
            for topic in topics:
                known.setdefault(topic, now)

    def reset_topics(self, name: str) -> None:
        with self._lock:
            self._topics.pop(name, None)

    def forget_topic(self, name: str, topic: str) -> None:
        """Forgets one topic of a connector."""
        with self._lock:
            self._topics.get(name, {}).pop(topic, None)

    def remove(self, name: str) -> None:
        with self._lock:
            self._connectors.pop(name, None)
            self._tasks.pop(name, None)
            self._topics.pop(name, None)
