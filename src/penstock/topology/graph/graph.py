"""Nodes of the logical graph and the graph itself.

The DSL adds a node with each call. A node knows whether it changes keys or values, so that the optimizer can move
repartition steps, and writes itself to the physical topology at the end. The graph is private to one builder and
changes while the user builds; what users hold (streams, tables) never does.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from copy import copy
from typing import TYPE_CHECKING

from penstock.topology.config import TopologyConfig
from penstock.topology.naming import NameCounter
from penstock.topology.nodes import InternalTopic

if TYPE_CHECKING:
    from penstock.topology.topology import Topology


class GraphNode:
    """One operator of the logical graph.

    Attributes:
        name: Name of the physical node that children attach to.
        priority: Position in the order of writing: nodes are written as they were added, parents first.
        key_changing / value_changing: What the operator may do to records.
        merges: The node brings several streams together.
        keeps_null_keys: A left or outer join, for which records without a key matter.
        window_close: Milliseconds after its end (sessions: with the gap) that a window of this node's table closes.
        versioned: Whether the node's table is versioned; None inherits it from upstream.
        line: The user's source line.
    """

    def __init__(self, name: str, *, line: str | None = None) -> None:
        self.name = name
        self.line = line
        self.priority = -1
        self.key_changing = False
        self.value_changing = False
        self.merges = False
        self.keeps_null_keys = False
        self.window_close: int | None = None
        self.versioned: bool | None = None
        self.parents: dict[GraphNode, None] = {}
        self.children: dict[GraphNode, None] = {}
        self.written = False

    def write(self, topology: Topology) -> None:
        """Add the physical nodes of this operator."""

    def add_child(self, child: GraphNode) -> None:
        """Put a node below this one."""
        self.children[child] = None
        child.parents[self] = None

    def remove_child(self, child: GraphNode) -> None:
        """Take a node away from below this one."""
        self.children.pop(child, None)
        child.parents.pop(self, None)

    @property
    def parent_names(self) -> tuple[str, ...]:
        """Names of the parents, in the order they were added."""
        return tuple(parent.name for parent in self.parents)

    def is_versioned(self) -> bool:
        """Whether the table of this node is versioned, here or by inheritance from upstream."""
        if self.versioned is not None:
            return self.versioned
        return self.is_versioned_upstream()

    def is_versioned_upstream(self) -> bool:
        """Whether the table this node reads is versioned."""
        return any(parent.is_versioned() for parent in self.parents)


class Graph:
    """The logical graph of one builder, with its counter of names.

    Attributes:
        config: Settings the builder was made with.
        names: Where generated names come from.
        copartitioned: Groups of source names whose topics must have the same number of partitions.
        internal_topics: Topics that are not made by a repartition node: those of foreign-key joins.
        nodes: All nodes in the order they were added.
        generated_stores: Names of stores that nobody chose, in the order they were made.
        generated_topics: The same of repartition topics.
    """

    def __init__(self, config: TopologyConfig | None = None) -> None:
        self.config = config or TopologyConfig()
        self.names = NameCounter()
        self.root = GraphNode("root")
        self.root.written = True
        self.nodes: dict[GraphNode, None] = {}
        self.copartitioned: list[dict[str, None]] = []
        self.internal_topics: dict[str, InternalTopic] = {}
        self.generated_stores: dict[str, None] = {}
        self.generated_topics: dict[str, None] = {}
        self._priority = 0

    def add(self, node: GraphNode, *parents: GraphNode) -> None:
        """Put a node below others; below the root if none is given."""
        self.nodes[node] = None
        for parent in parents or (self.root,):
            parent.add_child(node)
            node.priority = self._priority
            self._priority += 1

    def store_name(self, given: str | None, prefix: str) -> tuple[str, bool]:
        """The name of a store and whether the user chose it. A given name draws no number."""
        if given is not None:
            return given, True
        name = self.names.store(prefix)
        self.generated_stores[name] = None
        return name, False

    def copartition(self, sources: Iterable[str]) -> None:
        """Demand the same number of partitions of all topics of these sources."""
        self.copartitioned.append(dict.fromkeys(sources))

    def replace_source(self, old: str, new: str) -> None:
        """A source took the place of another."""
        self.copartitioned = [dict.fromkeys(new if s == old else s for s in group) for group in self.copartitioned]

    def copy(self) -> Graph:
        """A graph with nodes of its own, for rules to change; what the nodes know of their tables stays shared."""
        made = copy(self)
        made.names = copy(self.names)
        copies = {node: copy(node) for node in [self.root, *self.nodes]}
        for node, twin in copies.items():
            twin.parents = {copies[parent]: None for parent in node.parents}
            twin.children = {copies[child]: None for child in node.children}
        made.root = copies[self.root]
        made.nodes = {copies[node]: None for node in self.nodes}
        made.copartitioned = [dict(group) for group in self.copartitioned]
        return made

    def walk(self) -> Iterator[GraphNode]:
        """Every node once, parents before children, otherwise in the order they were added."""
        queue: list[tuple[int, int, GraphNode]] = []
        seen: set[GraphNode] = {self.root}
        waiting = iter([self.root])
        while True:
            for node in waiting:
                for child in node.children:
                    if child not in seen and all(parent in seen for parent in child.parents):
                        heapq.heappush(queue, (child.priority, id(child), child))
            while queue and queue[0][2] in seen:
                heapq.heappop(queue)
            if not queue:
                return
            node = heapq.heappop(queue)[2]
            seen.add(node)
            yield node
            waiting = iter([node])

    def write(self, topology: Topology) -> None:
        """Write every node to the physical topology."""
        for node in self.walk():
            node.write(topology)
        topology.internal_topics.update(self.internal_topics)
        groups = [tuple(name for name in group if name in topology.nodes) for group in self.copartitioned]
        topology.copartitioned = list(dict.fromkeys(group for group in groups if len(group) > 1))
