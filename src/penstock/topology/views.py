"""How an operator reads a table that is not its own: through the nearest store, recomputing what lies between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.functions import Function


class View:
    """A readable table: key -> (value, timestamp), or nothing."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class StoreView(View):
    """The rows of a store, of any kind: timestamped, versioned, window (windowed keys), session (windowed keys)."""

    store: str


@dataclass(frozen=True, slots=True)
class FilterView(View):
    """Rows of the parent for which the predicate holds."""

    parent: View
    predicate: Function
    negate: bool


@dataclass(frozen=True, slots=True)
class MapValuesView(View):
    """Rows of the parent with mapped values."""

    parent: View
    mapper: Function


@dataclass(frozen=True, slots=True)
class TransformValuesView(View):
    """Rows of the parent through a user's transformer (called with None for a missing row)."""

    parent: View
    supplier: Any
    stores: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JoinView(View):
    """The join of two tables on the same key, computed when read."""

    kind: str
    left: View
    right: View
    joiner: Function


@dataclass(frozen=True, slots=True)
class SuppressView(View):
    """The value last emitted by a suppress: the buffered key's value before it was buffered, else the parent's."""

    parent: View
    buffer: str
