"""Source records as text, for letters of records that no converter could write."""

from __future__ import annotations

import json
from typing import Any

from penstock.connect.converters.json_converter import JsonConverter
from penstock.connect.data import Header, Schema, value_text

_JSON = JsonConverter({"schemas.enable": "false"})


def json_text(schema: Schema | None, value: Any) -> bytes | None:
    """A value as JSON, as JsonConverter writes it; what it cannot write is there by its text.

    >>> json_text(None, {"id": 1, "what": {2}})
    b'{"id": 1, "what": "{2}"}'
    """
    if value is None:
        return None
    try:
        return _JSON.from_connect_data("", schema, value)
    except Exception:  # noqa: BLE001 - it is in a letter because something is wrong with it
        try:
            return json.dumps(value, default=str).encode()
        except (TypeError, ValueError):
            return json.dumps(str(value)).encode()


def header_text(header: Header) -> bytes | None:
    """A header as SimpleHeaderConverter writes it, or by its text."""
    if header.value is None:
        return None
    try:
        return value_text(header.schema, header.value).encode()
    except Exception:  # noqa: BLE001 - it is in a letter because something is wrong with it
        return str(header.value).encode()
