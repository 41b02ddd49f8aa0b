"""From a stream to groups and tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.durations import Duration
from penstock.functions import MAPPER, function
from penstock.source_line import user_line
from penstock.streams.grouped_stream import KGroupedStream
from penstock.streams.ktable import KTable
from penstock.streams.materialized import Materialized, given_store_name, is_versioned, key_value_store
from penstock.streams.parameters import Grouped, Named, SerdeLike
from penstock.streams.settings import gather
from penstock.streams.stream_base import K, StreamBase, V
from penstock.streams.table_place import TablePlace
from penstock.topology.graph import OperatorNode
from penstock.topology.graph.processors import StreamAsTableNode
from penstock.topology.graph.repartition import new_repartition
from penstock.topology.graph.tables import SourceResult
from penstock.topology.operators import SelectKey

if TYPE_CHECKING:
    from penstock.expr import Expression


class GroupingOperators(StreamBase[K, V]):
    """The part of KStream that groups."""

    __slots__ = ()

    def group_by_key(
        self,
        *parameters: Grouped | Named,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        name: str | None = None,
    ) -> KGroupedStream[K, V]:
        """Group the records by their key. Repartitions only if the key changed since the last time.

        Args:
            parameters: `Grouped`.
            key_serde: Serde of keys; the stream's own, or the configured default.
            value_serde: Serde of values.
            name: Name of the repartition topic, if there is one.
        """
        settings = gather(
            "group_by_key",
            parameters,
            (Grouped, Named),
            user_line(),
            key_serde=key_serde,
            value_serde=value_serde,
            name=name,
        )
        return KGroupedStream.of(self._place, settings)

    def group_by(
        self,
        key: Callable[..., Any] | Expression,
        *parameters: Grouped | Named,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        name: str | None = None,
    ) -> KGroupedStream[Any, V]:
        """Group the records by a new key. Always repartitions.

        Args:
            key: Function of (value) or (key, value), or an expression, that gives the new key.
            parameters: `Grouped`.
            key_serde: Serde of the new keys; the configured default.
            value_serde: Serde of values; the stream's own, or the configured default.
            name: Name of the operator and of the repartition topic.
        """
        line = user_line()
        settings = gather(
            "group_by", parameters, (Grouped, Named), line, key_serde=key_serde, value_serde=value_serde, name=name
        )
        operator = SelectKey(function(key, MAPPER, "the key selector of group_by", line=line))
        node = OperatorNode(self._graph.names.given_or_node(settings.name, "KSTREAM-KEY-SELECT-"), operator, line=line)
        node.key_changing = True
        stream = self._append(node, key_serde=None, rekeyed=True)
        return KGroupedStream.of(stream._place, settings)  # noqa: SLF001 - a stream's own kind

    def to_table(
        self,
        *parameters: Materialized | Named,
        store: Any = None,
        versioned: Duration | None = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KTable[K, V]:
        """The stream as a table: the last value of each key; a null value deletes.

        Args:
            parameters: `Materialized`, `Named`.
            store: Name of the store, a `Materialized`, or a store supplier; materialised under a generated name
                if another operator has to read the table.
            versioned: Keep versions of the rows for that long.
            key_serde: Serde of keys; the stream's own, or the configured default.
            value_serde: Serde of values.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            name: Name of the operator.
        """
        line, place, graph = user_line(), self._place, self._graph
        settings = gather(
            "to_table",
            parameters,
            (Materialized, Named),
            line,
            store=store,
            versioned=versioned,
            key_serde=key_serde,
            value_serde=value_serde,
            cache=cache,
            logging=logging,
            name=name,
        )
        node_name = graph.names.given_or_node(settings.name, "KSTREAM-TOTABLE-")
        store_name, named = graph.store_name(given_store_name(settings), "KSTREAM-TOTABLE-")
        key = place.key_serde if settings.key_serde is None else settings.key_serde
        value = place.value_serde if settings.value_serde is None else settings.value_serde
        parent, sources = place.node, place.sources
        if place.rekeyed:
            step = new_repartition(graph, node_name, key_serde=key, value_serde=value, line=line)
            if settings.name is None:
                graph.generated_topics[step.names.topic] = None
            graph.add(step, parent)
            parent, sources = step, (step.name,)
        builder = key_value_store(graph, settings, store_name, key_serde=key, value_serde=value)
        result = SourceResult(store_name, named=named or is_versioned(settings))
        node = StreamAsTableNode(node_name, result, builder, line=line)
        node.versioned = is_versioned(settings)
        graph.add(node, parent)
        return KTable(TablePlace(graph, node_name, node, sources, result, key, value, store_name if named else None))
