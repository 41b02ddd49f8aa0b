"""What tables have in common: their place in the graph, and how a derived table is added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from penstock.errors import UnsupportedOperation
from penstock.state.builders import StoreBuilder
from penstock.streams.materialized import given_store_name, is_versioned, key_value_store
from penstock.streams.settings import Settings
from penstock.streams.stream_base import K, V
from penstock.streams.table_place import TablePlace
from penstock.topology.graph import Graph, GraphNode
from penstock.topology.graph.tables import TableResult

if TYPE_CHECKING:
    from penstock.streams.ktable import KTable


_OF_STREAMS = {"to", "through", "for_each", "foreach", "print", "peek", "map", "flat_map", "flat_map_values"}
_OF_STREAMS |= {"select_key", "group_by_key", "merge", "split", "process", "process_values", "repartition"}


class TableBase(Generic[K, V]):
    """A table. Immutable: every operator gives a new object."""

    __slots__ = ("_place",)

    def __init__(self, place: TablePlace) -> None:
        self._place = place

    def __repr__(self) -> str:
        return f"KTable({self._place.name})"

    def __getattr__(self, name: str) -> Any:
        if name in _OF_STREAMS:
            raise UnsupportedOperation(
                f"a table has no {name}()", hint=f"Make it a stream first: to_stream().{name}(...)."
            )
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @property
    def _graph(self) -> Graph:
        return self._place.graph

    def _optional_store(self, settings: Settings, prefix: str) -> str | None:
        """The store to materialise a result in, if the user named one.

        Options of a store without its name draw a number all the same, as in Kafka.
        """
        given = given_store_name(settings)
        if given is None and settings.describes_store:
            self._graph.names.store(prefix)
        return given

    def _serdes(self, settings: Settings, value_serde: Any) -> tuple[Any, Any]:
        key = self._place.key_serde if settings.key_serde is None else settings.key_serde
        return key, value_serde if settings.value_serde is None else settings.value_serde

    def _builders(self, settings: Settings, store: str | None, key: Any, value: Any) -> tuple[StoreBuilder, ...]:
        if store is None:
            return ()
        return (key_value_store(self._graph, settings, store, key_serde=key, value_serde=value),)

    def _derive(
        self, node: GraphNode, result: TableResult, settings: Settings, key: Any, value: Any, store: str | None
    ) -> KTable[Any, Any]:
        """Put a node below this table and give the table that comes out of it."""
        from penstock.streams.ktable import KTable

        if store is not None:
            node.versioned = is_versioned(settings)
        place = self._place
        self._graph.add(node, place.node)
        return KTable(
            TablePlace(place.graph, node.name, node, place.sources, result, key, value, store, place.windowed)
        )
