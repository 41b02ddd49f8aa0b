"""Logical types: dates, times, timestamps and decimals on top of ints and bytes.

Date, Time and Timestamp values are aware `datetime`s in UTC, Decimal values are `decimal.Decimal`s:
a Date is a midnight, a Time a time of 1970-01-01, a Timestamp any instant, in whole milliseconds.
"""

from __future__ import annotations

import decimal
from datetime import datetime, timedelta, timezone
from typing import Any

from penstock.connect.data.schema import Schema, Type
from penstock.connect.errors import DataError, shown

DECIMAL_NAME = "org.apache.kafka.connect.data.Decimal"
DATE_NAME = "org.apache.kafka.connect.data.Date"
TIME_NAME = "org.apache.kafka.connect.data.Time"
TIMESTAMP_NAME = "org.apache.kafka.connect.data.Timestamp"
TEMPORAL_NAMES = frozenset({DATE_NAME, TIME_NAME, TIMESTAMP_NAME})
LOGICAL_NAMES = TEMPORAL_NAMES | {DECIMAL_NAME}

SCALE_PARAMETER = "scale"
MILLIS_PER_DAY = 86_400_000
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

_MILLISECOND = timedelta(milliseconds=1)


def temporal_schema(name: str, *, optional: bool = False, default: datetime | None = None) -> Schema:
    """The schema of Date, Time or Timestamp values."""
    base = Type.INT64 if name == TIMESTAMP_NAME else Type.INT32
    return Schema(base, name=name, version=1, optional=optional, default=default)


DATE_SCHEMA = temporal_schema(DATE_NAME)
TIME_SCHEMA = temporal_schema(TIME_NAME)
TIMESTAMP_SCHEMA = temporal_schema(TIMESTAMP_NAME)
OPTIONAL_DATE_SCHEMA = temporal_schema(DATE_NAME, optional=True)
OPTIONAL_TIME_SCHEMA = temporal_schema(TIME_NAME, optional=True)
OPTIONAL_TIMESTAMP_SCHEMA = temporal_schema(TIMESTAMP_NAME, optional=True)


def decimal_schema(scale: int, *, optional: bool = False, default: decimal.Decimal | None = None) -> Schema:
    """The schema of decimals with that many digits after the point."""
    parameters = {SCALE_PARAMETER: str(scale)}
    return Schema(Type.BYTES, name=DECIMAL_NAME, version=1, parameters=parameters, optional=optional, default=default)


def scale_of(schema: Schema) -> int:
    """The scale of a decimal schema.

    Raises:
        DataError: The schema has none, or one that is not a number.
    """
    text = (schema.parameters or {}).get(SCALE_PARAMETER)
    if text is None:
        raise DataError("Invalid Decimal schema: scale parameter not found.")
    try:
        return int(text)
    except ValueError:
        raise DataError(f"Invalid scale parameter found in Decimal schema: {shown(text)}") from None


def decimal_scale(value: decimal.Decimal) -> int:
    """Digits after the point; negative for trailing zeros that are not written (1E+3).

    Raises:
        DataError: The value is infinite or not a number.
    """
    exponent = value.as_tuple().exponent
    if isinstance(exponent, str):
        raise DataError(f"{value} has no scale: a Connect decimal must be finite")
    return -exponent


def unscaled(value: decimal.Decimal) -> int:
    """All digits of a decimal as one int."""
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits)) or "0")
    return -number if sign else number


def decimal_of(number: int, scale: int) -> decimal.Decimal:
    """The decimal with those digits, exact whatever its length."""
    return decimal.Decimal(f"{number}E{-scale}")


def int_to_bytes(number: int) -> bytes:
    """Big-endian two's complement in as few bytes as it takes."""
    bits = number.bit_length() if number >= 0 else (number + 1).bit_length()
    return number.to_bytes(bits // 8 + 1, "big", signed=True)


def decimal_to_bytes(schema: Schema, value: decimal.Decimal) -> bytes:
    """The digits of a decimal, big-endian.

    Raises:
        DataError: The value has another scale than the schema.
    """
    check_scale(value, scale_of(schema))
    return int_to_bytes(unscaled(value))


def check_scale(value: decimal.Decimal, scale: int) -> None:
    """Raises DataError unless the value has that scale."""
    actual = decimal_scale(value)
    if actual != scale:
        raise DataError(
            "Decimal value has mismatching scale for given Decimal schema. "
            f"Schema has scale {scale}, value has scale {actual}.",
            hint=f"Round it first: value.quantize(Decimal(1).scaleb({-scale})).",
        )


def decimal_from_bytes(schema: Schema, data: bytes) -> decimal.Decimal:
    """The decimal whose digits are in `data`."""
    return decimal_of(int.from_bytes(data, "big", signed=True), scale_of(schema))


def to_millis(value: datetime) -> int:
    """Milliseconds since the epoch, rounded down."""
    return (value - EPOCH) // _MILLISECOND


def from_millis(millis: int) -> datetime:
    """The instant that many milliseconds after the epoch.

    Raises:
        DataError: The instant is outside the years 1 to 9999.
    """
    try:
        return EPOCH + timedelta(0, 0, 0, millis)
    except OverflowError:
        raise DataError(
            f"{millis} ms since 1970 is not within the years 1 to 9999",
            hint="Are the values in seconds, microseconds or nanoseconds? Connect counts milliseconds.",
        ) from None


def date_to_days(value: datetime) -> int:
    """Days since the epoch.

    Raises:
        DataError: The value is not midnight in UTC.
    """
    days, rest = divmod(to_millis(value), MILLIS_PER_DAY)
    if rest:
        raise DataError(
            f"Kafka Connect Date type should not have any time fields set to non-zero values: {value.isoformat()}",
            hint="Give midnight in UTC, or use a Timestamp schema.",
        )
    return days


def date_from_days(days: int) -> datetime:
    """Midnight of that day."""
    return from_millis(days * MILLIS_PER_DAY)


def time_to_millis(value: datetime) -> int:
    """Milliseconds since midnight.

    Raises:
        DataError: The value is not on 1970-01-01.
    """
    millis = to_millis(value)
    if not 0 <= millis <= MILLIS_PER_DAY:
        raise DataError(
            f"Kafka Connect Time type should not have any date fields set to non-zero values: {value.isoformat()}",
            hint="Give a time of 1970-01-01 in UTC, or use a Timestamp schema.",
        )
    return millis


def time_from_millis(millis: int) -> datetime:
    """That time of 1970-01-01.

    Raises:
        DataError: The number is not one of milliseconds of a day.
    """
    if not 0 <= millis <= MILLIS_PER_DAY:
        raise DataError(
            "Time values must use number of milliseconds greater than 0 and less than 86400000, "
            f"but this one is {millis}"
        )
    return from_millis(millis)


def encoded(schema: Schema, value: Any) -> Any:
    """A value as its base type: days, milliseconds, bytes; values without logical type as they are."""
    name = schema.name
    if name == DATE_NAME:
        return date_to_days(value)
    if name == TIME_NAME:
        return time_to_millis(value)
    if name == TIMESTAMP_NAME:
        return to_millis(value)
    if name == DECIMAL_NAME:
        return decimal_to_bytes(schema, value)
    return value
