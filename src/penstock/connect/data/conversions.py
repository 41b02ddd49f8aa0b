"""Values of one type as another, where that has a meaning."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from datetime import datetime
from typing import Any

from penstock.connect.data.java_numbers import narrow, parse_decimal, to_float, to_float32
from penstock.connect.data.logical import (
    DATE_NAME,
    DECIMAL_NAME,
    MILLIS_PER_DAY,
    TEMPORAL_NAMES,
    TIME_NAME,
    TIMESTAMP_NAME,
    date_from_days,
    decimal_from_bytes,
    decimal_to_bytes,
    encoded,
    from_millis,
    time_from_millis,
    to_millis,
)
from penstock.connect.data.parsing import parse_string
from penstock.connect.data.schema import Schema, Type
from penstock.connect.data.struct import Struct
from penstock.connect.data.text import value_text
from penstock.connect.errors import DataError, shown


def convert_to(target: Schema, source: Schema | None, value: Any) -> Any:
    """A value as the type of another schema.

    >>> from penstock.connect.data.schema import INT32_SCHEMA, STRING_SCHEMA
    >>> convert_to(INT32_SCHEMA, None, "42"), convert_to(STRING_SCHEMA, None, [1, 2])
    (42, '[1,2]')

    Args:
        target: The schema wanted.
        source: The schema of the value, if there is one; dates, times and timestamps need it.
        value: The value.

    Raises:
        DataError: The value has no such form.
    """
    if value is None:
        if target.optional:
            return None
        raise DataError("Unable to convert a null value to a schema that requires a value")
    if target.name in TEMPORAL_NAMES:
        return _to_temporal(target, source, value)
    if target.type is Type.STRING:
        return value_text(source, value)
    return _CONVERSIONS[target.type](target, source, value)


def _to_bytes(target: Schema, source: Schema | None, value: Any) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return decimal_from_bytes(target, bytes(value)) if target.name == DECIMAL_NAME else bytes(value)
    if target.name == DECIMAL_NAME:
        if isinstance(value, decimal.Decimal):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return decimal.Decimal(repr(float(value)))
        if isinstance(value, str):
            return _decimal(value, target)
    elif isinstance(value, decimal.Decimal):
        return decimal_to_bytes(target, value)
    raise _unable(value, target)


def _decimal(text: str, target: Schema) -> decimal.Decimal:
    number = parse_decimal(text)
    if number is None:
        raise _unable(text, target)
    return number


def _to_boolean(target: Schema, source: Schema | None, value: Any) -> bool:
    if isinstance(value, str):
        parsed = parse_string(value).value
        if isinstance(parsed, bool):
            return parsed
    return value if isinstance(value, bool) else as_long(value, source) != 0


def _to_int(target: Schema, source: Schema | None, value: Any) -> int:
    return narrow(as_long(value, source), target.type)


def _to_float32(target: Schema, source: Schema | None, value: Any) -> float:
    return to_float32(as_double(value, source))


def _to_float64(target: Schema, source: Schema | None, value: Any) -> float:
    return as_double(value, source)


def _to_array(target: Schema, source: Schema | None, value: Any) -> Any:
    parsed = parse_string(value).value if isinstance(value, str) else value
    if not isinstance(parsed, (list, tuple)):
        raise _unable(value, target)
    return parsed


def _to_map(target: Schema, source: Schema | None, value: Any) -> Any:
    parsed = parse_string(value).value if isinstance(value, str) else value
    if not isinstance(parsed, dict):
        raise _unable(value, target)
    return parsed


def _to_struct(target: Schema, source: Schema | None, value: Any) -> Struct:
    if not isinstance(value, Struct):
        raise _unable(value, target)
    return value


_CONVERSIONS: dict[Type, Callable[[Schema, Schema | None, Any], Any]] = {
    Type.BYTES: _to_bytes,
    Type.BOOLEAN: _to_boolean,
    Type.INT8: _to_int,
    Type.INT16: _to_int,
    Type.INT32: _to_int,
    Type.INT64: _to_int,
    Type.FLOAT32: _to_float32,
    Type.FLOAT64: _to_float64,
    Type.ARRAY: _to_array,
    Type.MAP: _to_map,
    Type.STRUCT: _to_struct,
}


def _to_temporal(target: Schema, source: Schema | None, value: Any) -> datetime:
    if isinstance(value, str):
        value = parse_string(value).value
    if isinstance(value, datetime):
        if source is None or source.name == target.name or source.name not in TEMPORAL_NAMES:
            return value
        millis = to_millis(value)
        if target.name == TIMESTAMP_NAME:
            return value
        if source.name == TIMESTAMP_NAME and target.name == DATE_NAME:
            return from_millis(millis - millis % MILLIS_PER_DAY)
        if source.name == TIMESTAMP_NAME:
            return from_millis(millis % MILLIS_PER_DAY)
    number = as_long(value, source)
    if target.name == DATE_NAME:
        return date_from_days(narrow(number, Type.INT32))
    return time_from_millis(number) if target.name == TIME_NAME else from_millis(number)


def as_long(value: Any, source: Schema | None) -> int:
    """A value as an int of 64 bits.

    Raises:
        DataError: It is no number and has no number's text.
    """
    if isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool):
        return narrow(value, Type.INT64)
    if isinstance(value, str):
        number = parse_decimal(value)
        if number is not None:
            return narrow(number, Type.INT64)
    elif isinstance(value, datetime) and source is not None and source.name in TEMPORAL_NAMES:
        return int(encoded(source, value))
    raise DataError(f"Unable to convert {shown(value)} ({type(value).__name__}) to a number")


def as_double(value: Any, source: Schema | None) -> float:
    """A value as a float of 64 bits.

    Raises:
        DataError: It is no number and has no number's text.
    """
    if isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool):
        return to_float(value)
    if isinstance(value, str):
        number = parse_decimal(value)
        if number is not None:
            return to_float(number)
    return float(as_long(value, source))


def _unable(value: Any, target: Schema) -> DataError:
    return DataError(f"Unable to convert {shown(value)} ({type(value).__name__}) to {target!r}")
