"""Connectors: they check a configuration and divide the work between tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from importlib.metadata import version
from typing import Any, ClassVar, Protocol

from penstock.connect.api.sink_task import SinkTask
from penstock.connect.api.source_task import Offset, Partition, SourceTask
from penstock.connect.config import ConfigDef, ConfigValue


class ConnectorContext(Protocol):
    """What a running connector may ask of its worker."""

    def request_task_reconfiguration(self) -> None:
        """The work has to be divided again, for instance because there are new tables."""
        ...

    def raise_error(self, error: Exception) -> None:
        """The connector cannot go on: it becomes FAILED."""
        ...


class ExactlyOnceSupport(Enum):
    """Whether a source can deliver exactly once with its settings."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"


class Connector:
    """A connection to another system. Write a subclass of SourceConnector or SinkConnector.

    Attributes:
        CONFIG: The settings it understands; validation, documentation and REST answers are made from it.
        VERSION: Its version, as REST shows it.

    Args:
        config: The connector's configuration: texts, values from config providers put in.
    """

    CONFIG: ClassVar[ConfigDef] = ConfigDef()
    VERSION: ClassVar[str] = version("penstock")

    def __init__(self, config: Mapping[str, str]) -> None:
        self.config = dict(config)
        self.settings: dict[str, Any] = self.CONFIG.parse(config)

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> Iterable[ConfigValue]:
        """What is wrong with settings that depend on each other; single settings are checked by CONFIG.

        Raises:
            ConfigError: The same as returning its message for its key.
        """
        return ()

    def start(self, context: ConnectorContext) -> None:
        """Begin: look at the other system, watch it for changes. Called once, before the tasks are made."""

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """The configuration of each task, at most that many. One task with the connector's own settings unless overridden."""
        return [dict(self.config)]

    def stop(self) -> None:
        """End what `start` began."""


class SourceConnector(Connector):
    """Brings records into Kafka.

    Attributes:
        TASK: The class of its tasks.
    """

    TASK: ClassVar[type[SourceTask]]

    @classmethod
    def exactly_once_support(cls, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Whether records can be delivered exactly once: tasks that read the same range again must give the same records."""
        return ExactlyOnceSupport.SUPPORTED

    @classmethod
    def alter_offsets(
        cls, config: Mapping[str, str], offsets: Iterable[tuple[Partition | None, Offset | None]]
    ) -> None:
        """Check offsets somebody wants to set while the connector is stopped; None forgets one.

        Raises:
            ConnectError: They cannot be used.
        """


class SinkConnector(Connector):
    """Takes records out of Kafka.

    Attributes:
        TASK: The class of its tasks.
    """

    TASK: ClassVar[type[SinkTask]]

    @classmethod
    def alter_offsets(cls, config: Mapping[str, str], offsets: Mapping[tuple[str, int], int | None]) -> None:
        """Somebody sets offsets while the connector is stopped; None forgets one.

        A sink that keeps offsets in its target to recognise records it has written must change them here.

        Raises:
            ConnectError: They cannot be used.
        """

    @classmethod
    def reset_offsets(cls, config: Mapping[str, str]) -> None:
        """Somebody forgets all offsets while the connector is stopped; see `alter_offsets`."""

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """As many tasks as allowed; the partitions of the topics are divided between them."""
        return [dict(self.config) for _ in range(max_tasks)]
