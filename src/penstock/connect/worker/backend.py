"""What differs between a worker alone and a worker in a group: where everything is kept, and who leads."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from penstock.connect.worker.config_store import ConfigStore, MemoryConfigStore
from penstock.connect.worker.loggers import Loggers
from penstock.connect.worker.offset_store import OffsetFile, OffsetStore
from penstock.connect.worker.status_store import MemoryStatusStore, StatusStore
from penstock.connect.worker.supervisor import Supervisor
from penstock.connect.worker.worker_config import WorkerConfig


class NoLeaderError(Exception):
    """No worker leads at the moment."""


class Backend(Protocol):
    """Stores of a worker, and its place among others."""

    @property
    def configs(self) -> ConfigStore: ...

    @property
    def statuses(self) -> StatusStore: ...

    @property
    def offsets(self) -> OffsetStore: ...

    def join(self, supervisor: Supervisor, url: str) -> None:
        """The worker can be reached at that address: connectors may be started."""
        ...

    def leader_url(self) -> str | None:
        """Where the worker is that runs connectors; None if it is this one.

        Raises:
            NoLeaderError: There is none at the moment.
        """
        ...

    def catch_up(self) -> None:
        """Reads everything other workers wrote."""
        ...

    def probe(self) -> None:
        """Tries what requests need.

        Raises:
            PenstockError: They would fail.
        """
        ...

    def set_cluster_level(self, logger: str, level: str) -> None:
        """Changes a logger on all workers."""
        ...

    def close(self) -> None:
        """Leaves the others."""
        ...


class StandaloneBackend:
    """Everything in memory, offsets in a file, nobody else.

    Args:
        config: The worker's settings.
        loggers: The loggers of this process.
    """

    def __init__(self, config: WorkerConfig, loggers: Loggers) -> None:
        self.configs = MemoryConfigStore()
        self.statuses = MemoryStatusStore()
        self.offsets = OffsetFile(Path(config.values["offset.storage.file.filename"]).expanduser())
        self._loggers = loggers

    def join(self, supervisor: Supervisor, url: str) -> None:
        pass

    def leader_url(self) -> str | None:
        return None

    def catch_up(self) -> None:
        pass

    def probe(self) -> None:
        pass

    def set_cluster_level(self, logger: str, level: str) -> None:
        self._loggers.set_level(logger, level)

    def close(self) -> None:
        pass
