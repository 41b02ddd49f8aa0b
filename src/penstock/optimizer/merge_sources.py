"""Two streams of the same topics read them once.

>>> from penstock import StreamsBuilder
>>> builder = StreamsBuilder()
>>> builder.stream("orders").to("a")
>>> builder.stream("orders").to("b")
>>> print(builder.build().describe())  # not two sources
Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders])
      --> KSTREAM-SINK-0000000001, KSTREAM-SINK-0000000003
    Sink: KSTREAM-SINK-0000000001 (topic: a)
      <-- KSTREAM-SOURCE-0000000000
    Sink: KSTREAM-SINK-0000000003 (topic: b)
      <-- KSTREAM-SOURCE-0000000000
<BLANKLINE>
<BLANKLINE>
"""

from __future__ import annotations

from penstock.topology import errors
from penstock.topology.graph import Graph, StreamSourceNode


def merge_sources(graph: Graph) -> None:
    """Let the first source of some topics, or of a pattern, feed the children of all its equals."""
    by_topic: dict[str, StreamSourceNode] = {}
    by_pattern: dict[str, StreamSourceNode] = {}
    for node in list(graph.root.children):
        if not isinstance(node, StreamSourceNode):
            continue
        pattern = node.pattern
        first = _first_reader(by_topic, node) if pattern is None else by_pattern.setdefault(pattern, node)
        if first is not node:
            _merge(graph, first, node)


def _first_reader(by_topic: dict[str, StreamSourceNode], node: StreamSourceNode) -> StreamSourceNode:
    first = node
    for topic in node.topics:
        first = by_topic.setdefault(topic, node)
        if set(first.topics) != set(node.topics):
            raise errors.overlapping_sources(topic, first.topics, node.topics, node.line)
    return first


def _merge(graph: Graph, first: StreamSourceNode, other: StreamSourceNode) -> None:
    for child in list(other.children):
        other.remove_child(child)
        first.add_child(child)
    graph.root.remove_child(other)
    graph.replace_source(other.name, first.name)
