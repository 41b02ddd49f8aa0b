"""The check that all stores and internal topics have names of the user's choice."""

from __future__ import annotations

from penstock.errors import TopologyError
from penstock.topology.config import TopologyConfig
from penstock.topology.graph import Graph
from penstock.topology.topology import Topology


def check_explicit_names(graph: Graph, topology: Topology, config: TopologyConfig) -> None:
    """Refuse generated names of stores, changelogs and repartition topics, if the configuration asks for that.

    Such names carry a number that changes when an operator is added before them, and the state is lost.
    """
    if not config.explicit_names:
        return
    stores = [name for name in graph.generated_stores if name in topology.stores]
    changelogs = [
        f"{name}-changelog"
        for name in stores
        if topology.stores[name].logging and name not in topology.source_changelogs
    ]
    topics = [name for name in graph.generated_topics if name in topology.internal_topics]
    found = [("stores", stores), ("changelog topics", changelogs), ("repartition topics", topics)]
    listed = [f"{what} {', '.join(names)}" for what, names in found if names]
    if listed:
        raise TopologyError(
            f"ensure.explicit.internal.resource.naming is set, but these names are generated: {'; '.join(listed)}",
            hint="Give the operators name= (or store=, Grouped, Joined, StreamJoined, Repartitioned, TableJoined names).",
        )
