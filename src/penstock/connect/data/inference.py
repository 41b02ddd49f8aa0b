"""The schema of a value that has none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.connect.data.plain_type import plain_type
from penstock.connect.data.schema import Schema, Type
from penstock.connect.data.schema_builder import SchemaBuilder
from penstock.connect.data.struct import Struct


def infer_schema(value: Any) -> Schema | None:
    """The schema a value has by its Python type; None where that does not say enough.

    >>> infer_schema([1, None]).value_schema, infer_schema([1, "a"]), infer_schema({})
    (Schema{INT64} optional, None, None)
    """
    if isinstance(value, Struct):
        return value.schema
    kind = plain_type(value)
    if kind is None:
        return None
    if kind is Type.ARRAY:
        element = _common(value)
        return SchemaBuilder.array(element).build() if element is not None else None
    if kind is Type.MAP:
        key, entry = _common(value.keys()), _common(value.values())
        return SchemaBuilder.map(key, entry).build() if key is not None and entry is not None else None
    return Schema(kind)


def _common(values: Iterable[Any]) -> Schema | None:
    """The schema all values share, optional if some are null; None if they do not, or if all are null."""
    found: Schema | None = None
    has_null = False
    for value in values:
        if value is None:
            has_null = True
            continue
        schema = infer_schema(value)
        if schema is None or (found is not None and schema.type is not found.type):
            return None
        found = schema
    if found is None or not has_null or found.optional:
        return found
    return Schema(
        found.type,
        optional=True,
        fields=found.fields if found.type is Type.STRUCT else (),
        key_schema=found.key_schema,
        value_schema=found.value_schema,
        name=found.name,
        version=found.version,
        doc=found.doc,
        parameters=found.parameters,
    )
