"""Which nodes read and write a topic."""

from __future__ import annotations

import re

from penstock.topology.nodes import SinkNode, SourceNode
from penstock.topology.topology import Topology


def reads(node: SourceNode, topic: str) -> bool:
    """Whether a source reads a topic, by name or by pattern."""
    return topic in node.topics or (node.pattern is not None and re.fullmatch(node.pattern, topic) is not None)


def source_of(topology: Topology, topic: str) -> SourceNode | None:
    """The source that reads a topic by name, or by pattern."""
    for node in topology.nodes.values():
        if isinstance(node, SourceNode) and reads(node, topic):
            return node
    return None


def sink_of(topology: Topology, topic: str) -> SinkNode | None:
    """A sink that writes to a topic by name."""
    for node in topology.nodes.values():
        if isinstance(node, SinkNode) and node.topic == topic:
            return node
    return None


def source_topics(topology: Topology) -> tuple[str, ...]:
    """The users' topics that the topology reads by name; internal ones are not among them."""
    return tuple(
        topic
        for node in topology.nodes.values()
        if isinstance(node, SourceNode) and not node.internal
        for topic in node.topics
    )
