"""Several grouped streams aggregated into one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic

from penstock.durations import Duration
from penstock.errors import TopologyError
from penstock.functions import AGGREGATOR, MERGER, Function, function, initializer
from penstock.records import Windowed
from penstock.source_line import user_line
from penstock.streams.aggregating import (
    Group,
    aggregate_operator,
    aggregated_table,
    partitioned,
    result_store,
    window_close,
)
from penstock.streams.ktable import KTable
from penstock.streams.materialized import Materialized, given_store_name, is_versioned
from penstock.streams.parameters import Named, SerdeLike
from penstock.streams.settings import Settings, gather
from penstock.streams.stream_base import K, V
from penstock.topology.graph import OperatorNode
from penstock.topology.graph.tables import AggregateResult, CogroupResult
from penstock.topology.operators import Aggregation, TableJoinMerge
from penstock.windows import SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows, Windows

Groups = tuple[tuple[Group, Function], ...]
_AGGREGATE = "COGROUPKSTREAM-AGGREGATE-"


class CogroupedKStream(Generic[K, V]):
    """Grouped streams with an aggregator each; all change the same aggregate of a key."""

    __slots__ = ("_groups",)

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def cogroup(self, group: Any, aggregator: Callable[..., Any]) -> CogroupedKStream[K, V]:
        """Add a grouped stream.

        Args:
            group: A `KGroupedStream`.
            aggregator: Function of (value, aggregate) or (key, value, aggregate) for its values.
        """
        from penstock.streams.grouped_stream import KGroupedStream

        line = user_line()
        if not isinstance(group, KGroupedStream):
            raise TopologyError(f"cogroup was given {group!r}", line=line, hint="Give a stream.group_by_key().")
        added: Group = group._group  # noqa: SLF001 - a group's own kind
        if added.place.graph is not self._groups[0][0].place.graph:
            raise TopologyError(
                "cogroup was given groups of two builders",
                line=line,
                hint="Build one topology with one StreamsBuilder.",
            )
        step = function(aggregator, AGGREGATOR, "the aggregator", line=line)
        kept = tuple(
            pair for pair in self._groups if pair[0] is not added
        )  # the same group again replaces its aggregator
        return CogroupedKStream((*kept, (added, step)))

    def windowed_by(self, windows: Windows) -> Any:
        """Aggregate by windows: a `TimeWindowedCogroupedKStream`, or the session one."""
        from penstock.streams.windowed import not_windows

        if isinstance(windows, SessionWindows):
            return SessionWindowedCogroupedKStream(self._groups, windows)
        if isinstance(windows, (TimeWindows, SlidingWindows, UnlimitedWindows)):
            return TimeWindowedCogroupedKStream(self._groups, windows)
        raise not_windows(windows, user_line())

    def aggregate(
        self,
        initial: Any,
        *parameters: Materialized | Named,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
    ) -> KTable[K, V]:
        """The table of the aggregates.

        Args:
            initial: Function without arguments that gives the aggregate before the first value, or a constant.
            parameters: `Materialized`, `Named`.
            name: Name of the operator and, unless `store` names it, of its store.
            store: Name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys; the first group's own, or the configured default.
            value_serde: Serde of aggregates; the configured default.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
        """
        settings = gather(
            "aggregate",
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
        return _aggregate(self._groups, initial, None, None, settings)


class TimeWindowedCogroupedKStream(Generic[K, V]):
    """Cogrouped streams by tumbling, hopping, sliding or unlimited windows."""

    __slots__ = ("_groups", "_windows")

    def __init__(self, groups: Groups, windows: TimeWindows | SlidingWindows | UnlimitedWindows) -> None:
        self._groups = groups
        self._windows = windows

    def aggregate(
        self,
        initial: Any,
        *parameters: Materialized | Named,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        retention: Duration | None = None,
    ) -> KTable[Windowed[K], V]:
        """The table of the aggregates by key and window. Arguments as for `CogroupedKStream.aggregate`."""
        settings = gather(
            "aggregate",
            parameters,
            (Materialized, Named),
            user_line(),
            name=name,
            store=store,
            key_serde=key_serde,
            value_serde=value_serde,
            cache=cache,
            logging=logging,
            retention=retention,
        )
        return _aggregate(self._groups, initial, None, self._windows, settings)


class SessionWindowedCogroupedKStream(Generic[K, V]):
    """Cogrouped streams by sessions."""

    __slots__ = ("_groups", "_windows")

    def __init__(self, groups: Groups, windows: SessionWindows) -> None:
        self._groups = groups
        self._windows = windows

    def aggregate(
        self,
        initial: Any,
        merger: Callable[..., Any],
        *parameters: Materialized | Named,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        retention: Duration | None = None,
    ) -> KTable[Windowed[K], V]:
        """The table of the aggregates by key and session.

        `merger` is a function of (left, right) or (key, left, right) that joins the aggregates of two sessions; the
        other arguments are those of `CogroupedKStream.aggregate`.
        """
        line = user_line()
        settings = gather(
            "aggregate",
            parameters,
            (Materialized, Named),
            line,
            name=name,
            store=store,
            key_serde=key_serde,
            value_serde=value_serde,
            cache=cache,
            logging=logging,
            retention=retention,
        )
        merge = function(merger, MERGER, "the merger", line=line)
        return _aggregate(self._groups, initial, merge, self._windows, settings)


def _aggregate(
    groups: Groups, initial: Any, merger: Function | None, windows: Windows | None, settings: Settings
) -> KTable[Any, Any]:
    """One aggregation for each group, all on one store, and the node where their updates meet."""
    graph, line = groups[0][0].place.graph, settings.line
    start = initializer(initial, line=line)
    store, named = graph.store_name(given_store_name(settings) or settings.name, _AGGREGATE)
    key = groups[0][0].key_serde if settings.key_serde is None else settings.key_serde
    value = settings.value_serde
    builder = result_store(graph, settings, store, windows, on_close=False, key_serde=key, value_serde=value)
    parents = [partitioned(group, store, line, store_named=named) for group, _ in groups]
    sources = tuple(dict.fromkeys(source for _, found in parents for source in found))
    graph.copartition(sources)
    parts, results = [], []
    for i, ((_, step), (parent, _)) in enumerate(zip(groups, parents, strict=True)):
        part_name = graph.names.given_or_node(settings.name, _AGGREGATE, f"-cogroup-agg-{i}")
        aggregation = Aggregation("aggregate", start, step, merger)
        result = AggregateResult(store)
        node = _part(part_name, store, aggregation, windows, result, builder, line)
        node.versioned = is_versioned(settings)
        node.window_close = window_close(windows)
        graph.add(node, parent)
        parts.append(node)
        results.append(result)
    merge_name = graph.names.given_or_node(settings.name, "COGROUPKSTREAM-MERGE-", "-cogroup-merge")
    merge = OperatorNode(merge_name, TableJoinMerge(None, send_old=True), line=line)
    graph.add(merge, *parts)
    return aggregated_table(
        graph,
        merge,
        sources,
        CogroupResult(store, results),
        windows,
        key_serde=key,
        value_serde=value,
        queryable=store if named else None,
    )


def _part(
    name: str,
    store: str,
    aggregation: Aggregation,
    windows: Windows | None,
    result: AggregateResult,
    builder: Any,
    line: str | None,
) -> OperatorNode:
    return OperatorNode(
        name,
        lambda: aggregate_operator(store, aggregation, windows, on_close=False, send_old=result.send_old),
        builders=(builder,),
        line=line,
    )
