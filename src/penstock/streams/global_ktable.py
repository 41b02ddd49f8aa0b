"""GlobalKTable: a table that every task holds whole."""

from __future__ import annotations

from typing import Any, Generic

from penstock.streams.stream_base import K, V
from penstock.topology.graph import Graph


class GlobalKTable(Generic[K, V]):
    """A table that every task holds whole, to look rows up by any key. Get one from `StreamsBuilder.global_table`."""

    __slots__ = ("_graph", "_key_serde", "_queryable", "_store", "_value_serde")

    def __init__(self, graph: Graph, store: str, queryable: str | None, key_serde: Any, value_serde: Any) -> None:
        self._graph = graph
        self._store = store
        self._queryable = queryable
        self._key_serde = key_serde
        self._value_serde = value_serde

    @property
    def queryable_store_name(self) -> str | None:
        """Name of the store behind the table, if you chose it."""
        return self._queryable

    def __repr__(self) -> str:
        return f"GlobalKTable({self._store})"
