"""Send one partial aggregate for each key and batch through a repartition, instead of every record.

Before and after, with a count of words:

    ... -> key filter -> [repartition: (word, word)] -> count
    ... -> key filter -> combine -> [repartition: (word, 2)] -> add

>>> from penstock import StreamsBuilder
>>> builder = StreamsBuilder()
>>> words = builder.stream("lines").flat_map_values(str.split).group_by(lambda word: word)
>>> words.count(name="counts").to_stream().to("out")
>>> combined = combine_before_shuffle(builder.build())
>>> [name for name in combined.nodes if "combine" in name]
['counts-combine']

It is a rule of the physical topology and of hosts that process batches: a record-at-a-time host has nothing to combine.
It applies where the answer stays the same: the aggregation is associative and does not depend on the order of values, it
has no windows (whether a record is late depends on the records before it), and its result is cached, so that single
updates are not forwarded anyway.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from penstock.functions import Function
from penstock.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode
from penstock.topology.operators import Aggregation, CombinePartials, StreamAggregate
from penstock.topology.topology import Topology


def combine_before_shuffle(topology: Topology) -> Topology:
    """The topology with a combiner in front of each repartition where that changes no answer; the same if there is none."""
    found = [sink.name for sink in topology.nodes.values() if isinstance(sink, SinkNode) and _reader(topology, sink)]
    if not found:
        return topology
    combined = copy(topology)
    for name in found:
        _rewrite(combined, name)
    return combined


def _reader(topology: Topology, sink: SinkNode) -> tuple[SourceNode, ProcessorNode] | None:
    """The source and the aggregation behind a repartition sink, if they may be combined for."""
    if not sink.internal or not isinstance(sink.topic, str) or sink.partitioner is not None:
        return None
    topic = sink.topic
    sources = [n for n in topology.nodes.values() if isinstance(n, SourceNode) and topic in n.topics and n.internal]
    writers = [n for n in topology.nodes.values() if isinstance(n, SinkNode) and n.internal and n.topic == topic]
    if len(sources) != 1 or len(writers) != 1 or sources[0].topics != (topic,):
        return None
    children = topology.children(sources[0].name)
    if len(children) != 1:
        return None
    node = topology.nodes[children[0]]
    if not isinstance(node, ProcessorNode) or not isinstance(node.operator, StreamAggregate):
        return None
    if len(node.parents) != 1 or not topology.stores[node.operator.store].caching:
        return None
    return (sources[0], node) if _merger(node.operator.aggregation) is not None else None


def _merger(aggregation: Aggregation) -> Function | None:
    """How two partial aggregates become one, as a reducer."""
    if not aggregation.associative:
        return None
    if aggregation.kind == "reduce":
        return aggregation.aggregator
    if aggregation.merger is None:
        return None
    names = {"left": "aggregate", "right": "value"}
    return replace(aggregation.merger, parameters=tuple(names.get(p, p) for p in aggregation.merger.parameters))


def _rewrite(topology: Topology, sink_name: str) -> None:
    sink = topology.nodes[sink_name]
    assert isinstance(sink, SinkNode)
    reader = _reader(topology, sink)
    assert reader is not None
    source, node = reader
    operator = node.operator
    assert isinstance(operator, StreamAggregate)
    merger = _merger(operator.aggregation)
    assert merger is not None
    partial_serde = topology.stores[operator.store].value_serde
    combiner = ProcessorNode(
        f"{node.name}-combine",
        sink.parents,
        CombinePartials(operator.aggregation, sink.key_serde, partial_serde),
        line=node.line,
    )
    reduced = Aggregation("reduce", None, merger, operator.aggregation.merger, associative=True, mutates=False)
    replaced: dict[str, Node] = {
        sink.name: replace(sink, parents=(combiner.name,), value_serde=partial_serde),
        source.name: replace(source, value_serde=partial_serde),
        node.name: replace(node, operator=replace(operator, aggregation=reduced)),
    }
    nodes: dict[str, Node] = {}
    for name, existing in topology.nodes.items():
        if name == sink.name:
            nodes[combiner.name] = combiner
        nodes[name] = replaced.get(name, existing)
    topology.nodes = nodes
    place = topology.added.index(sink.name)
    topology.added = [*topology.added[:place], combiner.name, *topology.added[place:]]
