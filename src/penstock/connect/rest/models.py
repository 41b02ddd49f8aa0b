"""Shapes of bodies, for the OpenAPI description. Answers are made as plain data; the tests hold both together."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Config = dict[str, Any]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ErrorMessage(_Body):
    """A failure."""

    error_code: int
    message: str


class ServerInfo(_Body):
    """The worker."""

    version: str = Field(description="The version of Kafka Connect whose API this is.")
    commit: str
    kafka_cluster_id: str


class Health(_Body):
    """Whether the worker can work."""

    status: str = Field(description="healthy, starting or unhealthy")
    message: str


class TaskId(_Body):
    """A task of a connector."""

    connector: str
    task: int


class ConnectorInfo(_Body):
    """A connector; references to config providers are not replaced."""

    name: str
    config: dict[str, str | None]
    tasks: list[TaskId]
    type: str = Field(description="source, sink or unknown")


class ConnectorState(_Body):
    """The state of a connector."""

    state: str
    worker_id: str
    trace: str | None = None
    version: str | None = None


class TaskState(ConnectorState):
    """The state of a task."""

    id: int
    metrics: dict[str, Any] | None = Field(
        None, description="What it has done since it was started: records, what was skipped and why. Kafka has none."
    )


class StatusInfo(_Body):
    """The states of a connector and its tasks."""

    name: str
    connector: ConnectorState
    tasks: list[TaskState]
    type: str


class TaskInfo(_Body):
    """A task and its configuration."""

    id: TaskId
    config: dict[str, str | None]


class TopicList(_Body):
    """Topics."""

    topics: list[str]


class Offset(_Body):
    """Where one part of a source or topic stands."""

    partition: dict[str, Any] | None = None
    offset: dict[str, Any] | None = None


class Offsets(_Body):
    """Where a connector stands."""

    offsets: list[Offset]


class Message(_Body):
    """A text."""

    message: str


class PluginInfo(_Body):
    """A class that configurations can name."""

    class_: str = Field(alias="class")
    type: str
    version: str | None = None


class KeyInfo(_Body):
    """The declaration of a setting."""

    name: str
    type: str
    required: bool
    default_value: str | None
    importance: str
    documentation: str
    group: str | None
    order_in_group: int
    width: str
    display_name: str
    dependents: list[str]


class ValueInfo(_Body):
    """What became of a setting."""

    name: str
    value: str | None
    recommended_values: list[str | None]
    errors: list[str]
    visible: bool


class ConfigInfo(_Body):
    """A setting."""

    definition: KeyInfo | None
    value: ValueInfo


class ConfigInfos(_Body):
    """All settings of a configuration."""

    name: str
    error_count: int
    groups: list[str]
    configs: list[ConfigInfo]


class LoggerLevel(_Body):
    """The level of a logger."""

    level: str
    last_modified: int | None


class NewLevel(BaseModel):
    """The level wanted for a logger."""

    level: str


class CreateConnector(_Body):
    """A new connector."""

    name: str
    config: dict[str, str | int | float | bool | None]
    initial_state: str | None = Field(None, description="RUNNING, PAUSED or STOPPED, in any case of letters.")


class AlterOffsets(_Body):
    """Offsets to be changed; an offset of null forgets a partition."""

    offsets: list[Offset]
