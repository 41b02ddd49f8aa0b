"""Aggregations of a stream: without windows, and by time, sliding and session windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.functions import Constant, Function
from penstock.topology.operators.base import Edge, Operator
from penstock.windows import SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows


def _add_one(aggregate: int) -> int:
    return aggregate + 1


@dataclass(frozen=True, slots=True)
class Aggregation:
    """How values become an aggregate, the same for every kind of window.

    Attributes:
        kind: count, reduce, aggregate or expression; lets the interpreter take a faster way where it knows one.
        initializer: Gives the aggregate before the first value; None for reduce, where the first value is taken.
        aggregator: The next aggregate; a reducer takes (aggregate, value).
        merger: Joins the aggregates of two sessions; None unless session windows are aggregated.
        associative: Partial aggregates of the same key may be merged in place of single values.
        mutates: The aggregator may change the aggregate it gets; False only where we know it does not.
    """

    kind: str
    initializer: Callable[[], Any] | None
    aggregator: Function
    merger: Function | None = None
    associative: bool = False
    mutates: bool = True

    @staticmethod
    def count() -> Aggregation:
        """Counts from 0."""
        return Aggregation(
            "count",
            Constant(0),
            Function(_add_one, ("aggregate",), "count"),
            Function(_add, ("left", "right"), "count"),
            associative=True,
            mutates=False,
        )


def _add(left: int, right: int) -> int:
    return left + right


@dataclass(frozen=True, slots=True)
class StreamAggregate(Operator):
    """Aggregates by key, without windows."""

    gives: ClassVar[Edge] = Edge.TABLE
    store: str
    aggregation: Aggregation
    send_old: bool = False


@dataclass(frozen=True, slots=True)
class CombinePartials(Operator):
    """Aggregates what a batch brings of each key, and forwards one partial aggregate a key when the batch ends."""

    aggregation: Aggregation
    key_serde: Any
    partial_serde: Any


@dataclass(frozen=True, slots=True)
class WindowAggregate(Operator):
    """Aggregates by key and tumbling, hopping or unlimited window."""

    gives: ClassVar[Edge] = Edge.TABLE
    store: str
    windows: TimeWindows | UnlimitedWindows
    aggregation: Aggregation
    emit_on_close: bool = False
    send_old: bool = False


@dataclass(frozen=True, slots=True)
class SlidingAggregate(Operator):
    """Aggregates by key and sliding window."""

    gives: ClassVar[Edge] = Edge.TABLE
    store: str
    windows: SlidingWindows
    aggregation: Aggregation
    emit_on_close: bool = False
    send_old: bool = False


@dataclass(frozen=True, slots=True)
class SessionAggregate(Operator):
    """Aggregates by key and session."""

    gives: ClassVar[Edge] = Edge.TABLE
    store: str
    windows: SessionWindows
    aggregation: Aggregation
    emit_on_close: bool = False
    send_old: bool = False
