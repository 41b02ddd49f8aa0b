"""Connect schemas as Arrow types."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from penstock.connect.connectors.storage.formats.schema_parts import precision_of
from penstock.connect.data import DATE_NAME, DECIMAL_NAME, TIME_NAME, TIMESTAMP_NAME, Schema, Type
from penstock.connect.data.logical import scale_of
from penstock.connect.errors import DataError

# How Hive writes decimals whose schema names no precision, too.
PRECISION = 38
MAX_PRECISION = 76

_PLAIN: dict[Type, pa.DataType] = {
    Type.INT8: pa.int8(),
    Type.INT16: pa.int16(),
    Type.INT32: pa.int32(),
    Type.INT64: pa.int64(),
    Type.FLOAT32: pa.float32(),
    Type.FLOAT64: pa.float64(),
    Type.BOOLEAN: pa.bool_(),
    Type.STRING: pa.string(),
    Type.BYTES: pa.binary(),
}
_LOGICAL: dict[str, pa.DataType] = {
    DATE_NAME: pa.date32(),
    TIME_NAME: pa.time32("ms"),
    TIMESTAMP_NAME: pa.timestamp("ms", tz="UTC"),
}


def arrow_type(schema: Schema, *, within_optional: bool = False) -> pa.DataType:
    """The Arrow type of values.

    Args:
        schema: The schema of the values.
        within_optional: Whether they are part of something that may be null: then Arrow wants them to be nullable, too.

    Raises:
        DataError: Arrays or maps whose elements have no schema in common.
    """
    loose = within_optional or schema.optional
    if schema.name in _LOGICAL:
        return _LOGICAL[schema.name]
    if schema.name == DECIMAL_NAME:
        return _decimal_type(schema)
    if schema.type is Type.STRUCT:
        return pa.struct([_field(field.name, field.schema, within_optional=loose) for field in schema.fields])
    if schema.type is Type.ARRAY:
        return pa.list_(_field("element", schema.value_schema, within_optional=loose))
    if schema.type is Type.MAP:
        make: Any = pa.map_
        key = _field("key", schema.key_schema, within_optional=False).type
        kind: pa.DataType = make(key, _field("value", schema.value_schema, within_optional=loose))
        return kind
    return _PLAIN[schema.type]


def _field(name: str, schema: Schema | None, *, within_optional: bool) -> pa.Field[Any]:
    if schema is None:
        raise DataError("an array or map whose elements have no schema in common has no Arrow type")
    nullable = within_optional or schema.optional
    return pa.field(name, arrow_type(schema, within_optional=within_optional), nullable=nullable)


def arrow_schema(schema: Schema) -> pa.Schema:
    """The columns of structs."""
    return pa.schema([_field(field.name, field.schema, within_optional=False) for field in schema.fields])


def _decimal_type(schema: Schema) -> pa.DataType:
    precision, scale = precision_of(schema, PRECISION), scale_of(schema)
    if precision <= PRECISION:
        return pa.decimal128(precision, scale)
    return pa.decimal256(min(precision, MAX_PRECISION), scale)
