"""Which nodes run together: sub-topologies, connected by edges and by stores that several nodes use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode
from penstock.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class Subtopology:
    """A part of the topology that runs as tasks of its own, one for each partition of its topics.

    Attributes:
        id: Its number; `<id>_<partition>` is the name of a task.
        nodes: Names of its nodes, in the order they were added.
        source_topics: Topics it reads; internal ones without the application's id.
        source_patterns: Patterns of further topics it reads.
        sink_topics: Topics it writes and names; a sink with a topic extractor names none.
        stores: Stores of its processors.
    """

    id: int
    nodes: tuple[str, ...]
    source_topics: tuple[str, ...]
    source_patterns: tuple[str, ...]
    sink_topics: tuple[str, ...]
    stores: tuple[str, ...]


def node_groups(topology: Topology) -> dict[int, tuple[str, ...]]:
    """Number -> names of connected nodes, global stores included; numbered in the order the nodes were added."""
    groups = _Groups()
    global_sources = {g.source.name: g.processor.name for g in topology.global_stores.values()}
    for source, processor in global_sources.items():
        groups.unite([source, processor])
    users: dict[str, str] = {}
    for node in topology.nodes.values():
        groups.unite([node.name, *getattr(node, "parents", ())])
        if isinstance(node, ProcessorNode):
            for store in node.stores:
                groups.unite([users.setdefault(store, node.name), node.name])
    numbers: dict[str, int] = {}
    found: dict[int, list[str]] = {}
    for name in dict.fromkeys([*topology.added, *topology.nodes]):
        number = numbers.setdefault(groups.root(name), len(numbers))
        found.setdefault(number, []).append(name)
    return {number: tuple(names) for number, names in found.items()}


def subtopologies(topology: Topology) -> tuple[Subtopology, ...]:
    """All sub-topologies but those of global stores."""
    return tuple(
        _describe(number, [topology.nodes[name] for name in names])
        for number, names in node_groups(topology).items()
        if names[0] in topology.nodes
    )


def _describe(number: int, nodes: list[Node]) -> Subtopology:
    sources = [n for n in nodes if isinstance(n, SourceNode)]
    return Subtopology(
        number,
        tuple(n.name for n in nodes),
        tuple(topic for n in sources for topic in n.topics),
        tuple(n.pattern for n in sources if n.pattern is not None),
        tuple(dict.fromkeys(n.topic for n in nodes if isinstance(n, SinkNode) and isinstance(n.topic, str))),
        tuple(dict.fromkeys(store for n in nodes if isinstance(n, ProcessorNode) for store in n.stores)),
    )


class _Groups:
    """Sets of names that grow together."""

    def __init__(self) -> None:
        self._up: dict[str, str] = {}

    def root(self, name: str) -> str:
        self._up.setdefault(name, name)
        while self._up[name] != name:
            self._up[name] = self._up[self._up[name]]
            name = self._up[name]
        return name

    def unite(self, names: Iterable[str]) -> None:
        first, *rest = (self.root(name) for name in names)
        for other in rest:
            self._up[self.root(other)] = self.root(first)
