"""KTable: the last value of each key, and its updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from penstock.functions import MAPPER, function
from penstock.source_line import user_line
from penstock.streams.materialized import Materialized
from penstock.streams.parameters import Named, SerdeLike
from penstock.streams.settings import Settings, gather
from penstock.streams.stream_base import K, StreamPlace, V
from penstock.streams.table_grouping import TableGroupingOperators
from penstock.streams.table_joins import TableJoinOperators
from penstock.streams.table_suppress import SuppressOperator
from penstock.streams.table_transform import TransformOperator
from penstock.topology.graph import OperatorNode
from penstock.topology.graph.tables import FilterResult, MapValuesResult
from penstock.topology.operators import TableFilter, TableMapValues, TableToStream

if TYPE_CHECKING:
    from penstock.expr import Expression
    from penstock.streams.kstream import KStream

VR = TypeVar("VR")


class KTable(
    TableGroupingOperators[K, V],
    TableJoinOperators[K, V],
    SuppressOperator[K, V],
    TransformOperator[K, V],
    Generic[K, V],
):
    """A table: the last value of each key. Get one from `StreamsBuilder.table`, `to_table` or an aggregation.

    Every operator gives a new table and leaves this one as it is.
    """

    __slots__ = ()

    @property
    def queryable_store_name(self) -> str | None:
        """Name of the store behind the table, if you chose it."""
        return self._place.queryable

    def filter(
        self,
        predicate: Callable[..., Any] | Expression,
        *parameters: Materialized | Named,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KTable[K, V]:
        """Keep the rows for which the predicate holds; the others become tombstones.

        Args:
            predicate: Function of (value) or (key, value), or an expression; not called for tombstones.
            parameters: `Materialized`, `Named`.
            store: Materialise the result: name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys; the table's own by default.
            value_serde: Serde of values; the table's own by default.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            name: Name of the operator.
        """
        keywords = {"store": store, "key_serde": key_serde, "value_serde": value_serde}
        settings = gather(
            "filter",
            parameters,
            (Materialized, Named),
            user_line(),
            name=name,
            cache=cache,
            logging=logging,
            **keywords,
        )
        return self._filter("filter", predicate, settings, negate=False)

    def filter_not(
        self,
        predicate: Callable[..., Any] | Expression,
        *parameters: Materialized | Named,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KTable[K, V]:
        """Keep the rows for which the predicate does not hold. Arguments as for `filter`."""
        keywords = {"store": store, "key_serde": key_serde, "value_serde": value_serde}
        settings = gather(
            "filter_not",
            parameters,
            (Materialized, Named),
            user_line(),
            name=name,
            cache=cache,
            logging=logging,
            **keywords,
        )
        return self._filter("filter_not", predicate, settings, negate=True)

    def _filter(self, what: str, predicate: Any, settings: Settings, *, negate: bool) -> KTable[K, V]:
        test = function(predicate, MAPPER, f"the predicate of {what}", line=settings.line)
        store = self._optional_store(settings, "KTABLE-FILTER-")
        name = self._graph.names.given_or_node(settings.name, "KTABLE-FILTER-")
        result = FilterResult(self._place.result, test, store, negate=negate)
        key, value = self._serdes(settings, self._place.value_serde)

        def operator() -> TableFilter:
            return TableFilter(test, negate, store, result.send_old, node.is_versioned_upstream())

        node = OperatorNode(name, operator, builders=self._builders(settings, store, key, value), line=settings.line)
        return self._derive(node, result, settings, key, value, store)

    @overload
    def map_values(
        self,
        mapper: Callable[..., VR],
        *parameters: Materialized | Named,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KTable[K, VR]: ...
    @overload
    def map_values(
        self,
        mapper: Any,
        *parameters: Materialized | Named,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KTable[K, Any]: ...
    def map_values(
        self,
        mapper: Any,
        *parameters: Materialized | Named,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KTable[K, Any]:
        """Give each row a new value; tombstones stay tombstones without a call.

        Args:
            mapper: Function of (value) or (key, value), or an expression.
            parameters: `Materialized`, `Named`.
            store: Materialise the result: name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys; the table's own by default.
            value_serde: Serde of the new values; the configured default.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            name: Name of the operator.
        """
        line = user_line()
        settings = gather(
            "map_values",
            parameters,
            (Materialized, Named),
            line,
            store=store,
            key_serde=key_serde,
            value_serde=value_serde,
            cache=cache,
            logging=logging,
            name=name,
        )
        apply = function(mapper, MAPPER, "the mapper of map_values", line=line)
        kept = self._optional_store(settings, "KTABLE-MAPVALUES-")
        node_name = self._graph.names.given_or_node(settings.name, "KTABLE-MAPVALUES-")
        result = MapValuesResult(self._place.result, apply, kept)
        key, value = self._serdes(settings, None)
        node = OperatorNode(
            node_name,
            lambda: TableMapValues(apply, kept, result.send_old),
            builders=self._builders(settings, kept, key, value),
            line=line,
        )
        return self._derive(node, result, settings, key, value, kept)

    def to_stream(
        self, key: Callable[..., Any] | Expression | Named | None = None, *parameters: Named, name: str | None = None
    ) -> KStream[Any, V]:
        """All updates as a stream, tombstones included.

        Args:
            key: Gives a new key: function of (value) or (key, value), or an expression.
            parameters: `Named`.
            name: Name of the operator.
        """
        from penstock.streams.kstream import KStream

        line, place = user_line(), self._place
        if isinstance(key, Named):
            parameters, key = (key, *parameters), None
        settings = gather("to_stream", parameters, (Named,), line, name=name)
        node = OperatorNode(
            self._graph.names.given_or_node(settings.name, "KTABLE-TOSTREAM-"), TableToStream(), line=line
        )
        self._graph.add(node, place.node)
        stream: KStream[Any, V] = KStream(
            StreamPlace(place.graph, node.name, node, place.sources, place.key_serde, place.value_serde)
        )
        return stream if key is None else stream.select_key(key)
