"""Logical nodes that send records through a topic of our own, so that each key lives in one partition."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.topology.graph.graph import Graph, GraphNode
from penstock.topology.naming import REPARTITION_SUFFIX
from penstock.topology.nodes import InternalTopic, SinkNode, SourceNode
from penstock.topology.operators import NullKeyFilter, PassThrough

if TYPE_CHECKING:
    from penstock.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class RepartitionNames:
    """Names of a repartition step's nodes and of its topic, without the application's id."""

    topic: str
    sink: str
    filter: str
    source: str


class RepartitionNode(GraphNode):
    """Filter of null keys, sink, topic and source. Children attach to the source.

    Attributes:
        movable: The step was inserted because a key changed, so the optimizer may move and merge it.
        drops_null_keys: False where a left or outer join downstream wants records without a key.
    """

    def __init__(
        self,
        names: RepartitionNames,
        *,
        key_serde: Any,
        value_serde: Any,
        partitioner: Any = None,
        partitions: int | None = None,
        external: bool = False,
        movable: bool = True,
        line: str | None = None,
    ) -> None:
        super().__init__(names.source, line=line)
        self.names = names
        self.key_serde = key_serde
        self.value_serde = value_serde
        self.movable = movable
        self.drops_null_keys = True
        self._partitioner = partitioner
        self._partitions = partitions
        self._external = external

    def write(self, topology: Topology) -> None:
        names, internal = self.names, not self._external
        if internal:
            topology.internal_topics[names.topic] = InternalTopic(names.topic, self._partitions)
        operator = NullKeyFilter() if self.drops_null_keys else PassThrough()
        topology.add_operator(names.filter, operator, self.parent_names, line=self.line)
        topology.add(
            SinkNode(
                names.sink,
                (names.filter,),
                names.topic,
                self.key_serde,
                self.value_serde,
                self._partitioner,
                internal,
                self.line,
            )
        )
        topology.add(
            SourceNode(
                names.source,
                (names.topic,),
                key_serde=self.key_serde,
                value_serde=self.value_serde,
                internal=internal,
                line=self.line,
            )
        )


_GENERATED = re.compile(r"KSTREAM.*-[0-9]{10}")


def new_repartition(
    graph: Graph,
    name: str,
    *,
    key_serde: Any,
    value_serde: Any,
    partitioner: Any = None,
    partitions: int | None = None,
    external: bool = False,
    movable: bool = True,
    line: str | None = None,
) -> RepartitionNode:
    """A repartition step called `name`; its three nodes draw numbers even if their names derive from the topic's."""
    topic = name if external or name.endswith(REPARTITION_SUFFIX) else name + REPARTITION_SUFFIX
    sink, null_filter, source = (
        graph.names.node(prefix) for prefix in ("KSTREAM-SINK-", "KSTREAM-FILTER-", "KSTREAM-SOURCE-")
    )
    if _GENERATED.fullmatch(name):
        names = RepartitionNames(topic, sink, null_filter, source)
    else:
        names = RepartitionNames(topic, f"{topic}-sink", f"{topic}-filter", f"{topic}-source")
    return RepartitionNode(
        names,
        key_serde=key_serde,
        value_serde=value_serde,
        partitioner=partitioner,
        partitions=partitions,
        external=external,
        movable=movable,
        line=line,
    )


class TableRepartitionNode(GraphNode):
    """Sink, topic and source of a table's group_by; values are changes, and there are no null keys to filter."""

    def __init__(
        self, sink: str, source: str, topic: str, *, key_serde: Any, change_serde: Any, line: str | None
    ) -> None:
        super().__init__(source, line=line)
        self.topic = topic
        self._sink = sink
        self._key_serde = key_serde
        self._change_serde = change_serde

    def write(self, topology: Topology) -> None:
        topology.internal_topics[self.topic] = InternalTopic(self.topic)
        key, value = self._key_serde, self._change_serde
        topology.add(SinkNode(self._sink, self.parent_names, self.topic, key, value, None, True, self.line))
        topology.add(
            SourceNode(self.name, (self.topic,), key_serde=key, value_serde=value, internal=True, line=self.line)
        )
