"""Where a table is in the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.topology.graph import Graph, GraphNode
from penstock.topology.graph.tables import TableResult


@dataclass(frozen=True, slots=True)
class TablePlace:
    """Where a table is in the graph, and what is known of its rows.

    Attributes:
        name: Name of the node the updates come from.
        node: That node.
        sources: Names of the sources that decide how the table is partitioned.
        result: Its store, or how to compute its rows.
        key_serde / value_serde: Serdes the next operators inherit; None where an operator made them unknown.
        queryable: Name of the store if the user chose it.
        windowed: Its keys are windowed.
    """

    graph: Graph
    name: str
    node: GraphNode
    sources: tuple[str, ...]
    result: TableResult
    key_serde: Any = None
    value_serde: Any = None
    queryable: str | None = None
    windowed: bool = False
