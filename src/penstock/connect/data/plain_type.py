"""The type of a value that has no schema."""

from __future__ import annotations

from typing import Any

from penstock.connect.data.schema import Type
from penstock.connect.data.struct import Struct

_TYPES: dict[type, Type] = {
    str: Type.STRING,
    bool: Type.BOOLEAN,
    int: Type.INT64,
    float: Type.FLOAT64,
    dict: Type.MAP,
    list: Type.ARRAY,
    tuple: Type.ARRAY,
    bytes: Type.BYTES,
    bytearray: Type.BYTES,
    memoryview: Type.BYTES,
    Struct: Type.STRUCT,
}


def plain_type(value: Any) -> Type | None:
    """The type Connect gives a value without schema, or None if it has none for it.

    Numbers of schemaless data have one width: ints are INT64, floats FLOAT64.

    >>> plain_type(5), plain_type({"a": 1}), plain_type(object())
    (<Type.INT64: 'int64'>, <Type.MAP: 'map'>, None)
    """
    kind = _TYPES.get(type(value))
    if kind is None:
        kind = next((candidate for cls, candidate in _TYPES.items() if isinstance(value, cls)), None)
    return kind
