"""Several repartition steps below one change of key become one, right below it.

Before: select_key -> repartition a -> count, and select_key -> filter -> repartition b -> reduce.
After:  select_key -> repartition a -> count, and the same repartition a -> filter -> reduce.

A step stays where it is if values change between the new key and it, and if the user asked for it with
`repartition()`.

>>> from penstock import StreamsBuilder
>>> def build(options):
...     builder = StreamsBuilder()
...     stream = builder.stream("in").select_key(lambda v: v)
...     stream.group_by_key().count(name="a")
...     stream.filter(lambda v: v > 1).group_by_key().count(name="b")
...     return sorted(builder.build(options).internal_topics)
>>> _ = build({})
>>> build({})
['a-repartition', 'b-repartition']
>>> build({"topology.optimization": "merge.repartition.topics"})
['a-repartition']
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.topology.graph import Graph, GraphNode, RepartitionNode
from penstock.topology.graph.repartition import new_repartition

Steps = dict[GraphNode, dict[RepartitionNode, None]]


def merge_repartition_topics(graph: Graph) -> None:
    """Put one repartition step below each node that changes keys and has steps further down."""
    for key_changer, steps in _steps_by_key_changer(graph).items():
        if steps:
            _merge(graph, key_changer, list(steps))


def _steps_by_key_changer(graph: Graph) -> Steps:
    found: Steps = {}
    for node in graph.nodes:
        if node.key_changing:
            found[node] = {}
        elif isinstance(node, RepartitionNode) and node.movable:
            changer = _key_changer(node)
            if changer is not None:
                found[changer][node] = None
    return _move_below_merges(graph, found)


def _key_changer(step: RepartitionNode) -> GraphNode | None:
    """The key change that a step belongs to, unless values change in between."""
    changer = _above(step, lambda node: node.key_changing)
    return changer if changer is _above(step, lambda node: node.key_changing or node.value_changing) else None


def _move_below_merges(graph: Graph, found: Steps) -> Steps:
    """Where several changed keys flow together before their steps, the step goes below the merge."""
    merged: Steps = {}
    moved: dict[GraphNode, None] = {}
    for merge in (node for node in graph.nodes if node.merges):
        merged[merge] = {}
        for changer, steps in found.items():
            below_merge = all(_above(step, lambda n: merge in n.parents) is not None for step in steps)  # noqa: B023
            if below_merge and _above(merge, lambda n: changer in n.parents) is not None:  # noqa: B023
                merged[merge].update(steps)
                moved[changer] = None
    return {node: steps for node, steps in [*found.items(), *merged.items()] if node not in moved}


def _merge(graph: Graph, key_changer: GraphNode, steps: list[RepartitionNode]) -> None:
    merged = new_repartition(
        graph,
        steps[0].names.topic,
        key_serde=next((s.key_serde for s in steps if s.key_serde is not None), None),
        value_serde=next((s.value_serde for s in steps if s.value_serde is not None), None),
        line=steps[0].line,
    )
    merged.priority = key_changer.priority
    for step in steps:
        below = _above(step, lambda node: key_changer in node.parents)
        if below is not None:  # else it moved already, together with another step
            merged.add_child(below)
            key_changer.remove_child(below)
        _remove(step)
        graph.replace_source(step.name, merged.name)
    key_changer.add_child(merged)


def _remove(step: RepartitionNode) -> None:
    for parent in list(step.parents):
        for child in list(step.children):
            parent.add_child(child)
        parent.remove_child(step)
    for child in list(step.children):
        step.remove_child(child)


def _above(node: GraphNode, holds: Callable[[GraphNode], bool]) -> GraphNode | None:
    """The node itself or the nearest one upstream for which something holds."""
    if holds(node):
        return node
    for parent in node.parents:
        found = _above(parent, holds)
        if found is not None:
            return found
    return None
