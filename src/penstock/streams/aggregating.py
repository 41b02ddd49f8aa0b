"""The aggregation of a grouped stream into a table, with and without windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.errors import TopologyError
from penstock.serde import resolve_serde
from penstock.state.builders import StoreBuilder
from penstock.streams.ktable import KTable
from penstock.streams.materialized import given_store_name, is_versioned, key_value_store, session_store, window_store
from penstock.streams.settings import Settings
from penstock.streams.stream_base import StreamPlace
from penstock.streams.table_place import TablePlace
from penstock.topology.graph import Graph, GraphNode, OperatorNode, RepartitionNode
from penstock.topology.graph.repartition import new_repartition
from penstock.topology.graph.tables import AggregateResult
from penstock.topology.operators import (
    Aggregation,
    Operator,
    SessionAggregate,
    SlidingAggregate,
    StreamAggregate,
    WindowAggregate,
)
from penstock.topology.windowed_serdes import windowed_serde
from penstock.windows import SessionWindows, SlidingWindows, UnlimitedWindows, Windows


@dataclass(eq=False, slots=True)
class Group:
    """A grouped stream.

    Attributes:
        place: The stream.
        name: Name of the repartition topic, if the user gave one.
        step: The repartition step of an earlier aggregation; used again if the user named it.
    """

    place: StreamPlace
    name: str | None
    key_serde: Any
    value_serde: Any
    step: RepartitionNode | None = None


def aggregate_stream(
    group: Group,
    aggregation: Aggregation,
    settings: Settings,
    windows: Windows | None = None,
    *,
    on_close: bool = False,
) -> KTable[Any, Any]:
    """The table of an aggregation; `windows` None aggregates over all time."""
    if on_close and isinstance(windows, UnlimitedWindows):
        raise TopologyError(
            "unlimited windows never close", line=settings.line, hint="Emit updates, or use other windows."
        )
    graph = group.place.graph
    prefix = "KSTREAM-REDUCE-" if aggregation.kind == "reduce" else "KSTREAM-AGGREGATE-"
    given = given_store_name(settings) or settings.name
    counts = aggregation.kind == "count" and not isinstance(windows, SlidingWindows)
    if counts and given is None and settings.describes_store:
        graph.names.store(prefix)  # one number more: Kafka kept this so that names of old applications stay
    store, named = graph.store_name(given, prefix)
    name = graph.names.given_or_node(settings.name, prefix)
    key = group.key_serde if settings.key_serde is None else settings.key_serde
    value = _value_serde(group, aggregation, settings)
    parent, sources = partitioned(group, store, settings.line, store_named=named)
    builder = result_store(graph, settings, store, windows, on_close=on_close, key_serde=key, value_serde=value)
    result = AggregateResult(store)
    node = OperatorNode(
        name,
        lambda: aggregate_operator(store, aggregation, windows, on_close=on_close, send_old=result.send_old),
        builders=(builder,),
        line=settings.line,
    )
    node.versioned = is_versioned(settings)
    node.window_close = window_close(windows)
    graph.add(node, parent)
    return aggregated_table(
        graph, node, sources, result, windows, key_serde=key, value_serde=value, queryable=store if named else None
    )


def aggregated_table(
    graph: Graph,
    node: GraphNode,
    sources: tuple[str, ...],
    result: Any,
    windows: Windows | None,
    *,
    key_serde: Any,
    value_serde: Any,
    queryable: str | None,
) -> KTable[Any, Any]:
    """The table that comes out of a node; its keys are windowed if there are windows."""
    key = key_serde if windows is None else windowed_serde(key_serde, windows)
    return KTable(
        TablePlace(graph, node.name, node, sources, result, key, value_serde, queryable, windowed=windows is not None)
    )


def partitioned(group: Group, store: str, line: str | None, *, store_named: bool) -> tuple[GraphNode, tuple[str, ...]]:
    """The node to aggregate below, and its sources: a repartition step if the key changed."""
    place = group.place
    if not place.rekeyed:
        return place.node, place.sources
    step = new_repartition(
        place.graph, group.name or store, key_serde=group.key_serde, value_serde=group.value_serde, line=line
    )
    if group.name is None and not store_named:
        place.graph.generated_topics[step.names.topic] = None
    if group.step is None or group.name is None:
        group.step = step
    place.graph.add(group.step, place.node)
    return group.step, (group.step.name,)


def result_store(
    graph: Graph,
    settings: Settings,
    name: str,
    windows: Windows | None,
    *,
    on_close: bool,
    key_serde: Any,
    value_serde: Any,
) -> StoreBuilder:
    """The store that keeps the aggregates."""
    if windows is None:
        return key_value_store(graph, settings, name, key_serde=key_serde, value_serde=value_serde)
    if isinstance(windows, SessionWindows):
        return session_store(
            graph, settings, name, windows, on_close=on_close, key_serde=key_serde, value_serde=value_serde
        )
    return window_store(graph, settings, name, windows, on_close=on_close, key_serde=key_serde, value_serde=value_serde)


def aggregate_operator(
    store: str, aggregation: Aggregation, windows: Windows | None, *, on_close: bool, send_old: bool
) -> Operator:
    """The operator for a kind of windows."""
    if windows is None:
        return StreamAggregate(store, aggregation, send_old)
    if isinstance(windows, SessionWindows):
        return SessionAggregate(store, windows, aggregation, on_close, send_old)
    if isinstance(windows, SlidingWindows):
        return SlidingAggregate(store, windows, aggregation, on_close, send_old)
    return WindowAggregate(store, windows, aggregation, on_close, send_old)


def window_close(windows: Windows | None) -> int | None:
    """How long after its end a window still takes records, which is when its result is final."""
    if windows is None:
        return None
    return windows.grace + (windows.gap if isinstance(windows, SessionWindows) else 0)


def _value_serde(group: Group, aggregation: Aggregation, settings: Settings) -> Any:
    if settings.value_serde is not None:
        return settings.value_serde
    if aggregation.kind == "count":
        return resolve_serde("long")
    return group.value_serde if aggregation.kind == "reduce" else None
