"""Logical nodes of joins: each becomes several processors, or one that reads another node's store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import TopologyError
from penstock.functions import Function
from penstock.topology.graph.graph import GraphNode
from penstock.topology.graph.tables import JoinResult, stores_of_view
from penstock.topology.operators import (
    PassThrough,
    SelfJoin,
    StreamStreamJoin,
    StreamTableJoin,
    TableJoin,
    TableJoinMerge,
)
from penstock.windows import JoinWindows

if TYPE_CHECKING:
    from penstock.state.builders import StoreBuilder
    from penstock.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class StreamJoinNames:
    """Names of the five nodes of a stream-stream join."""

    this_windowed: str
    other_windowed: str
    this: str
    other: str
    merge: str


class StreamStreamJoinNode(GraphNode):
    """Both sides of a stream-stream join and the node where they meet.

    The nodes that keep the records of each side (`OperatorNode` with a join window) stand in front of it.
    """

    def __init__(
        self,
        names: StreamJoinNames,
        kind: str,
        windows: JoinWindows,
        joiner: Function,
        this_store: str,
        other_store: str,
        outer_store: StoreBuilder | None,
        *,
        line: str | None,
    ) -> None:
        super().__init__(names.merge, line=line)
        self.names = names
        self.kind = kind
        self.self_join = False  # set by the rule single.store.self.join
        self._windows = windows
        self._joiner = joiner
        self._this_store = this_store
        self._other_store = other_store
        self._outer_store = outer_store
        self.keeps_null_keys = kind != "inner"

    def write(self, topology: Topology) -> None:
        names = self.names
        if self.self_join:
            operator = SelfJoin(self._this_store, self._windows, self._joiner)
            topology.add_operator(
                names.merge, operator, (names.this_windowed,), stores=(self._this_store,), line=self.line
            )
            return
        self._write_side(topology, "left", names.this, names.this_windowed, self._other_store)
        self._write_side(topology, "right", names.other, names.other_windowed, self._this_store)
        topology.add_operator(names.merge, PassThrough(), (names.this, names.other), line=self.line)

    def _write_side(self, topology: Topology, side: str, name: str, parent: str, other_store: str) -> None:
        outer = self._outer_store
        operator = StreamStreamJoin(
            self.kind,
            side,
            other_store,
            outer.name if outer is not None else None,
            self._windows,
            self._joiner,
            tracker=self.names.merge,
        )
        topology.add_operator(name, operator, (parent,), stores=(other_store,), line=self.line)
        if outer is not None:
            topology.add_store(outer, name, line=self.line)


class StreamTableJoinNode(GraphNode):
    """A stream that looks rows of a table up, with a buffer if it waits for the table."""

    def __init__(self, name: str, operator: StreamTableJoin, buffer: StoreBuilder | None, *, line: str | None) -> None:
        super().__init__(name, line=line)
        self._operator = operator
        self._buffer = buffer
        self.keeps_null_keys = operator.left

    def write(self, topology: Topology) -> None:
        stores = stores_of_view(self._operator.table)
        if self._operator.grace is not None:
            for store in stores:
                self._check_history(topology.stores[store], self._operator.grace)
        topology.add_operator(self.name, self._operator, self.parent_names, stores=stores, line=self.line)
        if self._buffer is not None:
            topology.add_store(self._buffer, self.name, line=self.line)

    def _check_history(self, table: StoreBuilder, grace: int) -> None:
        if table.kind != "versioned":
            raise TopologyError(
                f"a grace period needs a versioned table, and the store {table.name} keeps no versions",
                node=self.name,
                line=self.line,
                hint='Give the table a history: builder.table(topic, versioned="1h").',
            )
        history = table.retention_ms or 0
        if grace > history:
            raise TopologyError(
                f"the grace period of {grace} ms is longer than the history of {history} ms of the store {table.name}",
                node=self.name,
                line=self.line,
                hint="Make the grace shorter or the history longer.",
            )


class TableTableJoinNode(GraphNode):
    """Both sides of a table-table join on the same key and the node where they meet."""

    def __init__(
        self,
        names: tuple[str, str, str],
        kind: str,
        sides: tuple[GraphNode, GraphNode],
        result: JoinResult,
        joiner: Function,
        store: StoreBuilder | None,
        *,
        line: str | None,
    ) -> None:
        this, other, merge = names
        super().__init__(merge, line=line)
        self._this = this
        self._other = other
        self._kind = kind
        self._sides = sides
        self._result = result
        self._joiner = joiner
        self._store = store

    def write(self, topology: Topology) -> None:
        left, right = self._sides
        self._write_side(topology, "left", self._this, left)
        self._write_side(topology, "right", self._other, right)
        merge = TableJoinMerge(self._result.store, self._result.send_old)
        topology.add_operator(self.name, merge, (self._this, self._other), line=self.line)
        if self._store is not None:
            topology.add_store(self._store, self.name, line=self.line)

    def _write_side(self, topology: Topology, side: str, name: str, parent: GraphNode) -> None:
        result = self._result
        own, other = result.left_view, result.right_view
        if side == "right":
            own, other = other, own
        operator = TableJoin(self._kind, side, other, self._joiner, result.send_old, parent.is_versioned(), own)
        topology.add_operator(name, operator, (parent.name,), stores=stores_of_view(other), line=self.line)
