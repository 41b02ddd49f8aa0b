"""A table's topic is already a changelog of its store: no second one is kept.

>>> from penstock import StreamsBuilder
>>> builder = StreamsBuilder()
>>> _ = builder.table("users", store="users-store")
>>> builder.build().stores["users-store"].logging
True
>>> builder.build({"topology.optimization": "reuse.ktable.source.topics"}).source_changelogs
{'users-store': 'users'}
"""

from __future__ import annotations

from penstock.topology.graph import Graph, TableSourceNode


def reuse_source_topics(graph: Graph) -> None:
    """Mark every source table."""
    for node in graph.nodes:
        if isinstance(node, TableSourceNode):
            node.reuse_topic = True
