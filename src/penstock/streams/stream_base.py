"""What streams have in common: their place in the graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.topology.graph import Graph, GraphNode, RepartitionNode
from penstock.topology.graph.repartition import new_repartition

if TYPE_CHECKING:
    from penstock.streams.kstream import KStream

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class StreamPlace:
    """Where a stream is in the graph, and what is known of its records.

    Attributes:
        name: Name of the node the records come from.
        node: That node.
        sources: Names of the sources that decide how the stream is partitioned.
        key_serde / value_serde: Serdes the next operators inherit; None where an operator made them unknown.
        rekeyed: The key changed since the records were partitioned by it.
    """

    graph: Graph
    name: str
    node: GraphNode
    sources: tuple[str, ...]
    key_serde: Any = None
    value_serde: Any = None
    rekeyed: bool = False


class StreamBase(Generic[K, V]):
    """A stream of records. Immutable: every operator gives a new object."""

    __slots__ = ("_join_step", "_place")

    def __init__(self, place: StreamPlace) -> None:
        self._place = place
        # The last repartition step made for a join serves later joins that do not name theirs.
        self._join_step: RepartitionNode | None = None

    @property
    def _graph(self) -> Graph:
        return self._place.graph

    def _append(self, node: GraphNode, **changes: Any) -> KStream[Any, Any]:
        """Put a node below this stream and give the stream that comes out of it."""
        self._graph.add(node, self._place.node)
        return self._at(node, **changes)

    def _at(self, node: GraphNode, **changes: Any) -> KStream[Any, Any]:
        from penstock.streams.kstream import KStream

        return KStream(replace(self._place, name=node.name, node=node, **changes))

    def _repartitioned_for_join(
        self, name: str | None, key_serde: Any, value_serde: Any, line: str | None
    ) -> KStream[Any, Any]:
        """This stream partitioned by its key, through a topic named after the join or after this stream's node."""
        place = self._place
        step = new_repartition(
            self._graph,
            name or place.name,
            key_serde=place.key_serde if key_serde is None else key_serde,
            value_serde=place.value_serde if value_serde is None else value_serde,
            line=line,
        )
        if name is None:
            self._graph.generated_topics[step.names.topic] = None
        if self._join_step is None or name not in {None, place.name}:
            self._graph.add(step, place.node)
            self._join_step = step
        step = self._join_step
        return self._at(
            step,
            sources=(step.name,),
            key_serde=step.key_serde,
            value_serde=step.value_serde,
            rekeyed=False,
        )
