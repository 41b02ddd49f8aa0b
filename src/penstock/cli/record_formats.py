"""Keys and values between bytes and what a person types or reads."""

from __future__ import annotations

import struct
from collections.abc import Callable
from enum import Enum
from typing import Any

import orjson

from penstock.cli.errors import InputError


class Format(str, Enum):
    """How a key or value is written in bytes; numbers as Kafka's Java serialisers write them."""

    STRING = "string"
    JSON = "json"
    LONG = "long"
    INT = "int"
    SHORT = "short"
    DOUBLE = "double"
    FLOAT = "float"
    HEX = "hex"


_NUMBERS = {
    Format.LONG: struct.Struct(">q"),
    Format.INT: struct.Struct(">i"),
    Format.SHORT: struct.Struct(">h"),
    Format.DOUBLE: struct.Struct(">d"),
    Format.FLOAT: struct.Struct(">f"),
}
_WHOLE = {Format.LONG, Format.INT, Format.SHORT}


def decoder(format_: Format) -> Callable[[bytes | None], Any]:
    """Bytes to something JSON can show; None stays None.

    Raises:
        ValueError: The bytes have another format.
    """

    def decode(data: bytes | None) -> Any:
        if data is None:
            return None
        if format_ is Format.STRING:
            return data.decode(errors="backslashreplace")
        if format_ is Format.HEX:
            return data.hex()
        if format_ is Format.JSON:
            try:
                return orjson.loads(data)
            except orjson.JSONDecodeError as error:
                raise ValueError(f"no JSON ({plain_json_error(error)})") from None
        layout = _NUMBERS[format_]
        if len(data) != layout.size:
            raise ValueError(f"{len(data)} bytes, where {_a(format_)} has {layout.size}")
        return layout.unpack(data)[0]

    return decode


def as_text(decoded: Any) -> str:
    """A decoded key or value on a line of its own.

    >>> as_text(None), as_text("a"), as_text({"a": 1}), as_text(2.5)
    ('null', 'a', '{"a":1}', '2.5')
    """
    return decoded if isinstance(decoded, str) else orjson.dumps(decoded).decode()


def from_text(format_: Format, text: bytes) -> bytes:
    """What was typed, as bytes of the format.

    Raises:
        InputError: It cannot be read as that format.
    """
    if format_ is Format.STRING:
        return text
    if format_ is Format.HEX:
        try:
            return bytes.fromhex(text.decode())
        except ValueError:
            raise InputError(f"'{_shown(text)}' is not hex") from None
    if format_ is Format.JSON:
        from_json(text)
        return text
    try:
        number = int(text) if format_ in _WHOLE else float(text)
    except ValueError:
        raise InputError(f"'{_shown(text)}' is not {_a(format_)}") from None
    return _pack(format_, number)


def from_value(format_: Format, value: Any) -> bytes | None:
    """A value out of a JSON line, as bytes of the format; None is null.

    >>> from_value(Format.STRING, "a"), from_value(Format.STRING, {"a": 1}), from_value(Format.JSON, "a")
    (b'a', b'{"a":1}', b'"a"')
    """
    if value is None:
        return None
    if format_ is Format.JSON or (format_ is Format.STRING and not isinstance(value, str)):
        return orjson.dumps(value)
    if isinstance(value, str):
        return from_text(format_, value.encode())
    if (
        format_ is Format.HEX
        or isinstance(value, bool)
        or not isinstance(value, int if format_ in _WHOLE else (int, float))
    ):
        raise InputError(f"{as_text(value)} is not {_a(format_)}")
    return _pack(format_, value)


def from_json(text: bytes) -> Any:
    """A JSON text.

    Raises:
        InputError: It is none; the error says where.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InputError(f"this is no JSON ({plain_json_error(error)}): {_shown(text)}") from None


def plain_json_error(error: orjson.JSONDecodeError) -> str:
    """What is wrong and in which column; the line is always the first."""
    return f"{error.msg} at column {error.colno}"


def _pack(format_: Format, number: float) -> bytes:
    try:
        return _NUMBERS[format_].pack(number)
    except (struct.error, OverflowError):
        raise InputError(f"{number} does not fit into {_a(format_)}") from None


def _a(format_: Format) -> str:
    return f"{'an' if format_ is Format.INT else 'a'} {format_.value}"


def _shown(text: bytes) -> str:
    shown = text.decode(errors="backslashreplace")
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
