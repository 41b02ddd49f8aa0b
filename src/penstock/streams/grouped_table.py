"""KGroupedTable: the rows of a table under new keys, waiting to be aggregated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic

from penstock.functions import AGGREGATOR, REDUCER, Constant, Function, function, initializer
from penstock.serde import resolve_serde
from penstock.source_line import user_line
from penstock.streams.aggregating import aggregated_table
from penstock.streams.ktable import KTable
from penstock.streams.materialized import Materialized, given_store_name, is_versioned, key_value_store
from penstock.streams.parameters import Named, SerdeLike
from penstock.streams.settings import Settings, gather
from penstock.streams.stream_base import K, V
from penstock.topology.change_serde import ChangeSerde
from penstock.topology.graph import Graph, GraphNode, OperatorNode, TableRepartitionNode
from penstock.topology.graph.tables import AggregateResult
from penstock.topology.operators import Operator, TableAggregate, TableReduce


def _add_one(aggregate: int) -> int:
    return aggregate + 1


def _subtract_one(aggregate: int) -> int:
    return aggregate - 1


class KGroupedTable(Generic[K, V]):
    """A table grouped by a new key. An update first takes the old row out of its group, then adds the new one."""

    __slots__ = ("_graph", "_key_serde", "_name", "_node", "_step", "_value_serde")

    def __init__(self, graph: Graph, node: GraphNode, name: str | None, key_serde: Any, value_serde: Any) -> None:
        self._graph = graph
        self._node = node
        self._name = name
        self._key_serde = key_serde
        self._value_serde = value_serde
        self._step: TableRepartitionNode | None = None  # used again by further aggregations if the user named it

    def count(
        self,
        *parameters: Materialized | Named,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
    ) -> KTable[K, int]:
        """The number of rows in each group; an empty group stays with the count 0.

        Args:
            parameters: `Materialized`, `Named`.
            name: Name of the operator and, unless `store` names it, of its store.
            store: Name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys; the group's own, or the configured default.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
        """
        settings = self._gather("count", parameters, name, store, key_serde, None, cache, logging)
        value = resolve_serde("long") if settings.value_serde is None else settings.value_serde
        adder, subtractor = (
            Function(_add_one, ("aggregate",), "count"),
            Function(_subtract_one, ("aggregate",), "count"),
        )
        return self._aggregate(
            "KTABLE-AGGREGATE-",
            lambda kept, send_old: TableAggregate(kept, Constant(0), adder, subtractor, send_old),
            settings,
            value,
        )

    def reduce(
        self,
        adder: Callable[[V, V], V],
        subtractor: Callable[[V, V], V],
        *parameters: Materialized | Named,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
    ) -> KTable[K, V]:
        """Combine the values of each group.

        Args:
            adder: Function of (aggregate, value) that adds a row.
            subtractor: Function of (aggregate, value) that takes a row out; None deletes the group.
            parameters: `Materialized`, `Named`.
            name: Name of the operator and, unless `store` names it, of its store.
            store: Name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys.
            value_serde: Serde of values.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
        """
        settings = self._gather("reduce", parameters, name, store, key_serde, value_serde, cache, logging)
        add = function(adder, REDUCER, "the adder", line=settings.line)
        subtract = function(subtractor, REDUCER, "the subtractor", line=settings.line)
        return self._aggregate(
            "KTABLE-REDUCE-",
            lambda kept, send_old: TableReduce(kept, add, subtract, send_old),
            settings,
            self._value_serde if settings.value_serde is None else settings.value_serde,
        )

    def aggregate(
        self,
        initial: Any,
        adder: Callable[..., Any],
        subtractor: Callable[..., Any],
        *parameters: Materialized | Named,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
    ) -> KTable[K, Any]:
        """Aggregate the rows of each group.

        Args:
            initial: Function without arguments that gives the aggregate of an empty group, or a constant.
            adder: Function of (value, aggregate) or (key, value, aggregate) that adds a row.
            subtractor: The same, to take a row out; None deletes the group.
            parameters: `Materialized`, `Named`.
            name: Name of the operator and, unless `store` names it, of its store.
            store: Name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys.
            value_serde: Serde of aggregates; the configured default.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
        """
        settings = self._gather("aggregate", parameters, name, store, key_serde, value_serde, cache, logging)
        start = initializer(initial, line=settings.line)
        add = function(adder, AGGREGATOR, "the adder", line=settings.line)
        subtract = function(subtractor, AGGREGATOR, "the subtractor", line=settings.line)
        return self._aggregate(
            "KTABLE-AGGREGATE-",
            lambda kept, send_old: TableAggregate(kept, start, add, subtract, send_old),
            settings,
            settings.value_serde,
        )

    def _gather(
        self,
        what: str,
        parameters: tuple[Any, ...],
        name: str | None,
        store: Any,
        key_serde: SerdeLike,
        value_serde: SerdeLike,
        cache: str | None,
        logging: Any,
    ) -> Settings:
        return gather(
            what,
            parameters,
            (Materialized, Named),
            user_line(),
            name=name,
            store=store,
            key_serde=key_serde,
            value_serde=value_serde,
            cache=cache,
            logging=logging,
        )

    def _aggregate(
        self, prefix: str, operator: Callable[[str, bool], Operator], settings: Settings, value: Any
    ) -> KTable[Any, Any]:
        graph, names = self._graph, self._graph.names
        store, named = graph.store_name(given_store_name(settings) or settings.name, "KTABLE-AGGREGATE-")
        sink = names.given_or_node(settings.name, "KSTREAM-SINK-", "-sink")
        source = names.given_or_node(settings.name, "KSTREAM-SOURCE-", "-source")
        node_name = names.given_or_node(settings.name, prefix)
        step = self._repartition(sink, source, store, settings, store_named=named)
        key = self._key_serde if settings.key_serde is None else settings.key_serde
        builder = key_value_store(graph, settings, store, key_serde=key, value_serde=value)
        result = AggregateResult(store)
        node = OperatorNode(
            node_name, lambda: operator(store, result.send_old), builders=(builder,), line=settings.line
        )
        node.versioned = is_versioned(settings)
        graph.add(node, step)
        return aggregated_table(
            graph,
            node,
            (step.name,),
            result,
            None,
            key_serde=key,
            value_serde=value,
            queryable=store if named else None,
        )

    def _repartition(
        self, sink: str, source: str, store: str, settings: Settings, *, store_named: bool
    ) -> TableRepartitionNode:
        topic = f"{self._name or store}-repartition"
        if self._step is None or self._name is None:
            self._step = TableRepartitionNode(
                sink,
                source,
                topic,
                key_serde=self._key_serde,
                change_serde=ChangeSerde(self._value_serde),
                line=settings.line,
            )
        if self._name is None and not store_named:
            self._graph.generated_topics[topic] = None
        self._graph.add(self._step, self._node)
        return self._step
