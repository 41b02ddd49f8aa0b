"""BooleanConverter: one byte, 0 or 1."""

from __future__ import annotations

from typing import Any

from penstock.connect.converters.converter import Converter
from penstock.connect.data import OPTIONAL_BOOLEAN_SCHEMA, Schema, SchemaAndValue, Type
from penstock.connect.errors import DataError, shown

_VALUES = {b"\x00": False, b"\x01": True}


class BooleanConverter(Converter):
    """Booleans in one byte, read as optional booleans."""

    def from_connect_data(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        if schema is not None and schema.type is not Type.BOOLEAN:
            raise DataError(f"Invalid schema type for BooleanConverter: {schema.type}")
        if value is None:
            return None
        if not isinstance(value, bool):
            raise DataError(f"BooleanConverter is not compatible with objects of type {type(value).__name__}")
        return b"\x01" if value else b"\x00"

    def to_connect_data(self, topic: str, data: bytes | None) -> SchemaAndValue:
        if data is None:
            return SchemaAndValue(OPTIONAL_BOOLEAN_SCHEMA, None)
        value = _VALUES.get(bytes(data))
        if value is None:
            raise DataError(f"Failed to deserialize boolean of topic {topic}: {shown(data)} is neither 00 nor 01")
        return SchemaAndValue(OPTIONAL_BOOLEAN_SCHEMA, value)
