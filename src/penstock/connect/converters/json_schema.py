"""Schemas as JsonConverter writes them into the envelope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.connect.data import Schema, SchemaBuilder, Type
from penstock.connect.errors import DataError, shown

_NAMES = {kind: kind.value for kind in Type} | {Type.FLOAT32: "float", Type.FLOAT64: "double"}
_TYPES = {name: kind for kind, name in _NAMES.items()}

Convert = Callable[[Schema, Any], Any]


def schema_to_json(schema: Schema, write: Convert) -> dict[str, Any]:
    """A schema as a JSON object.

    Args:
        schema: The schema.
        write: Turns a default into its JSON value.
    """
    written: dict[str, Any] = {"type": _NAMES[schema.type]}
    if schema.type is Type.STRUCT:
        written["fields"] = [schema_to_json(f.schema, write) | {"field": f.name} for f in schema.fields]
    elif schema.type is Type.ARRAY:
        written["items"] = schema_to_json(_known(schema.value_schema, schema), write)
    elif schema.type is Type.MAP:
        written["keys"] = schema_to_json(_known(schema.key_schema, schema), write)
        written["values"] = schema_to_json(_known(schema.value_schema, schema), write)
    written["optional"] = schema.optional
    if schema.name is not None:
        written["name"] = schema.name
    if schema.version is not None:
        written["version"] = schema.version
    if schema.doc is not None:
        written["doc"] = schema.doc
    if schema.parameters is not None:
        written["parameters"] = dict(schema.parameters)
    if schema.default is not None:
        written["default"] = write(schema, schema.default)
    return written


def _known(part: Schema | None, whole: Schema) -> Schema:
    if part is None:
        raise DataError(
            f"A schema of type {whole.type} whose elements have no common schema cannot be written as JSON",
            hint="Set schemas.enable=false, or give all elements the same type.",
        )
    return part


def schema_from_json(written: Any, read: Convert) -> Schema | None:
    """The schema of a JSON object; None for null.

    Args:
        written: The JSON value.
        read: Turns the JSON value of a default into a Connect value.

    Raises:
        DataError: The object is no schema.
    """
    if written is None:
        return None
    if not isinstance(written, dict) or not isinstance(written.get("type"), str):
        raise DataError("Schema must contain 'type' field")
    builder = _builder(written, read)
    if written.get("optional") is True:
        builder.optional()
    if isinstance(written.get("name"), str):
        builder.name(written["name"])
    if type(written.get("version")) is int:
        builder.version(written["version"])
    if isinstance(written.get("doc"), str):
        builder.doc(written["doc"])
    if isinstance(written.get("parameters"), dict):
        if not all(isinstance(value, str) for value in written["parameters"].values()):
            raise DataError("Schema parameters must have string values.")
        builder.parameters(written["parameters"])
    if written.get("default") is not None:
        builder.default(read(builder.build(), written["default"]))
    return builder.build()


def _builder(written: dict[str, Any], read: Convert) -> SchemaBuilder:
    kind = _TYPES.get(written["type"])
    if kind is None:
        raise DataError(f"Unknown schema type: {shown(written['type'])}", hint=f"Known types: {', '.join(_TYPES)}.")
    if kind is Type.ARRAY:
        return SchemaBuilder.array(_part(written, "items", "Array schema did not specify the element type", read))
    if kind is Type.MAP:
        keys = _part(written, "keys", "Map schema did not specify the key type", read)
        return SchemaBuilder.map(keys, _part(written, "values", "Map schema did not specify the value type", read))
    builder = SchemaBuilder(kind)
    if kind is Type.STRUCT:
        fields = written.get("fields")
        if not isinstance(fields, list):
            raise DataError('Struct schema\'s "fields" argument is not an array.')
        for field in fields:
            if not isinstance(field, dict) or not isinstance(field.get("field"), str):
                raise DataError("Struct schema's field name not specified properly")
            schema = schema_from_json(field, read)
            assert schema is not None  # an object is never null
            builder.field(field["field"], schema)
    return builder


def _part(written: dict[str, Any], name: str, missing: str, read: Convert) -> Schema:
    schema = schema_from_json(written.get(name), read)
    if schema is None:
        raise DataError(missing)
    return schema
