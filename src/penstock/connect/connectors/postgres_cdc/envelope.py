"""The envelope of a change: the row before and after, where it is from, what happened and when."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from penstock.connect.data import Schema, SourceRecord, Struct, Type
from penstock.connect.data.schema import (
    INT64_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Field,
)

VERSION = version("penstock")
CONNECTOR = "postgresql"


def _struct(name: str, fields: dict[str, Schema], *, optional: bool = False, of_version: int | None = None) -> Schema:
    made = tuple(Field(field, place, schema) for place, (field, schema) in enumerate(fields.items()))
    return Schema(Type.STRUCT, name=name, optional=optional, version=of_version, fields=made)


SNAPSHOT_SCHEMA = Schema(
    Type.STRING,
    name="io.debezium.data.Enum",
    version=1,
    optional=True,
    default="false",
    parameters={"allowed": "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"},
)
SOURCE_SCHEMA = _struct(
    "io.debezium.connector.postgresql.Source",
    {
        "version": STRING_SCHEMA,
        "connector": STRING_SCHEMA,
        "name": STRING_SCHEMA,
        "ts_ms": INT64_SCHEMA,
        "snapshot": SNAPSHOT_SCHEMA,
        "db": STRING_SCHEMA,
        "sequence": OPTIONAL_STRING_SCHEMA,
        "ts_us": OPTIONAL_INT64_SCHEMA,
        "ts_ns": OPTIONAL_INT64_SCHEMA,
        "schema": STRING_SCHEMA,
        "table": STRING_SCHEMA,
        "txId": OPTIONAL_INT64_SCHEMA,
        "lsn": OPTIONAL_INT64_SCHEMA,
        "xmin": OPTIONAL_INT64_SCHEMA,
    },
)
_TRANSACTION_SCHEMA = _struct(
    "event.block",
    {"id": STRING_SCHEMA, "total_order": INT64_SCHEMA, "data_collection_order": INT64_SCHEMA},
    optional=True,
    of_version=1,
)


def envelope_schema(topic: str, value: Schema) -> Schema:
    """The schema of the changes of a table."""
    return _struct(
        f"{topic}.Envelope",
        {
            "before": value,
            "after": value,
            "source": SOURCE_SCHEMA,
            "transaction": _TRANSACTION_SCHEMA,
            "op": STRING_SCHEMA,
            "ts_ms": OPTIONAL_INT64_SCHEMA,
            "ts_us": OPTIONAL_INT64_SCHEMA,
            "ts_ns": OPTIONAL_INT64_SCHEMA,
        },
        of_version=2,
    )


def source(
    *,
    prefix: str,
    database: str,
    schema: str,
    table: str,
    micros: int,
    lsn: int,
    tx_id: int | None,
    last_commit: int | None = None,
    snapshot: str = "false",
) -> Struct:
    """Where a change is from.

    Args:
        prefix: topic.prefix.
        database: Name of the database.
        schema: Name of the table's schema.
        table: Name of the table.
        micros: When it happened, in microseconds since 1970.
        lsn: Its place in the server's log.
        tx_id: Its transaction.
        last_commit: Where the transaction before it was committed.
        snapshot: false, or which row of a snapshot it is.
    """
    # JSON, written by hand: each record has one.
    sequence = f'[null,"{lsn}"]' if last_commit is None else f'["{last_commit}","{lsn}"]'
    of = [VERSION, CONNECTOR, prefix, micros // 1000, snapshot, database, sequence, micros, micros * 1000]
    return Struct.of(SOURCE_SCHEMA, [*of, schema, table, tx_id, lsn, None])


def envelope(schema: Schema, before: Any, after: Any, origin: Struct, op: str) -> Struct:
    """The value of a change."""
    nanos = time.time_ns()
    return Struct.of(schema, [before, after, origin, None, op, nanos // 1_000_000, nanos // 1000, nanos // 1000 * 1000])


_HEARTBEAT_KEY = _struct("io.debezium.connector.common.ServerNameKey", {"serverName": STRING_SCHEMA})
_HEARTBEAT_VALUE = _struct("io.debezium.connector.common.Heartbeat", {"ts_ms": INT64_SCHEMA})


def heartbeat(topic: str, prefix: str, millis: int, partition: Mapping[str, Any]) -> SourceRecord:
    """A record that says that the connector is there."""
    key, value = Struct.of(_HEARTBEAT_KEY, [prefix]), Struct.of(_HEARTBEAT_VALUE, [millis])
    return SourceRecord(topic, None, _HEARTBEAT_KEY, key, _HEARTBEAT_VALUE, value, source_partition=partition)
