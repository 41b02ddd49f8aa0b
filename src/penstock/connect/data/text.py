"""The text form of values: what headers are written as, and what StringConverter writes."""

from __future__ import annotations

import base64
import decimal
from datetime import datetime
from typing import Any

from penstock.connect.data.date_format import SimpleDateFormat
from penstock.connect.data.java_numbers import float32_text, float_text
from penstock.connect.data.logical import MILLIS_PER_DAY, to_millis
from penstock.connect.data.schema import Schema, Type
from penstock.connect.data.struct import Struct
from penstock.connect.errors import DataError

ISO_DATE = SimpleDateFormat("yyyy-MM-dd")
ISO_TIME = SimpleDateFormat("HH:mm:ss.SSS'Z'")
ISO_TIMESTAMP = SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")


def instant_text(value: datetime) -> str:
    """An instant as ISO text in UTC: only the time on 1970-01-01, only the date at midnight.

    >>> from datetime import timezone
    >>> instant_text(datetime(2024, 2, 29, tzinfo=timezone.utc))
    '2024-02-29'
    """
    millis = to_millis(value)
    if 0 <= millis < MILLIS_PER_DAY:
        return ISO_TIME.format(millis)
    return (ISO_TIMESTAMP if millis % MILLIS_PER_DAY else ISO_DATE).format(millis)


def scalar_text(schema: Schema | None, value: Any) -> str | None:
    """The text of a number, boolean or instant; None for other values."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float32_text(value) if schema is not None and schema.type is Type.FLOAT32 else float_text(value)
    if isinstance(value, (int, decimal.Decimal)):
        return str(value)
    if isinstance(value, datetime):
        return instant_text(value)
    return None


def value_text(schema: Schema | None, value: Any, *, embedded: bool = False) -> str:
    """The text from which `parse_string` makes the same value where it can: strings inside lists and maps are quoted.

    >>> value_text(None, {"a": [1, "b", None]})
    '{"a":[1,"b",null]}'
    """
    if value is None:
        return "null"
    if isinstance(value, str):
        return _quoted(value) if embedded else value
    if isinstance(value, (bytes, bytearray, memoryview)):
        text = base64.b64encode(value).decode()
        return f'"{text}"' if embedded else text
    scalar = scalar_text(schema, value)
    if scalar is not None:
        return scalar
    key_schema = schema.key_schema if schema is not None else None
    value_schema = schema.value_schema if schema is not None else None
    if isinstance(value, (list, tuple)):
        return f"[{','.join(value_text(value_schema, element, embedded=True) for element in value)}]"
    if isinstance(value, dict):
        entries = (
            f"{value_text(key_schema, key, embedded=True)}:{value_text(value_schema, entry, embedded=True)}"
            for key, entry in value.items()
        )
        return f"{{{','.join(entries)}}}"
    if isinstance(value, Struct):
        entries = (
            f"{_quoted(field.name)}:{value_text(field.schema, value.get(field.name), embedded=True)}"
            for field in value.schema.fields
        )
        return f"{{{','.join(entries)}}}"
    raise DataError(f"Failed to serialize unexpected value type {type(value).__name__}: {value}")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def java_text(schema: Schema | None, value: Any) -> str:
    """A value as Java's `toString` prints it: `Struct{a=1,b=x}`, `[1, 2]`, `{a=1}`."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return value
    scalar = scalar_text(schema, value)
    if scalar is not None:
        return scalar
    value_schema = schema.value_schema if schema is not None else None
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(java_text(value_schema, element) for element in value)}]"
    if isinstance(value, dict):
        key_schema = schema.key_schema if schema is not None else None
        entries = (f"{java_text(key_schema, key)}={java_text(value_schema, entry)}" for key, entry in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, Struct):
        pairs = zip(value.schema.fields, value.values, strict=True)
        entries = (f"{field.name}={java_text(field.schema, entry)}" for field, entry in pairs if entry is not None)
        return f"Struct{{{','.join(entries)}}}"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    return str(value)
