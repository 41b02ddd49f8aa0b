"""What a column holds: a type of Connect, with the meaning its name gives it."""

from __future__ import annotations

from enum import Enum

from penstock.connect.connectors.jdbc.sink.fields import Origin, SinkField
from penstock.connect.connectors.jdbc.sink.settings import TIMESTAMP_FIELDS, SinkSettings
from penstock.connect.data import DATE_NAME, DECIMAL_NAME, TIME_NAME, TIMESTAMP_NAME, Schema, Type
from penstock.connect.errors import DataError

JSON_NAME = "io.debezium.data.Json"
"""The name of schemas of texts that are JSON: Debezium's."""


class Kind(Enum):
    """What a column holds."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    BOOLEAN = "boolean"
    STRING = "string"
    BYTES = "bytes"
    DECIMAL = "decimal"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    FINE_TIMESTAMP = "timestamp from a number"
    JSON = "JSON text"
    ARRAY = "array of single values"
    NESTED = "struct, map or array of such"


_LOGICAL = {
    (Type.BYTES, DECIMAL_NAME): Kind.DECIMAL,
    (Type.INT32, DATE_NAME): Kind.DATE,
    (Type.INT32, TIME_NAME): Kind.TIME,
    (Type.INT64, TIMESTAMP_NAME): Kind.TIMESTAMP,
    (Type.STRING, JSON_NAME): Kind.JSON,
}


def kind_of(schema: Schema) -> Kind:
    """What values of a schema are."""
    logical = _LOGICAL.get((schema.type, schema.name or ""))
    if logical is not None:
        return logical
    if schema.type.is_primitive:
        return Kind(schema.type.value)
    element = schema.value_schema if schema.type is Type.ARRAY else None
    if element is not None and element.type.is_primitive and kind_of(element) is not Kind.JSON:
        return Kind.ARRAY
    return Kind.NESTED


def column_kind(field: SinkField, settings: SinkSettings) -> Kind:
    """What the column of a field holds.

    Raises:
        DataError: The settings call a field a timestamp that is no number.
    """
    if field.origin is Origin.VALUE_FIELD and field.name in settings.timestamp_fields:
        if field.schema.type is not Type.INT64:
            raise DataError(
                f"{TIMESTAMP_FIELDS} names {field.name}, which is of type {field.schema.type} and not INT64",
                hint=f"Leave it out of {TIMESTAMP_FIELDS}.",
            )
        return Kind.TIMESTAMP if field.schema.name == TIMESTAMP_NAME else Kind.FINE_TIMESTAMP
    return kind_of(field.schema)
