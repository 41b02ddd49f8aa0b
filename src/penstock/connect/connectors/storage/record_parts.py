"""What of a record goes into files: its value, and its key and headers if they are wanted."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from penstock.connect.connectors.storage.formats.format import Format
from penstock.connect.connectors.storage.formats.registry import FORMATS
from penstock.connect.connectors.storage.output_file import Part
from penstock.connect.data import OPTIONAL_STRING_SCHEMA, STRING_SCHEMA, Schema, SchemaBuilder, SinkRecord, Struct
from penstock.connect.data.text import value_text
from penstock.connect.errors import DataError

_HEADER = SchemaBuilder.struct().field("key", STRING_SCHEMA).field("value", OPTIONAL_STRING_SCHEMA).build()
_HEADERS = SchemaBuilder.array(_HEADER).build()


def value_parts(settings: Mapping[str, Any]) -> list[Part]:
    """What is written of a record."""
    values: Format = FORMATS.find(settings["format.class"])(settings)
    return [Part(values.extension, values, attrgetter("value_schema"), attrgetter("value")), *tombstone_parts(settings)]


def tombstone_parts(settings: Mapping[str, Any]) -> list[Part]:
    """What is written of a record besides its value."""
    parts = []
    if settings["store.kafka.keys"]:
        keys = FORMATS.find(settings["keys.format.class"])(settings)
        parts.append(Part(f".keys{keys.extension}", keys, attrgetter("key_schema"), _key))
    if settings["store.kafka.headers"]:
        headers = FORMATS.find(settings["headers.format.class"])(settings)
        parts.append(Part(f".headers{headers.extension}", headers, _header_schema, _headers))
    return parts


def _key(record: SinkRecord) -> Any:
    if record.key is None:
        raise DataError("Key cannot be null for SinkRecord", hint="store.kafka.keys needs a key in every record.")
    return record.key


def _header_schema(record: SinkRecord) -> Schema:
    return _HEADERS


def _headers(record: SinkRecord) -> list[Struct]:
    return [
        Struct.of(_HEADER, [header.key, None if header.value is None else value_text(header.schema, header.value)])
        for header in record.headers
    ]
