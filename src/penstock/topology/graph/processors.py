"""Logical nodes that become one processor or one sink."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from penstock.topology.graph.graph import GraphNode
from penstock.topology.graph.sources import write_table_source
from penstock.topology.graph.tables import SourceResult
from penstock.topology.nodes import SinkNode
from penstock.topology.operators import Operator

if TYPE_CHECKING:
    from penstock.state.builders import StoreBuilder
    from penstock.topology.topology import Topology


class OperatorNode(GraphNode):
    """One processor.

    Args:
        name: Name of the node.
        operator: What it does. A function is called when the graph is written, for operators that depend on what
            comes downstream (old values) or upstream (versions).
        stores: Names of stores to connect, added by other nodes.
        builders: Stores that come with the node.
        line: The user's source line.
    """

    def __init__(
        self,
        name: str,
        operator: Operator | Callable[[], Operator],
        *,
        stores: Iterable[str] = (),
        builders: Iterable[StoreBuilder] = (),
        line: str | None = None,
    ) -> None:
        super().__init__(name, line=line)
        self._operator = operator
        self._stores = tuple(stores)
        self._builders = tuple(builders)

    def write(self, topology: Topology) -> None:
        operator = self._operator if isinstance(self._operator, Operator) else self._operator()
        topology.add_operator(self.name, operator, self.parent_names, line=self.line)
        for builder in self._builders:
            topology.add_store(builder, self.name, line=self.line)
        for store in self._stores:
            topology.connect(self.name, store, line=self.line)


class StreamAsTableNode(GraphNode):
    """A stream read as a table, or the result of a foreign-key join."""

    def __init__(self, name: str, result: SourceResult, store: StoreBuilder, *, line: str | None) -> None:
        super().__init__(name, line=line)
        self._result = result
        self._store = store

    def write(self, topology: Topology) -> None:
        write_table_source(topology, self.name, self.parent_names, self._result, self._store, self.line)


class SinkGraphNode(GraphNode):
    """Writes to a topic."""

    def __init__(
        self,
        name: str,
        topic: Any,
        *,
        key_serde: Any = None,
        value_serde: Any = None,
        partitioner: Any = None,
        internal: bool = False,
        line: str | None = None,
    ) -> None:
        super().__init__(name, line=line)
        self._topic = topic
        self._key_serde = key_serde
        self._value_serde = value_serde
        self._partitioner = partitioner
        self._internal = internal

    def write(self, topology: Topology) -> None:
        topology.add(
            SinkNode(
                self.name,
                self.parent_names,
                self._topic,
                self._key_serde,
                self._value_serde,
                self._partitioner,
                self._internal,
                self.line,
            )
        )
