"""Values of Connect as drivers of databases take them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any

import orjson

from penstock.connect.data import Schema, Struct, Type
from penstock.connect.data.logical import EPOCH
from penstock.connect.errors import DataError, shown

Convert = Callable[[Any], Any]
"""A value to the driver's; never called with None."""


def local_timestamp(zone: tzinfo) -> Convert:
    """Instants as the wall clock of a zone shows them, for columns that carry no zone."""
    if str(zone) == "UTC":
        return lambda value: value.replace(tzinfo=None)
    return lambda value: value.astimezone(zone).replace(tzinfo=None)


def fine_timestamp(zone: tzinfo, *, nanoseconds: bool) -> Convert:
    """Instants from microseconds or nanoseconds since 1970; what is below a microsecond is cut off."""
    local = local_timestamp(zone)

    def convert(value: int) -> Any:
        try:
            return local(EPOCH + timedelta(microseconds=value // 1000 if nanoseconds else value))
        except OverflowError:
            unit = "nanoseconds" if nanoseconds else "microseconds"
            raise DataError(f"{value} {unit} since 1970 is not within the years 1 to 9999") from None

    return convert


def calendar_date(zone: tzinfo | None) -> Convert:
    """Days; by the wall clock of a zone if there is one."""
    if zone is None:
        return lambda value: value.date()
    return lambda value: value.astimezone(zone).date()


def time_of_day(value: datetime) -> time:
    """The time of a Connect Time."""
    return value.time()


def whole(column: str) -> Convert:
    """Numbers for a column of whole ones: the database would round the others and say nothing."""

    def convert(value: Any) -> int:
        number = int(value) if value == value and abs(value) != float("inf") else None  # noqa: PLR0124 - not a number
        if number is None or number != value:
            raise DataError(
                f"Column {column} holds whole numbers: {shown(value)} would be rounded",
                hint="Change the column's type, or cast the field.",
            )
        return number

    return convert


def finite(column: str, *, infinity: bool) -> Convert:
    """Floats for a database that has no NaN, or no infinity."""

    def convert(value: float) -> float:
        if value != value or (not infinity and abs(value) == float("inf")):  # noqa: PLR0124 - not a number
            raise DataError(f"The database cannot keep {value} in column {column}")
        return value

    return convert


def fraction(column: str, digits: int) -> Convert:
    """Decimals with zeros behind so many digits after the point: the database would round others and say nothing."""

    def convert(value: Decimal) -> Decimal:
        sign, figures, exponent = value.as_tuple()
        excess = -int(exponent) - digits
        if excess <= 0:
            return value
        if any(figures[-excess:]):
            raise DataError(
                f"Column {column} holds {digits} digits after the point: {shown(value)} would be rounded",
                hint="Round the field; a JDBC source with numeric.mapping=best_fit makes floats of such numbers.",
            )
        return Decimal((sign, figures[:-excess] or (0,), -digits))

    return convert


def json_text(schema: Schema) -> Convert:
    """JSON of structs, maps and arrays. Bytes become base64, decimals texts, times ISO 8601."""

    def convert(value: Any) -> str:
        return orjson.dumps(plain_json(value), default=json_default, option=_OPTIONS).decode()

    return convert


_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z


def plain_json(value: Any) -> Any:
    """A value with its structs as dicts."""
    if isinstance(value, Struct):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [plain_json(element) for element in value]
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): plain_json(entry) for key, entry in value.items()}
    return value


def json_default(value: Any) -> Any:
    """What JSON has no form for: bytes as base64, decimals as texts, times as ISO 8601."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON")


def elements(convert: Convert | None) -> Convert:
    """Lists, each element converted."""
    if convert is None:
        return list
    return lambda values: [None if value is None else convert(value) for value in values]


def iso(convert: Convert) -> Convert:
    """Dates and times as ISO text, six digits of a second, which sorts as time does."""

    def text(value: Any) -> str:
        found = convert(value)
        if isinstance(found, datetime):
            return found.isoformat(sep=" ", timespec="microseconds")
        return found.isoformat() if isinstance(found, date) else found.isoformat(timespec="microseconds")

    return text


def is_integral(schema: Schema) -> bool:
    """Whether all values of a schema are whole numbers, or no numbers at all."""
    if schema.type in {Type.FLOAT32, Type.FLOAT64}:
        return False
    return not (schema.type is Type.BYTES and (schema.parameters or {}).get("scale", "0") not in {"0", ""})
