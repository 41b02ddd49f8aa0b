"""Logical nodes without parents: streams, tables and global tables from topics, and stores that users add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.topology.graph.graph import GraphNode
from penstock.topology.graph.tables import SourceResult
from penstock.topology.nodes import SourceNode
from penstock.topology.operators import GlobalTableSource, Operator, TableSource

if TYPE_CHECKING:
    from penstock.state.builders import StoreBuilder
    from penstock.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class Reading:
    """How a source reads its topics."""

    key_serde: Any = None
    value_serde: Any = None
    timestamp_extractor: Any = None
    offset_reset: Any = None


class StreamSourceNode(GraphNode):
    """A stream from topics or a pattern. Several of the same topics become one."""

    def __init__(
        self,
        name: str,
        topics: tuple[str, ...],
        pattern: str | None,
        reading: Reading,
        *,
        internal: bool = False,
        line: str | None = None,
    ) -> None:
        super().__init__(name, line=line)
        self.topics = topics
        self.pattern = pattern
        self.reading = reading
        self.internal = internal

    def write(self, topology: Topology) -> None:
        topology.add(source_node(self.name, self.topics, self.pattern, self.reading, self.line, internal=self.internal))


class TableSourceNode(GraphNode):
    """A table from a topic; its store is made only if the table has to be materialised."""

    def __init__(
        self,
        name: str,
        source_name: str,
        topic: str,
        reading: Reading,
        result: SourceResult,
        store: StoreBuilder,
        *,
        line: str | None,
    ) -> None:
        super().__init__(name, line=line)
        self.source_name = source_name
        self.topic = topic
        self.reading = reading
        self.result = result
        self.store = store
        self.reuse_topic = False  # set by the rule reuse.ktable.source.topics

    def write(self, topology: Topology) -> None:
        topology.add(source_node(self.source_name, (self.topic,), None, self.reading, self.line))
        write_table_source(topology, self.name, (self.source_name,), self.result, self._builder(topology), self.line)

    def _builder(self, topology: Topology) -> StoreBuilder:
        if not (self.reuse_topic and self.result.materialized):
            return self.store
        topology.source_changelogs[self.store.name] = self.topic
        return self.store.with_logging_disabled()


class GlobalStoreGraphNode(GraphNode):
    """A global table, or a global store with a user's processor."""

    def __init__(
        self,
        name: str,
        source_name: str,
        topic: str,
        reading: Reading,
        operator: Operator,
        store: StoreBuilder,
        *,
        line: str | None,
    ) -> None:
        super().__init__(name, line=line)
        self._source_name = source_name
        self._topic = topic
        self._reading = reading
        self._operator = operator
        self._store = store

    @staticmethod
    def table(store: str) -> Operator:
        """The operator of a global table."""
        return GlobalTableSource(store)

    def write(self, topology: Topology) -> None:
        source = source_node(self._source_name, (self._topic,), None, self._reading, self.line)
        topology.add_global(self._store, source, self.name, self._operator, line=self.line)


class StateStoreNode(GraphNode):
    """A store that the user added; processors connect to it by name."""

    def __init__(self, store: StoreBuilder, *, line: str | None) -> None:
        super().__init__(store.name, line=line)
        self._store = store

    def write(self, topology: Topology) -> None:
        topology.add_store(self._store, line=self.line)


def source_node(
    name: str,
    topics: tuple[str, ...],
    pattern: str | None,
    reading: Reading,
    line: str | None,
    *,
    internal: bool = False,
) -> SourceNode:
    """The physical source that reads as told."""
    return SourceNode(
        name,
        topics,
        pattern,
        reading.key_serde,
        reading.value_serde,
        reading.timestamp_extractor,
        reading.offset_reset,
        internal,
        line,
    )


def write_table_source(
    topology: Topology,
    name: str,
    parents: tuple[str, ...],
    result: SourceResult,
    store: StoreBuilder,
    line: str | None,
) -> None:
    """Add the node that turns records into table updates, with its store if it is materialised."""
    materialized = result.materialized
    topology.add_operator(
        name, TableSource(result.store if materialized else None, result.send_old), parents, line=line
    )
    if materialized:
        topology.add_store(store, name, line=line)
