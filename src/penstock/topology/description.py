"""What a topology looks like: as Kafka's text, as objects, as JSON and as a mermaid diagram."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from penstock.topology import mermaid
from penstock.topology.java_order import TreeSet, hash_order
from penstock.topology.nodes import GlobalStoreNode, Node, ProcessorNode, SinkNode, SourceNode
from penstock.topology.operator_text import operator_summary
from penstock.topology.subtopologies import node_groups
from penstock.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class NodeDescription:
    """A node, its neighbours by name, and what it reads, keeps or writes.

    Attributes:
        kind: source, processor or sink.
        topics: Topics of a source.
        pattern: Pattern of a source.
        topic: Topic of a sink; None if a function names it.
        stores: Stores of a processor.
        operator: What a processor does, in short.
    """

    name: str
    kind: str
    successors: tuple[str, ...] = ()
    predecessors: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    topic: str | None = None
    extractor: str | None = None
    stores: tuple[str, ...] = ()
    operator: str | None = None

    def __str__(self) -> str:
        after = f"\n      --> {', '.join(self.successors) or 'none'}"
        before = f"\n      <-- {', '.join(self.predecessors) or 'none'}"
        if self.kind == "source":
            return f"Source: {self.name} (topics: {self.pattern or _list(self.topics)}){after}"
        if self.kind == "processor":
            return f"Processor: {self.name} (stores: {_list(self.stores)}){after}{before}"
        target = f"topic: {self.topic}" if self.topic is not None else f"extractor class: {self.extractor}"
        return f"Sink: {self.name} ({target}){before}"


@dataclass(frozen=True, slots=True)
class SubtopologyDescription:
    """The nodes of a sub-topology, those with most below them first."""

    id: int
    nodes: tuple[NodeDescription, ...]

    def __str__(self) -> str:
        return f"Sub-topology: {self.id}\n" + "".join(f"    {node}\n" for node in self.nodes) + "\n"


@dataclass(frozen=True, slots=True)
class GlobalStoreDescription:
    """A global store: its source and the processor that keeps it up to date."""

    id: int
    source: NodeDescription
    processor: NodeDescription

    def __str__(self) -> str:
        return (
            f"Sub-topology: {self.id} for global store (will not generate tasks)\n"
            f"    {self.source}\n    {self.processor}\n"
        )


@dataclass(frozen=True, slots=True)
class TopologyDescription:
    """All sub-topologies and global stores; `str()` gives the text that Kafka Streams prints."""

    subtopologies: tuple[SubtopologyDescription, ...]
    global_stores: tuple[GlobalStoreDescription, ...]

    def __str__(self) -> str:
        both: list[SubtopologyDescription | GlobalStoreDescription] = [*self.subtopologies, *self.global_stores]
        parts = sorted(both, key=lambda part: part.id)
        return "Topologies:\n " + "".join(f"  {part}" for part in parts)

    def to_json(self) -> str:
        """The description as JSON."""
        return json.dumps(
            {
                "subtopologies": [{"id": s.id, "nodes": [_as_dict(n) for n in s.nodes]} for s in self.subtopologies],
                "global_stores": [
                    {"id": g.id, "source": _as_dict(g.source), "processor": _as_dict(g.processor)}
                    for g in self.global_stores
                ],
            },
            indent=2,
        )

    def to_mermaid(self) -> str:
        """The description as a mermaid flowchart."""
        groups = [(f"Sub-topology {s.id}", s.nodes) for s in self.subtopologies]
        groups += [(f"Global store {g.id}", (g.source, g.processor)) for g in self.global_stores]
        return mermaid.flowchart(groups)


def describe(topology: Topology) -> TopologyDescription:
    """The description of a topology."""
    globals_by_source = {g.source.name: g for g in topology.global_stores.values()}
    subtopologies, global_stores = [], []
    for number, names in node_groups(topology).items():
        store = next((globals_by_source[name] for name in names if name in globals_by_source), None)
        if store is None:
            subtopologies.append(SubtopologyDescription(number, _nodes(topology, names)))
        else:
            global_stores.append(_global(number, store))
    return TopologyDescription(tuple(subtopologies), tuple(global_stores))


class _Place:
    """A node while its neighbours are found. `size` is the number of nodes below it, counted once for each path."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.size = 1
        self.successors: TreeSet[_Place] = TreeSet(_rank)
        self.predecessors: TreeSet[_Place] = TreeSet(_rank)

    def grow(self, size: int) -> None:
        self.size += size
        for predecessor in self.predecessors:
            predecessor.grow(size)


def _rank(first: _Place, second: _Place) -> int:
    if first is second:
        return 0
    if first.size != second.size:
        return second.size - first.size
    return -1 if first.node.name < second.node.name else 1


def _nodes(topology: Topology, names: tuple[str, ...]) -> tuple[NodeDescription, ...]:
    # Kafka visits the nodes in the order of a HashMap; the rank of a neighbour at that moment decides its position.
    places = {name: _Place(topology.nodes[name]) for name in hash_order(hash_order(names))}
    for place in places.values():
        for parent in getattr(place.node, "parents", ()):
            predecessor = places[parent]
            place.predecessors.add(predecessor)
            predecessor.successors.add(place)
            predecessor.grow(place.size)
    return tuple(_describe(place) for place in sorted(places.values(), key=cmp_to_key(_rank)))


def _describe(place: _Place) -> NodeDescription:
    node = place.node
    after = tuple(p.node.name for p in place.successors)
    before = tuple(p.node.name for p in place.predecessors)
    if isinstance(node, SourceNode):
        topics = tuple(hash_order(node.topics, copied=True))
        return NodeDescription(node.name, "source", after, topics=topics, pattern=node.pattern)
    if isinstance(node, ProcessorNode):
        stores = tuple(hash_order(node.stores, copied=True))
        return NodeDescription(
            node.name, "processor", after, before, stores=stores, operator=operator_summary(node.operator)
        )
    return _describe_sink(node, before)


def _describe_sink(node: SinkNode, before: tuple[str, ...]) -> NodeDescription:
    if isinstance(node.topic, str):
        return NodeDescription(node.name, "sink", (), before, topic=node.topic)
    extractor = getattr(node.topic, "__qualname__", None) or type(node.topic).__qualname__
    return NodeDescription(node.name, "sink", (), before, extractor=extractor)


def _global(number: int, store: GlobalStoreNode) -> GlobalStoreDescription:
    source, processor = store.source, store.processor
    return GlobalStoreDescription(
        number,
        NodeDescription(source.name, "source", (processor.name,), topics=source.topics),
        NodeDescription(
            processor.name,
            "processor",
            (),
            (source.name,),
            stores=(store.store,),
            operator=operator_summary(processor.operator),
        ),
    )


def _list(names: tuple[str, ...]) -> str:
    return f"[{', '.join(names)}]"


def _as_dict(node: NodeDescription) -> dict[str, Any]:
    """The fields that mean something for this kind of node."""
    fields = {name: getattr(node, name) for name in node.__dataclass_fields__}
    return {name: value for name, value in fields.items() if value not in (None, ())}
