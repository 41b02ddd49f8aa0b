"""Grouped streams with windows, waiting to be aggregated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic

from typing_extensions import Self

from penstock.durations import Duration
from penstock.errors import TopologyError
from penstock.functions import AGGREGATOR, MERGER, REDUCER, Function, function, initializer
from penstock.records import Windowed
from penstock.source_line import user_line
from penstock.streams.aggregating import Group, aggregate_stream
from penstock.streams.expression_aggregates import aggregate_expressions
from penstock.streams.ktable import KTable
from penstock.streams.materialized import Materialized
from penstock.streams.parameters import Named, SerdeLike
from penstock.streams.settings import Settings, gather
from penstock.streams.stream_base import K, V
from penstock.topology.operators import Aggregation
from penstock.windows import EmitStrategy, SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows, Windows


class _WindowedStream(Generic[K, V]):
    """What streams by time windows and by sessions share."""

    __slots__ = ("_emit", "_group", "_windows")

    def __init__(self, group: Group, windows: Windows, emit: EmitStrategy | None = None) -> None:
        self._group = group
        self._windows = windows
        self._emit = emit

    def emit_strategy(self, strategy: EmitStrategy) -> Self:
        """When results are forwarded: with every update, or once when the window closes."""
        if not isinstance(strategy, EmitStrategy):
            raise TopologyError(
                f"the emit strategy is {strategy!r}", line=user_line(), hint="Give EmitStrategy.on_window_close()."
            )
        return type(self)(self._group, self._windows, strategy)

    def count(
        self,
        *parameters: Materialized | Named,
        emit: str | None = None,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        retention: Duration | None = None,
    ) -> KTable[Windowed[K], int]:
        """The number of records of each key and window.

        Args:
            parameters: `Materialized`, `Named`.
            emit: "update" (the default) or "close".
            name: Name of the operator and, unless `store` names it, of its store.
            store: Name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys, without their windows; the group's own, or the configured default.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            retention: How long windows are kept; at least size and grace.
        """
        line = user_line()
        settings = gather(
            "count",
            parameters,
            (Materialized, Named),
            line,
            name=name,
            store=store,
            key_serde=key_serde,
            cache=cache,
            logging=logging,
            retention=retention,
        )
        return self._aggregate(Aggregation.count(), settings, emit)

    def reduce(
        self,
        reducer: Callable[[V, V], V],
        *parameters: Materialized | Named,
        associative: bool = False,
        emit: str | None = None,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        retention: Duration | None = None,
    ) -> KTable[Windowed[K], V]:
        """Combine the values of each key and window; the first one is taken as it is.

        Args:
            reducer: Function of (aggregate, value).
            parameters: `Materialized`, `Named`.
            associative: Promise that `f(f(a, b), c) == f(a, f(b, c))`.
            emit: "update" (the default) or "close".
            name: Name of the operator and, unless `store` names it, of its store.
            store: Name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys, without their windows.
            value_serde: Serde of values.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            retention: How long windows are kept; at least size and grace.
        """
        line = user_line()
        settings = gather(
            "reduce",
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
        combine = function(reducer, REDUCER, "the reducer", line=line)
        merger = Function(combine.call, ("left", "right"), combine.text)
        return self._aggregate(Aggregation("reduce", None, combine, merger, associative), settings, emit)

    def agg(self, *parameters: Materialized | Named, **aggregates: Any) -> KTable[Windowed[K], dict[str, Any]]:
        """Several aggregates of expressions as one dict. Use `emit_strategy` to emit when windows close."""
        on_close = self._emit is not None and self._emit.on_close
        return aggregate_expressions(self._group, parameters, aggregates, user_line(), self._windows, on_close=on_close)

    def _aggregate(self, aggregation: Aggregation, settings: Settings, emit: str | None) -> KTable[Any, Any]:
        return aggregate_stream(
            self._group, aggregation, settings, self._windows, on_close=self._on_close(emit, settings.line)
        )

    def _on_close(self, emit: str | None, line: str | None) -> bool:
        if emit not in {None, "update", "close"}:
            raise TopologyError(f"emit is {emit!r}", line=line, hint='Give "update" or "close".')
        if emit is not None and self._emit is not None:
            raise TopologyError(
                "emit is given twice: by emit_strategy and by emit=", line=line, hint="Keep one of them."
            )
        return emit == "close" or (self._emit is not None and self._emit.on_close)


class TimeWindowedKStream(_WindowedStream[K, V]):
    """A grouped stream by tumbling, hopping, sliding or unlimited windows."""

    __slots__ = ()

    def aggregate(
        self,
        initial: Any,
        aggregator: Callable[..., Any],
        *parameters: Materialized | Named,
        emit: str | None = None,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        retention: Duration | None = None,
    ) -> KTable[Windowed[K], Any]:
        """Aggregate the values of each key and window.

        Args:
            initial: Function without arguments that gives the aggregate of an empty window, or a constant.
            aggregator: Function of (value, aggregate) or (key, value, aggregate).
            parameters: `Materialized`, `Named`.
            emit: "update" (the default) or "close".
            name: Name of the operator and, unless `store` names it, of its store.
            store: Name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys, without their windows.
            value_serde: Serde of aggregates; the configured default.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            retention: How long windows are kept; at least size and grace.
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
        step = function(aggregator, AGGREGATOR, "the aggregator", line=line)
        return self._aggregate(Aggregation("aggregate", initializer(initial, line=line), step), settings, emit)


class SessionWindowedKStream(_WindowedStream[K, V]):
    """A grouped stream by sessions."""

    __slots__ = ()

    def aggregate(
        self,
        initial: Any,
        aggregator: Callable[..., Any],
        merger: Callable[..., Any],
        *parameters: Materialized | Named,
        emit: str | None = None,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        retention: Duration | None = None,
    ) -> KTable[Windowed[K], Any]:
        """Aggregate the values of each key and session.

        Args:
            initial: Function without arguments that gives the aggregate of an empty session, or a constant.
            aggregator: Function of (value, aggregate) or (key, value, aggregate).
            merger: Function of (left, right) or (key, left, right) that joins the aggregates of two sessions.
            parameters: `Materialized`, `Named`.
            emit: "update" (the default) or "close".
            name: Name of the operator and, unless `store` names it, of its store.
            store: Name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys, without their windows.
            value_serde: Serde of aggregates; the configured default.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            retention: How long sessions are kept; at least gap and grace.
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
        step = function(aggregator, AGGREGATOR, "the aggregator", line=line)
        merge = function(merger, MERGER, "the merger", line=line)
        aggregation = Aggregation("aggregate", initializer(initial, line=line), step, merge)
        return self._aggregate(aggregation, settings, emit)


def windowed(group: Group, windows: Windows, line: str | None) -> Any:
    """The grouped stream with windows of any kind."""
    if isinstance(windows, SessionWindows):
        return SessionWindowedKStream(group, windows)
    if isinstance(windows, (TimeWindows, SlidingWindows, UnlimitedWindows)):
        return TimeWindowedKStream(group, windows)
    raise not_windows(windows, line)


def not_windows(given: Any, line: str | None) -> TopologyError:
    """The error for something else than windows."""
    return TopologyError(
        f"windowed_by was given {given!r}",
        line=line,
        hint="Give TimeWindows, SlidingWindows, SessionWindows or UnlimitedWindows.",
    )
