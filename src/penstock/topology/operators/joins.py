"""Joins of streams with streams, tables and global tables."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.functions import Function
from penstock.topology.operators.base import Operator
from penstock.topology.views import View
from penstock.windows import JoinWindows


@dataclass(frozen=True, slots=True)
class StreamJoinWindow(Operator):
    """Forwards each record, then keeps it in its side's window store."""

    store: str


@dataclass(frozen=True, slots=True)
class StreamStreamJoin(Operator):
    """One side of a windowed stream-stream join.

    Attributes:
        kind: inner, left or outer.
        side: left or right: the side whose records this node gets.
        other_store: Window store of the other side's records.
        outer_store: Buffer of unmatched records, shared by both sides; None for inner joins.
        tracker: Name of the clock that both sides share.
    """

    kind: str
    side: str
    other_store: str
    outer_store: str | None
    windows: JoinWindows
    joiner: Function
    tracker: str


@dataclass(frozen=True, slots=True)
class SelfJoin(Operator):
    """Both sides of a stream joined with itself, over one store."""

    store: str
    windows: JoinWindows
    joiner: Function


@dataclass(frozen=True, slots=True)
class StreamTableJoin(Operator):
    """Looks the row of the record's key up; with `grace`, after records were put in time order in `buffer_store`."""

    left: bool
    table: View
    joiner: Function
    grace: int | None = None
    buffer_store: str | None = None


@dataclass(frozen=True, slots=True)
class StreamGlobalJoin(Operator):
    """Looks the row of a selected key up in a global table. The joiner may take stream_key, key, left, right."""

    left: bool
    table: View
    selector: Function
    joiner: Function
