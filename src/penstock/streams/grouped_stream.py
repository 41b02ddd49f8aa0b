"""KGroupedStream: records grouped by key, waiting to be aggregated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic

from penstock.durations import Duration
from penstock.functions import AGGREGATOR, REDUCER, function, initializer
from penstock.source_line import user_line
from penstock.streams.aggregating import Group, aggregate_stream
from penstock.streams.cogrouped import CogroupedKStream
from penstock.streams.expression_aggregates import aggregate_expressions
from penstock.streams.ktable import KTable
from penstock.streams.materialized import Materialized
from penstock.streams.parameters import Named, SerdeLike
from penstock.streams.settings import Settings, gather
from penstock.streams.stream_base import K, StreamPlace, V
from penstock.streams.windowed import SessionWindowedKStream, TimeWindowedKStream, windowed
from penstock.topology.operators import Aggregation
from penstock.windows import SessionWindows, SlidingWindows, TimeWindows, Windows


class KGroupedStream(Generic[K, V]):
    """A stream grouped by key. `count`, `reduce`, `aggregate` and `agg` give tables; windows come first if wanted."""

    __slots__ = ("_group",)

    def __init__(self, group: Group) -> None:
        self._group = group

    @classmethod
    def of(cls, place: StreamPlace, settings: Settings) -> KGroupedStream[Any, Any]:
        """The groups of a stream; used by `KStream.group_by`."""
        return KGroupedStream(
            Group(
                place,
                settings.name,
                place.key_serde if settings.key_serde is None else settings.key_serde,
                place.value_serde if settings.value_serde is None else settings.value_serde,
            )
        )

    def count(
        self,
        *parameters: Materialized | Named,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        retention: Duration | None = None,
    ) -> KTable[K, int]:
        """The number of records of each key; records without a value are not counted.

        Args:
            parameters: `Materialized`, `Named`.
            name: Name of the operator and, unless `store` names it, of its store.
            store: Name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys; the group's own, or the configured default.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            retention: Only for windows.
        """
        settings = gather(
            "count",
            parameters,
            (Materialized, Named),
            user_line(),
            name=name,
            store=store,
            key_serde=key_serde,
            cache=cache,
            logging=logging,
            retention=retention,
        )
        return aggregate_stream(self._group, Aggregation.count(), settings)

    def reduce(
        self,
        reducer: Callable[[V, V], V],
        *parameters: Materialized | Named,
        associative: bool = False,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        retention: Duration | None = None,
    ) -> KTable[K, V]:
        """Combine the values of each key; the first one is taken as it is.

        Args:
            reducer: Function of (aggregate, value).
            parameters: `Materialized`, `Named`.
            associative: Promise that the reducer is associative and independent of the order of values (commutative):
                `f(f(a, b), c) == f(a, f(b, c))` and `f(a, b) == f(b, a)`. Values are then combined before they are
                sent over the network, and those of different tasks come in another order. `cache="off"` turns
                combining off.
            name: Name of the operator and, unless `store` names it, of its store.
            store: Name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys.
            value_serde: Serde of values.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            retention: Only for windows.
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
        aggregation = Aggregation("reduce", None, combine, associative=associative)
        return aggregate_stream(self._group, aggregation, settings)

    def aggregate(
        self,
        initial: Any,
        aggregator: Callable[..., Any],
        *parameters: Materialized | Named,
        name: str | None = None,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        retention: Duration | None = None,
    ) -> KTable[K, Any]:
        """Aggregate the values of each key.

        Args:
            initial: Function without arguments that gives the aggregate before the first value, or a constant that
                cannot change (`0`, `""`, `()`).
            aggregator: Function of (value, aggregate) or (key, value, aggregate) that gives the next aggregate;
                None deletes the row.
            parameters: `Materialized`, `Named`.
            name: Name of the operator and, unless `store` names it, of its store.
            store: Name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys.
            value_serde: Serde of aggregates; the configured default.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            retention: Only for windows.
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
        aggregation = Aggregation("aggregate", initializer(initial, line=line), step)
        return aggregate_stream(self._group, aggregation, settings)

    def agg(
        self,
        *parameters: Materialized | Named,
        **aggregates: Any,
    ) -> KTable[K, dict[str, Any]]:
        """Several aggregates of expressions as one dict.

        Name or store the result with parameter objects: `agg(Named.as_("stats"), n=fn.count(), sum=fn.sum(v.x))`.

        >>> from penstock import StreamsBuilder, fn, v
        >>> trades = StreamsBuilder().stream("trades", value_serde="json").group_by(v.ticker)
        >>> stats = trades.agg(n=fn.count(), average=fn.avg(v.price))
        """
        return aggregate_expressions(self._group, parameters, aggregates, user_line())

    def windowed_by(self, windows: Windows) -> Any:
        """Aggregate by windows: a `TimeWindowedKStream`, or a `SessionWindowedKStream` for sessions."""
        return windowed(self._group, windows, user_line())

    def tumbling(self, size: Duration, grace: Duration = 0) -> TimeWindowedKStream[K, V]:
        """Windows of a size that do not overlap. Without grace, a window is closed as soon as time reaches its end."""
        return TimeWindowedKStream(self._group, TimeWindows(size, grace=grace))

    def hopping(self, size: Duration, advance: Duration, grace: Duration = 0) -> TimeWindowedKStream[K, V]:
        """Windows of a size, a new one every `advance`."""
        return TimeWindowedKStream(self._group, TimeWindows(size, advance, grace))

    def sliding(self, difference: Duration, grace: Duration = 0) -> TimeWindowedKStream[K, V]:
        """A window for each distinct set of records that lie within a time difference."""
        return TimeWindowedKStream(self._group, SlidingWindows(difference, grace))

    def session(self, gap: Duration, grace: Duration = 0) -> SessionWindowedKStream[K, V]:
        """Sessions: records of a key at most `gap` apart belong together."""
        return SessionWindowedKStream(self._group, SessionWindows(gap, grace))

    def cogroup(self, aggregator: Callable[..., Any]) -> CogroupedKStream[K, Any]:
        """Begin an aggregation of several groups into one table.

        Args:
            aggregator: Function of (value, aggregate) or (key, value, aggregate) for the values of this group.
        """
        line = user_line()
        return CogroupedKStream(((self._group, function(aggregator, AGGREGATOR, "the aggregator", line=line)),))
