"""Mappings of an index from the schema of its records."""

from __future__ import annotations

from typing import Any

from penstock.connect.data import DECIMAL_NAME, Schema, Type
from penstock.connect.data.logical import TEMPORAL_NAMES, to_millis
from penstock.connect.errors import DataError

_TYPES = {
    Type.INT8: "byte",
    Type.INT16: "short",
    Type.INT32: "integer",
    Type.INT64: "long",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    Type.BOOLEAN: "boolean",
    Type.BYTES: "binary",
}


def mapping_of(schema: Schema | None, *, compact_maps: bool) -> dict[str, Any]:
    """What the server has to know of records with a schema.

    >>> from penstock.connect.data import INT32_SCHEMA, SchemaBuilder
    >>> mapping_of(SchemaBuilder.struct().field("id", INT32_SCHEMA).build(), compact_maps=True)
    {'properties': {'id': {'type': 'integer'}}}

    Raises:
        DataError: The schema is not that of an object.
    """
    if schema is None:
        raise DataError(
            "Cannot infer mapping without schema.", hint="Set schema.ignore=true for records without schema."
        )
    if schema.type is Type.STRUCT:
        return _struct(schema, compact_maps=compact_maps)
    if schema.type is Type.MAP and _is_object(schema, compact_maps=compact_maps):
        return {"properties": {}}
    raise DataError(
        f"A value of type {schema.type} is not a document: only structs and maps with text keys are.",
        hint="The transform HoistField puts a value into a struct.",
    )


def _is_object(schema: Schema, *, compact_maps: bool) -> bool:
    return compact_maps and schema.key_schema is not None and schema.key_schema.type is Type.STRING


def _struct(schema: Schema, *, compact_maps: bool) -> dict[str, Any]:
    fields = ((field.name, _property(field.schema, compact_maps=compact_maps)) for field in schema.fields)
    return {"properties": {name: found for name, found in fields if found is not None}}


def _property(schema: Schema | None, *, compact_maps: bool) -> dict[str, Any] | None:
    """The mapping of one field; None leaves it to the server."""
    if schema is None:
        return None
    if schema.type is Type.ARRAY:
        return _property(schema.value_schema, compact_maps=compact_maps)
    if schema.type is Type.STRUCT:
        return _struct(schema, compact_maps=compact_maps)
    if schema.type is Type.MAP:
        if _is_object(schema, compact_maps=compact_maps):
            return {"type": "object"}
        parts = {
            "key": _property(schema.key_schema, compact_maps=compact_maps),
            "value": _property(schema.value_schema, compact_maps=compact_maps),
        }
        return {"properties": {name: part for name, part in parts.items() if part is not None}}
    return _plain(schema)


def _plain(schema: Schema) -> dict[str, Any]:
    if schema.name in TEMPORAL_NAMES:
        return _with_default("date", schema, to_millis)
    if schema.name == DECIMAL_NAME:
        return _with_default("double", schema, float)
    if schema.type is Type.STRING:
        # As the server maps texts by itself: searched by words, sorted and counted as a whole. Neither texts nor
        # bytes have defaults.
        return {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}
    if schema.type is Type.BYTES:
        return {"type": "binary"}
    return _with_default(_TYPES[schema.type], schema, None)


def _with_default(name: str, schema: Schema, convert: Any) -> dict[str, Any]:
    if schema.default is None:
        return {"type": name}
    return {"type": name, "null_value": schema.default if convert is None else convert(schema.default)}
