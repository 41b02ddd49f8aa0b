"""Connectors by name: Kafka's class names, short names, entry points of installed packages, Python classes.

A package adds its own with an entry point of the group `penstock.connectors`; the name is what configurations say:

    [project.entry-points."penstock.connectors"]
    "com.example.ParcelSourceConnector" = "parcels.connect:ParcelSourceConnector"
"""

from __future__ import annotations

from penstock.connect.api.connector import Connector, SinkConnector, SourceConnector
from penstock.connect.errors import ConfigError
from penstock.connect.plugins import Plugin, Plugins
from penstock.connect.validation.connector_keys import ConnectorKind

ENTRY_POINTS = "penstock.connectors"
_HERE = "penstock.connect.connectors"
_FILE = "org.apache.kafka.connect.file"
_TOOLS = "org.apache.kafka.connect.tools"
_SEARCH = "io.confluent.connect.elasticsearch"
_AIVEN_SEARCH = "io.aiven.connect.elasticsearch"
_OPENSEARCH = "io.aiven.kafka.connect.opensearch"

CONNECTORS: Plugins[Connector] = Plugins(
    "connector",
    Connector,
    (
        Plugin(f"{_FILE}.FileStreamSinkConnector", f"{_HERE}.file_stream_sink:FileStreamSinkConnector"),
        Plugin(f"{_FILE}.FileStreamSourceConnector", f"{_HERE}.file_stream_source:FileStreamSourceConnector"),
        Plugin(f"{_TOOLS}.MockSinkConnector", f"{_HERE}.mock_sink:MockSinkConnector"),
        Plugin(f"{_TOOLS}.MockSourceConnector", f"{_HERE}.mock_source:MockSourceConnector"),
        Plugin("io.confluent.kafka.connect.datagen.DatagenConnector", f"{_HERE}.datagen:DatagenConnector"),
        Plugin("io.confluent.connect.hdfs.HdfsSinkConnector", f"{_HERE}.storage.hdfs_sink:HdfsSinkConnector"),
        Plugin("io.confluent.connect.hdfs3.Hdfs3SinkConnector", f"{_HERE}.storage.hdfs_sink:HdfsSinkConnector"),
        Plugin(f"{_AIVEN_SEARCH}.ElasticsearchSinkConnector", f"{_HERE}.search.sink:ElasticsearchSinkConnector"),
        Plugin(f"{_SEARCH}.ElasticsearchSinkConnector", f"{_HERE}.search.sink:ElasticsearchSinkConnector"),
        Plugin(f"{_OPENSEARCH}.OpensearchSinkConnector", f"{_HERE}.search.opensearch:OpensearchSinkConnector"),
        Plugin("io.confluent.connect.s3.S3SinkConnector", f"{_HERE}.storage.s3_sink:S3SinkConnector"),
        Plugin("penstock.FileSystemSinkConnector", f"{_HERE}.storage.file_system_sink:FileSystemSinkConnector"),
        Plugin("io.aiven.connect.jdbc.JdbcSinkConnector", f"{_HERE}.jdbc.sink.connector:JdbcSinkConnector"),
        Plugin("io.confluent.connect.jdbc.JdbcSinkConnector", f"{_HERE}.jdbc.sink.connector:JdbcSinkConnector"),
        Plugin("io.aiven.connect.jdbc.JdbcSourceConnector", f"{_HERE}.jdbc.source.connector:JdbcSourceConnector"),
        Plugin("io.confluent.connect.jdbc.JdbcSourceConnector", f"{_HERE}.jdbc.source.connector:JdbcSourceConnector"),
        Plugin(
            "io.debezium.connector.postgresql.PostgresConnector", f"{_HERE}.postgres_cdc.connector:PostgresConnector"
        ),
    ),
    suffix="Connector",
    entry_point_group=ENTRY_POINTS,
)


def connector_kind(connector: type[Connector]) -> ConnectorKind:
    """Which way a connector's records go.

    >>> connector_kind(CONNECTORS.find("FileStreamSink"))
    <ConnectorKind.SINK: 'sink'>

    Raises:
        ConfigError: It is neither a source nor a sink.
    """
    if issubclass(connector, SourceConnector):
        return ConnectorKind.SOURCE
    if issubclass(connector, SinkConnector):
        return ConnectorKind.SINK
    raise ConfigError(
        f"{connector.__module__}.{connector.__qualname__} is neither a source nor a sink.",
        hint="Make it a subclass of SourceConnector or SinkConnector.",
    )
