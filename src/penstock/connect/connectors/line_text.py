"""The text of a value as FileStreamSink writes it: what Java's `toString` gives."""

from __future__ import annotations

from typing import Any

from penstock.connect.data import Schema, java_text


def line_text(schema: Schema | None, value: Any) -> str:
    """A value as a line.

    >>> line_text(None, {"ticker": "X", "price": 1.0, "open": True, "lots": [1, None]})
    '{ticker=X, price=1.0, open=true, lots=[1, null]}'
    """
    if type(value) is str:
        return value
    if schema is not None or type(value) is not dict:
        return java_text(schema, value)
    # Most values are JSON objects without schema: texts, numbers of usual size and the rest are told apart here, in a third
    # of the time of the general way.
    entries = [
        f"{key}={entry}"
        if (kind := type(entry)) is str or kind is int or (kind is float and 1e-3 <= entry < 1e7)
        else f"{key}={java_text(None, entry)}"
        for key, entry in value.items()
    ]
    return f"{{{', '.join(entries)}}}"
