"""Where a stream goes: topics, and repartition topics it comes back from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.errors import TopologyError
from penstock.functions import TOPIC_EXTRACTOR, function
from penstock.source_line import user_line
from penstock.streams.parameters import Named, Produced, Repartitioned, SerdeLike
from penstock.streams.settings import gather
from penstock.streams.stream_base import K, StreamBase, StreamPlace, V
from penstock.topology.graph import SinkGraphNode, StreamSourceNode
from penstock.topology.graph.repartition import new_repartition
from penstock.topology.graph.sources import Reading
from penstock.topology.naming import check_name

if TYPE_CHECKING:
    from penstock.streams.kstream import KStream


class OutputOperators(StreamBase[K, V]):
    """The part of KStream that writes topics."""

    __slots__ = ()

    def to(
        self,
        topic: str | Callable[..., str],
        *parameters: Produced | Named,
        partitioner: Callable[..., Any] | None = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        name: str | None = None,
    ) -> None:
        """Write the records to a topic, which must exist.

        Args:
            topic: The topic, or a function of (key, value) or (key, value, record_context) that names it.
            parameters: `Produced`.
            partitioner: `(topic, key, value, partitions)` -> None for the default, a partition, or a set of them.
            key_serde: Serde of keys; the stream's own, or the configured default.
            value_serde: Serde of values.
            name: Name of the operator.
        """
        self._write(
            "to", topic, parameters, partitioner=partitioner, key_serde=key_serde, value_serde=value_serde, name=name
        )

    def through(
        self,
        topic: str,
        *parameters: Produced | Named,
        partitioner: Callable[..., Any] | None = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        name: str | None = None,
    ) -> KStream[K, V]:
        """Write the records to a topic of yours and read them back from it: `to(topic)`, then `stream(topic)`."""
        from penstock.streams.kstream import KStream

        line = user_line()
        if not isinstance(topic, str):
            raise TopologyError("through needs the name of a topic", line=line, hint="Only to() takes a function.")
        serdes = self._write(
            "through",
            topic,
            parameters,
            partitioner=partitioner,
            key_serde=key_serde,
            value_serde=value_serde,
            name=name,
        )
        graph = self._graph
        source = StreamSourceNode(graph.names.node("KSTREAM-SOURCE-"), (topic,), None, Reading(*serdes), line=line)
        graph.add(source)
        return KStream(StreamPlace(graph, source.name, source, (source.name,), *serdes))

    def _write(
        self, what: str, topic: Any, parameters: tuple[Produced | Named, ...], **keywords: Any
    ) -> tuple[Any, Any]:
        line = user_line()
        settings = gather(what, parameters, (Produced, Named), line, **keywords)
        if isinstance(topic, str):
            check_name(topic, "the topic", line=line)
        else:
            function(topic, TOPIC_EXTRACTOR, f"the topic of {what}", line=line)
        place = self._place
        key = place.key_serde if settings.key_serde is None else settings.key_serde
        value = place.value_serde if settings.value_serde is None else settings.value_serde
        sink = SinkGraphNode(
            self._graph.names.given_or_node(settings.name, "KSTREAM-SINK-"),
            topic,
            key_serde=key,
            value_serde=value,
            partitioner=settings.partitioner,
            line=line,
        )
        self._graph.add(sink, place.node)
        return key, value

    def repartition(
        self,
        *parameters: Repartitioned | Named,
        partitions: int | None = None,
        partitioner: Callable[..., Any] | None = None,
        topic: str | None = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        name: str | None = None,
    ) -> KStream[K, V]:
        """Partition the stream by its key now.

        Args:
            parameters: `Repartitioned`.
            partitions: Number of partitions; as many as upstream by default.
            partitioner: `(topic, key, value, partitions)` -> None for the default, or a partition.
            topic: Go through this topic of yours, which must exist, instead of one of our own.
            key_serde: Serde of keys; the stream's own, or the configured default.
            value_serde: Serde of values.
            name: Name of the repartition topic, without the application's id and `-repartition`.
        """
        line = user_line()
        settings = gather(
            "repartition",
            parameters,
            (Repartitioned, Named),
            line,
            partitions=partitions,
            partitioner=partitioner,
            topic=topic,
            key_serde=key_serde,
            value_serde=value_serde,
            name=name,
        )
        if settings.topic is not None and settings.partitions is not None:
            raise TopologyError(
                f"repartition was given partitions and the topic {settings.topic}",
                line=line,
                hint="A topic of yours has its own number of partitions; drop one of them.",
            )
        place, graph = self._place, self._graph
        given = settings.name if settings.topic is None else settings.topic
        step = new_repartition(
            graph,
            given if given is not None else graph.names.node("KSTREAM-REPARTITION-"),
            key_serde=place.key_serde if settings.key_serde is None else settings.key_serde,
            value_serde=place.value_serde if settings.value_serde is None else settings.value_serde,
            partitioner=settings.partitioner,
            partitions=settings.partitions,
            external=settings.topic is not None,
            movable=False,
            line=line,
        )
        if given is None:
            graph.generated_topics[step.names.topic] = None
        return self._append(
            step, sources=(step.name,), key_serde=step.key_serde, value_serde=step.value_serde, rekeyed=False
        )
