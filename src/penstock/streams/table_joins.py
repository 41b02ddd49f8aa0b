"""Joins of a table with another table: on the same key, or by a foreign key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.errors import TopologyError
from penstock.functions import JOINER, Function, function
from penstock.source_line import user_line
from penstock.streams.foreign_key import join_on_foreign_key
from penstock.streams.joined import TableJoined
from penstock.streams.materialized import Materialized, given_store_name, is_versioned, key_value_store
from penstock.streams.parameters import Named, SerdeLike
from penstock.streams.settings import Settings, gather
from penstock.streams.stream_base import K, V
from penstock.streams.table_base import TableBase
from penstock.streams.table_place import TablePlace
from penstock.topology.graph import TableTableJoinNode
from penstock.topology.graph.tables import JoinResult

if TYPE_CHECKING:
    from penstock.expr import Expression
    from penstock.streams.ktable import KTable


def pair(left: Any, right: Any) -> tuple[Any, Any]:
    """The joiner where none is given."""
    return left, right


class TableJoinOperators(TableBase[K, V]):
    """The part of KTable that joins."""

    __slots__ = ()

    def join(
        self,
        other: KTable[Any, Any],
        joiner: Callable[..., Any] | Materialized | Named | TableJoined | None = None,
        *parameters: Materialized | Named | TableJoined,
        on: Callable[..., Any] | Expression | None = None,
        partitioner: Callable[..., Any] | None = None,
        other_partitioner: Callable[..., Any] | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KTable[K, Any]:
        """Rows of both tables with the same key; with `on`, of the other table's row that a foreign key names.

        Args:
            other: The other table.
            joiner: Function of (left, right) or (key, left, right); gives `(left, right)` if left out.
            parameters: `Materialized`, `Named`; `TableJoined` for foreign keys.
            on: Foreign key: function of (value) or (key, value) of this table, or an expression.
            partitioner: Partitioner of this table's topic, if it is not the default one (foreign keys).
            other_partitioner: The same of the other table's topic.
            store: Materialise the result: name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys; the table's own by default.
            value_serde: Serde of the results; the configured default.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            name: Name of the operator.
        """
        options = {"partitioner": partitioner, "other_partitioner": other_partitioner, "store": store}
        options |= {"key_serde": key_serde, "value_serde": value_serde, "cache": cache, "logging": logging}
        return self._join("join", "inner", other, joiner, parameters, on, name=name, **options)

    def left_join(
        self,
        other: KTable[Any, Any],
        joiner: Callable[..., Any] | Materialized | Named | TableJoined | None = None,
        *parameters: Materialized | Named | TableJoined,
        on: Callable[..., Any] | Expression | None = None,
        partitioner: Callable[..., Any] | None = None,
        other_partitioner: Callable[..., Any] | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KTable[K, Any]:
        """As `join`, with a row for every row of this table; the right value is None where there is none."""
        options = {"partitioner": partitioner, "other_partitioner": other_partitioner, "store": store}
        options |= {"key_serde": key_serde, "value_serde": value_serde, "cache": cache, "logging": logging}
        return self._join("left_join", "left", other, joiner, parameters, on, name=name, **options)

    def outer_join(
        self,
        other: KTable[Any, Any],
        joiner: Callable[..., Any] | Materialized | Named | None = None,
        *parameters: Materialized | Named,
        on: None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KTable[K, Any]:
        """As `join`, with a row for every row of either table. There is no outer join by foreign key."""
        if on is not None:
            raise TopologyError(
                "there is no outer join by foreign key", line=user_line(), hint="Use left_join(..., on=...)."
            )
        options = {"key_serde": key_serde, "value_serde": value_serde, "cache": cache, "logging": logging}
        return self._join("outer_join", "outer", other, joiner, parameters, None, name=name, store=store, **options)

    def _join(
        self,
        what: str,
        kind: str,
        other: Any,
        joiner: Any,
        parameters: tuple[Any, ...],
        on: Any,
        **keywords: Any,
    ) -> KTable[Any, Any]:
        line = user_line()
        if isinstance(joiner, (Materialized, Named, TableJoined)):
            joiner, parameters = None, (joiner, *parameters)
        accepts = (Materialized, Named) if on is None else (Materialized, Named, TableJoined)
        settings = gather(what, parameters, accepts, line, **keywords)
        if on is None and (settings.partitioner is not None or settings.other_partitioner is not None):
            raise TopologyError(
                f"{what} on the same key was given a partitioner", line=line, hint="Partitioners are for on=."
            )
        right = self._other_place(what, other, line)
        combine = function(pair if joiner is None else joiner, JOINER, f"the joiner of {what}", line=line)
        if on is not None:
            return join_on_foreign_key(self._place, right, on, combine, settings, left_join=kind == "left")
        return self._same_key(kind, right, combine, settings)

    def _other_place(self, what: str, other: Any, line: str | None) -> TablePlace:
        if not isinstance(other, TableBase):
            raise TopologyError(
                f"{what} of a table was given {other!r}",
                line=line,
                hint="Join it with a KTable; a stream joins a table, not the other way round.",
            )
        place: TablePlace = other._place  # noqa: SLF001 - a table's own kind
        if place.graph is not self._place.graph:
            raise TopologyError(
                f"{what} was given tables of two builders",
                line=line,
                hint="Build one topology with one StreamsBuilder.",
            )
        return place

    def _same_key(self, kind: str, right: TablePlace, joiner: Function, settings: Settings) -> KTable[Any, Any]:
        from penstock.streams.ktable import KTable

        graph, left = self._graph, self._place
        store = given_store_name(settings)
        if store is None and settings.describes_store:
            store, _ = graph.store_name(None, "KTABLE-MERGE-")  # unlike other tables, as in Kafka
        merge = graph.names.given_or_node(settings.name, "KTABLE-MERGE-")
        sources = tuple(dict.fromkeys([*left.sources, *right.sources]))
        graph.copartition(sources)
        if kind != "inner":
            left.result.send_old_values(force=True)
        if kind == "outer":
            right.result.send_old_values(force=True)
        result = JoinResult(kind, left.result, right.result, joiner, store)
        this = graph.names.given_or_node(settings.name, "KTABLE-JOINTHIS-", "-join-this")
        that = graph.names.given_or_node(settings.name, "KTABLE-JOINOTHER-", "-join-other")
        key, value = self._serdes(settings, None)
        builder = None
        if store is not None:
            builder = key_value_store(graph, settings, store, key_serde=key, value_serde=value)
        sides = (left.node, right.node)
        node = TableTableJoinNode((this, that, merge), kind, sides, result, joiner, builder, line=settings.line)
        node.versioned = is_versioned(settings)
        graph.add(node, *dict.fromkeys(sides))
        return KTable(
            TablePlace(graph, merge, node, sources, result, key, value, given_store_name(settings), left.windowed)
        )
