"""ByteArrayConverter: bytes as they are."""

from __future__ import annotations

from typing import Any

from penstock.connect.converters.converter import Converter
from penstock.connect.data import OPTIONAL_BYTES_SCHEMA, Schema, SchemaAndValue, Type
from penstock.connect.errors import DataError


class ByteArrayConverter(Converter):
    """Bytes without any change, with the schema of optional bytes or none."""

    def from_connect_data(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        if schema is not None and schema.type is not Type.BYTES:
            raise DataError(
                f"Invalid schema type for ByteArrayConverter: {schema.type}",
                hint="Use JsonConverter or StringConverter for values that are not bytes.",
            )
        if value is None:
            return None
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise DataError(f"ByteArrayConverter is not compatible with objects of type {type(value).__name__}")
        return bytes(value)

    def to_connect_data(self, topic: str, data: bytes | None) -> SchemaAndValue:
        return SchemaAndValue(OPTIONAL_BYTES_SCHEMA, data)
