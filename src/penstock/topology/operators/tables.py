"""Operators on tables. Their edges carry changes: new value, old value, and whether the change is the latest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.functions import Function
from penstock.topology.operators.base import Edge, Operator
from penstock.topology.views import View


@dataclass(frozen=True, slots=True)
class TableSource(Operator):
    """A topic or stream read as a table. Without a store it only turns records into changes."""

    gives: ClassVar[Edge] = Edge.TABLE
    store: str | None
    send_old: bool = False


@dataclass(frozen=True, slots=True)
class GlobalTableSource(Operator):
    """Keeps a global table's store up to date; nothing is forwarded."""

    store: str


@dataclass(frozen=True, slots=True)
class TableFilter(Operator):
    """Turns rows for which the predicate does not hold into tombstones."""

    takes: ClassVar[Edge] = Edge.TABLE
    gives: ClassVar[Edge] = Edge.TABLE
    predicate: Function
    negate: bool = False
    store: str | None = None
    send_old: bool = False
    versioned: bool = False  # the parent's changes are versions, not replacements


@dataclass(frozen=True, slots=True)
class TableMapValues(Operator):
    """A new value for each row; tombstones stay tombstones without a call."""

    takes: ClassVar[Edge] = Edge.TABLE
    gives: ClassVar[Edge] = Edge.TABLE
    mapper: Function
    store: str | None = None
    send_old: bool = False


@dataclass(frozen=True, slots=True)
class TableTransformValues(Operator):
    """A user's transformer of values, which is called with tombstones too."""

    takes: ClassVar[Edge] = Edge.TABLE
    gives: ClassVar[Edge] = Edge.TABLE
    supplier: Any
    store: str | None = None
    send_old: bool = False
    parent: View | None = None  # where old values are computed from when there is no store


@dataclass(frozen=True, slots=True)
class TableToStream(Operator):
    """Forwards the new value of every change."""

    takes: ClassVar[Edge] = Edge.TABLE


@dataclass(frozen=True, slots=True)
class TableRepartitionMap(Operator):
    """The mapping half of a table's group_by: records whose values are `Change`, old side first if keys differ."""

    takes: ClassVar[Edge] = Edge.TABLE
    mapper: Function
    versioned: bool = False


@dataclass(frozen=True, slots=True)
class TableAggregate(Operator):
    """Adds and subtracts the sides of `Change` values (from the repartition topic) to an aggregate."""

    gives: ClassVar[Edge] = Edge.TABLE
    store: str
    initializer: Callable[[], Any]
    adder: Function
    subtractor: Function
    send_old: bool = False


@dataclass(frozen=True, slots=True)
class TableReduce(Operator):
    """As TableAggregate, with the first value as the aggregate."""

    gives: ClassVar[Edge] = Edge.TABLE
    store: str
    adder: Function
    subtractor: Function
    send_old: bool = False


@dataclass(frozen=True, slots=True)
class TableJoin(Operator):
    """One side of a table-table join on the same key. `kind` is inner, left or outer; `side` is left or right."""

    takes: ClassVar[Edge] = Edge.TABLE
    gives: ClassVar[Edge] = Edge.TABLE
    kind: str
    side: str
    other: View
    joiner: Function
    send_old: bool = False
    versioned: bool = False  # changes of this side may be older than the latest version: those are ignored
    own: View | None = None  # the side's own rows: whether they wait in a cache


@dataclass(frozen=True, slots=True)
class TableJoinMerge(Operator):
    """Where the two sides of a table-table join meet; materialises the result if it has a store."""

    takes: ClassVar[Edge] = Edge.TABLE
    gives: ClassVar[Edge] = Edge.TABLE
    store: str | None = None
    send_old: bool = False


@dataclass(frozen=True, slots=True)
class Suppress(Operator):
    """Holds updates back until a time limit or until their window closes.

    Attributes:
        store: Name of the buffer.
        wait: Milliseconds of stream time to wait (the grace of the window for window closes).
        until_window_closes: Time of an entry is the end of its window, and tombstones are swallowed.
        max_records / max_bytes: Limits of the buffer, None for no limit.
        strict: Fail when the buffer is full instead of emitting the oldest entries.
    """

    takes: ClassVar[Edge] = Edge.TABLE
    gives: ClassVar[Edge] = Edge.TABLE
    store: str
    wait: int
    until_window_closes: bool
    max_records: int | None
    max_bytes: int | None
    strict: bool
    parent: View | None = None  # operators that read the suppressed table look here for keys that are not buffered
    send_old: bool = False
