"""What connectors are written against: connectors, tasks, and what the worker gives them. Pure Python."""

from penstock.connect.api.connector import (
    Connector,
    ConnectorContext,
    ExactlyOnceSupport,
    SinkConnector,
    SourceConnector,
)
from penstock.connect.api.registry import CONNECTORS, connector_kind
from penstock.connect.api.sink_task import SinkTask, SinkTaskContext, TopicPartition
from penstock.connect.api.source_task import Offset, OffsetReader, Partition, SourceRange, SourceTask

__all__ = [
    "CONNECTORS",
    "Connector",
    "ConnectorContext",
    "ExactlyOnceSupport",
    "Offset",
    "OffsetReader",
    "Partition",
    "SinkConnector",
    "SinkTask",
    "SinkTaskContext",
    "SourceConnector",
    "SourceRange",
    "SourceTask",
    "TopicPartition",
    "connector_kind",
]
