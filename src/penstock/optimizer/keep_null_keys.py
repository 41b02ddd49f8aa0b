"""Records without a key are dropped before a repartition topic, unless a left or outer join downstream wants them.

>>> from penstock import StreamsBuilder
>>> def filters(kind):
...     builder = StreamsBuilder()
...     left = builder.stream("left").select_key(lambda v: v)
...     getattr(left, kind)(builder.table("right")).to("out")
...     nodes = builder.build().nodes
...     return [type(n.operator).__name__ for name, n in nodes.items() if "FILTER" in name]
>>> filters("join")
['NullKeyFilter']
>>> filters("left_join")
['PassThrough']
"""

from __future__ import annotations

from penstock.topology.graph import Graph, GraphNode, RepartitionNode


def keep_null_keys(graph: Graph) -> None:
    """Open the filters of repartition steps above left and outer joins."""
    wanted: dict[GraphNode, bool] = {}
    for node in reversed(list(graph.walk())):
        wanted[node] = any(child.keeps_null_keys or wanted[child] for child in node.children)
        if isinstance(node, RepartitionNode):
            node.drops_null_keys = not wanted[node]
