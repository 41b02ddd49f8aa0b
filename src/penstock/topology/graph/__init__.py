"""The logical graph: what the DSL calls built, before the optimizer rules and the physical topology."""

from penstock.topology.graph.graph import Graph, GraphNode
from penstock.topology.graph.joins import StreamStreamJoinNode, StreamTableJoinNode, TableTableJoinNode
from penstock.topology.graph.processors import OperatorNode, SinkGraphNode
from penstock.topology.graph.repartition import RepartitionNode, TableRepartitionNode
from penstock.topology.graph.sources import GlobalStoreGraphNode, StateStoreNode, StreamSourceNode, TableSourceNode

__all__ = [
    "GlobalStoreGraphNode",
    "Graph",
    "GraphNode",
    "OperatorNode",
    "RepartitionNode",
    "SinkGraphNode",
    "StateStoreNode",
    "StreamSourceNode",
    "StreamStreamJoinNode",
    "StreamTableJoinNode",
    "TableRepartitionNode",
    "TableSourceNode",
    "TableTableJoinNode",
]
