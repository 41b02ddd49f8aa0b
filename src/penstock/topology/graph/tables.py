"""What the node of a table keeps and can give to the operators that read it.

Two questions travel up a chain of tables. "Can you send old values?": an operator downstream needs the value before
each update, which only a store can tell; with `force`, the nearest source table is materialised for it. "How can I
read you?": the nearest store, and what to recompute on the way down from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from penstock.functions import Function
from penstock.topology.views import (
    FilterView,
    JoinView,
    MapValuesView,
    StoreView,
    SuppressView,
    TransformValuesView,
    View,
)


class TableResult(ABC):
    """The result of an operator that gives a table."""

    def __init__(self) -> None:
        self.send_old = False

    @abstractmethod
    def send_old_values(self, *, force: bool) -> bool:
        """Fill `old` in updates if possible; with `force`, make it possible. Says whether it is so now."""

    @abstractmethod
    def view(self) -> View:
        """How an operator reads this table; materialises an unnamed source table."""


class SourceResult(TableResult):
    """A topic or stream as a table: materialised if the user named the store, or when somebody has to read it."""

    def __init__(self, store: str, *, named: bool) -> None:
        super().__init__()
        self.store = store
        self.materialized = named

    def send_old_values(self, *, force: bool) -> bool:
        if not force and not self.materialized:
            return False
        self.materialized = True
        self.send_old = True
        return True

    def view(self) -> View:
        self.materialized = True
        return StoreView(self.store)


class AggregateResult(TableResult):
    """An aggregation: always has a store."""

    def __init__(self, store: str) -> None:
        super().__init__()
        self.store = store

    def send_old_values(self, *, force: bool) -> bool:
        self.send_old = True
        return True

    def view(self) -> View:
        return StoreView(self.store)


class CogroupResult(TableResult):
    """Where the aggregations of a cogroup meet; they share one store."""

    def __init__(self, store: str, parts: Sequence[AggregateResult]) -> None:
        super().__init__()
        self.store = store
        self._parts = parts

    def send_old_values(self, *, force: bool) -> bool:
        for part in self._parts:
            part.send_old_values(force=force)
        self.send_old = True
        return True

    def view(self) -> View:
        return StoreView(self.store)


class DerivedResult(TableResult):
    """A table computed row by row from its parent; materialised only under a name the user gave."""

    def __init__(self, parent: TableResult, store: str | None) -> None:
        super().__init__()
        self.parent = parent
        self.store = store

    def send_old_values(self, *, force: bool) -> bool:
        if self.store is not None or self.parent.send_old_values(force=force):
            self.send_old = True
        return self.send_old

    def view(self) -> View:
        return StoreView(self.store) if self.store is not None else self._derived_view(self.parent.view())

    @abstractmethod
    def _derived_view(self, parent: View) -> View:
        """How to compute a row from the parent's."""


class FilterResult(DerivedResult):
    """Rows that a predicate lets through."""

    def __init__(self, parent: TableResult, predicate: Function, store: str | None, *, negate: bool) -> None:
        super().__init__(parent, store)
        self._predicate = predicate
        self._negate = negate
        # With old values a filter need not forward tombstones for rows that were never there.
        self.send_old = parent.send_old_values(force=False)

    def _derived_view(self, parent: View) -> View:
        return FilterView(parent, self._predicate, self._negate)


class MapValuesResult(DerivedResult):
    """Rows with mapped values."""

    def __init__(self, parent: TableResult, mapper: Function, store: str | None) -> None:
        super().__init__(parent, store)
        self._mapper = mapper

    def _derived_view(self, parent: View) -> View:
        return MapValuesView(parent, self._mapper)


class TransformValuesResult(DerivedResult):
    """Rows through a user's transformer."""

    def __init__(self, parent: TableResult, supplier: Any, stores: tuple[str, ...], store: str | None) -> None:
        super().__init__(parent, store)
        self._supplier = supplier
        self._stores = stores

    def _derived_view(self, parent: View) -> View:
        return TransformValuesView(parent, self._supplier, self._stores)


class JoinResult(TableResult):
    """The join of two tables on the same key. Both must be readable, so old values are always possible."""

    def __init__(self, kind: str, left: TableResult, right: TableResult, joiner: Function, store: str | None) -> None:
        super().__init__()
        self.left = left
        self.right = right
        self.store = store
        self._kind = kind
        self._joiner = joiner
        self.left_view = left.view()
        self.right_view = right.view()

    def send_old_values(self, *, force: bool) -> bool:
        self.left.send_old_values(force=True)
        self.right.send_old_values(force=True)
        self.send_old = True
        return True

    def view(self) -> View:
        if self.store is not None:
            return StoreView(self.store)
        return JoinView(self._kind, self.left_view, self.right_view, self._joiner)


class SuppressResult(TableResult):
    """A suppressed table: readers see what was emitted last."""

    def __init__(self, parent: TableResult, buffer: str) -> None:
        super().__init__()
        self.parent = parent
        self._buffer = buffer
        # The buffer shows a key's value from before it was buffered, so the parent must send it.
        parent.send_old_values(force=True)

    def send_old_values(self, *, force: bool) -> bool:
        self.send_old = self.parent.send_old_values(force=force)
        return self.send_old

    def view(self) -> View:
        return SuppressView(self.parent.view(), self._buffer)


def stores_of_view(view: View) -> tuple[str, ...]:
    """Names of the stores that reading a view needs."""
    if isinstance(view, StoreView):
        return (view.store,)
    if isinstance(view, JoinView):
        found = (*stores_of_view(view.left), *stores_of_view(view.right))
    elif isinstance(view, SuppressView):
        found = (*stores_of_view(view.parent), view.buffer)
    elif isinstance(view, TransformValuesView):
        found = (*stores_of_view(view.parent), *view.stores)
    elif isinstance(view, (FilterView, MapValuesView)):
        found = stores_of_view(view.parent)
    else:
        raise TypeError(f"no stores known for {type(view).__name__}")
    return tuple(dict.fromkeys(found))
