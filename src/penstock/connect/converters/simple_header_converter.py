"""SimpleHeaderConverter: headers as text, their types found again by looking at it."""

from __future__ import annotations

from typing import Any

from penstock.connect.converters.converter import HeaderConverter
from penstock.connect.data import BYTES_SCHEMA, NULL_SCHEMA_AND_VALUE, Schema, SchemaAndValue, parse_string, value_text


class SimpleHeaderConverter(HeaderConverter):
    """Headers as UTF-8 text.

    >>> SimpleHeaderConverter().to_connect_header("t", "h", b"[1, 2]").value
    [1, 2]
    """

    def from_connect_header(self, topic: str, name: str, schema: Schema | None, value: Any) -> bytes | None:
        return None if value is None else value_text(schema, value).encode()

    def to_connect_header(self, topic: str, name: str, data: bytes | None) -> SchemaAndValue:
        if data is None:
            return NULL_SCHEMA_AND_VALUE
        try:
            text = bytes(data).decode()
        except UnicodeDecodeError:
            # Not text, so not written by this converter: the bytes are the value.
            return SchemaAndValue(BYTES_SCHEMA, data)
        return parse_string(text)
