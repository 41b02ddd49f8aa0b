"""A stream joined with itself keeps its records once.

>>> from penstock import StreamsBuilder
>>> def stores(options):
...     builder = StreamsBuilder()
...     stream = builder.stream("in")
...     stream.join(stream, within="1s").to("out")
...     return list(builder.build(options).stores)
>>> stores({})
['KSTREAM-JOINTHIS-0000000003-store', 'KSTREAM-JOINOTHER-0000000004-store']
>>> stores({"topology.optimization": "single.store.self.join"})
['KSTREAM-JOINTHIS-0000000003-store']
"""

from __future__ import annotations

from penstock.topology.graph import Graph, StreamStreamJoinNode


def single_store_self_join(graph: Graph) -> None:
    """Drop the second store of inner joins whose two sides are the same node.

    Left and outer joins have results that a record's join with itself is not: those without a key, and those that come too
    late to find themselves.
    """
    for node in graph.walk():
        if isinstance(node, StreamStreamJoinNode) and node.kind == "inner" and len(node.parents) == 1:
            (parent,) = node.parents
            for other in [n for n in parent.children if n.name == node.names.other_windowed]:
                parent.remove_child(other)
            node.self_join = True
