"""What a worker needs of the one that runs connectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from penstock.connect.config.secrets import NO_SECRETS, Secrets

Offsets = Sequence[Mapping[str, Any]]
"""Entries `{"partition": {...}, "offset": {...}}`; an offset of None forgets the partition."""


class StatusListener(Protocol):
    """Hears what becomes of connectors and tasks, from any thread."""

    def connector_state(self, name: str, state: str, trace: str | None) -> None:
        """The state of a connector changed."""
        ...

    def task_state(self, name: str, task: int, state: str, trace: str | None) -> None:
        """The state of a task changed."""
        ...

    def task_metrics(self, name: str, task: int, metrics: Mapping[str, Any]) -> None:
        """What a task has done since it was started: records, and what was skipped and why."""
        ...

    def topics_used(self, name: str, topics: set[str]) -> None:
        """A connector read or wrote topics."""
        ...


class Runner(Protocol):
    """Runs connectors; `penstock.connect.runner.ConnectorRunner` does it on Spark."""

    def start(
        self,
        name: str,
        config: Mapping[str, str],
        *,
        listener: StatusListener,
        paused: bool = False,
        secrets: Secrets = NO_SECRETS,
    ) -> None: ...

    def pause(self, name: str) -> None: ...

    def resume(self, name: str) -> None: ...

    def stop(self, name: str) -> None: ...

    def task_configs(self, name: str) -> list[dict[str, str]]: ...

    def offsets(self, name: str, config: Mapping[str, str]) -> Offsets: ...

    def alter_offsets(self, name: str, config: Mapping[str, str], offsets: Offsets) -> None: ...

    def reset_offsets(self, name: str, config: Mapping[str, str]) -> None: ...

    def forget(self, name: str, *, offsets: bool = False) -> None: ...

    def close(self) -> None: ...
