"""Connector configurations, wanted states and task configurations."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

Config = Mapping[str, "str | None"]


class TargetState(Enum):
    """The state a connector is wanted in; outlives restarts and changes of its configuration."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


@dataclass(frozen=True, slots=True)
class ConnectorEntry:
    """A connector as it is wanted.

    Attributes:
        name: Its name.
        config: Its configuration, with references to config providers.
        target: The state it is wanted in.
        tasks: Configurations of its tasks, with references.
        version: Differs whenever the configuration changed, also if the connector was deleted in between.
    """

    name: str
    config: Config
    target: TargetState
    tasks: Sequence[Config] = ()
    version: int = 0


class ConfigStore(Protocol):
    """Where entries are kept. Changes are seen by `get` when a call returns."""

    def names(self) -> list[str]:
        """All connectors, in the order of their names."""
        ...

    def get(self, name: str) -> ConnectorEntry | None:
        """A connector, or None."""
        ...

    def put_connector(self, name: str, config: Config, target: TargetState | None = None) -> None:
        """Creates a connector or changes its configuration; target None keeps the state, STARTED for a new one."""
        ...

    def put_target(self, name: str, target: TargetState) -> None:
        """Changes the wanted state of a connector."""
        ...

    def put_tasks(self, name: str, tasks: Sequence[Config]) -> None:
        """Changes the tasks of a connector."""
        ...

    def remove(self, name: str) -> None:
        """Deletes a connector."""
        ...


class MemoryConfigStore:
    """Entries in memory, for standalone workers: what came by REST is gone when the worker ends."""

    def __init__(self) -> None:
        self._entries: dict[str, ConnectorEntry] = {}
        self._versions = itertools.count(1)
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        with self._lock:
            return sorted(self._entries)

    def get(self, name: str) -> ConnectorEntry | None:
        with self._lock:
            return self._entries.get(name)

    def put_connector(self, name: str, config: Config, target: TargetState | None = None) -> None:
        with self._lock:
            known = self._entries.get(name)
            if known is None:
                wanted = target or TargetState.STARTED
                self._entries[name] = ConnectorEntry(name, dict(config), wanted, version=next(self._versions))
                return
            version = known.version if known.config == config else next(self._versions)
            self._entries[name] = replace(known, config=dict(config), target=target or known.target, version=version)

    def put_target(self, name: str, target: TargetState) -> None:
        self._change(name, lambda entry: replace(entry, target=target))

    def put_tasks(self, name: str, tasks: Sequence[Config]) -> None:
        self._change(name, lambda entry: replace(entry, tasks=tuple(tasks)))

    def remove(self, name: str) -> None:
        with self._lock:
            self._entries.pop(name, None)

    def _change(self, name: str, change: _Change) -> None:
        with self._lock:
            if name in self._entries:
                self._entries[name] = change(self._entries[name])


class _Change(Protocol):
    def __call__(self, entry: ConnectorEntry, /) -> ConnectorEntry: ...
