"""The nodes of a topology: sources, processors and sinks. Immutable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.topology.operators.base import Operator


@dataclass(frozen=True, slots=True)
class SourceNode:
    """Reads topics, or all topics that match a pattern.

    Serdes are None where the configuration's default is to be taken. `internal` topics get the application's id
    as prefix when the topology runs.
    """

    name: str
    topics: tuple[str, ...]
    pattern: str | None = None
    key_serde: Any = None
    value_serde: Any = None
    timestamp_extractor: Any = None
    offset_reset: Any = None
    internal: bool = False
    line: str | None = None


@dataclass(frozen=True, slots=True)
class ProcessorNode:
    """Does what its operator says to the records of its parents."""

    name: str
    parents: tuple[str, ...]
    operator: Operator
    stores: tuple[str, ...] = ()
    line: str | None = None


@dataclass(frozen=True, slots=True)
class SinkNode:
    """Writes the records of its parents to a topic, or to the topic a function names."""

    name: str
    parents: tuple[str, ...]
    topic: str | Callable[..., str]
    key_serde: Any = None
    value_serde: Any = None
    partitioner: Any = None
    internal: bool = False
    line: str | None = None


@dataclass(frozen=True, slots=True)
class GlobalStoreNode:
    """A store that every task reads whole: its source, the processor that keeps it up to date, and its name."""

    source: SourceNode
    processor: ProcessorNode
    store: str
    builder: Any = None


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """A repartition topic (or a foreign-key join's), by its name without the application's id."""

    name: str
    partitions: int | None = None  # None: as many as the largest topic upstream, or of its co-partition group
    configs: tuple[tuple[str, str], ...] = field(default=())


Node = SourceNode | ProcessorNode | SinkNode
