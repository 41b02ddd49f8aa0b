"""From a column to a field of a record: its schema, and what makes its values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from penstock.connect.connectors.jdbc.source.column import Column, ColumnFacts, Kind
from penstock.connect.connectors.jdbc.source.settings import (
    BEST_FIT,
    CONNECT_LOGICAL,
    EAGER_DOUBLE,
    NONE,
    PRECISION_ONLY,
)
from penstock.connect.data import DATE_NAME, DECIMAL_NAME, TIME_NAME, TIMESTAMP_NAME, Schema, Type
from penstock.connect.data.logical import EPOCH, SCALE_PARAMETER

PRECISION_PARAMETER = "connect.decimal.precision"
UNKNOWN_SCALE = 127
"""The scale of decimals without one: Kafka's connector takes it where a database does not tell, and no value is rounded."""
_LONG_DIGITS = 18
_TYPES = {
    Kind.BOOLEAN: Type.BOOLEAN, Kind.INT8: Type.INT8, Kind.INT16: Type.INT16, Kind.INT32: Type.INT32,
    Kind.INT64: Type.INT64, Kind.FLOAT32: Type.FLOAT32, Kind.FLOAT64: Type.FLOAT64, Kind.STRING: Type.STRING,
    Kind.BYTES: Type.BYTES,
}  # fmt: skip
_NUMBER = re.compile(r"\(?'?(-?\d+(?:\.\d+)?)'?\)?(?:::[a-z ]+(?:\([\d,]+\))?)?")
_QUOTED = re.compile(r"'((?:[^']|'')*)'(?:::[a-z \"]+(?:\(\d+\))?)?")
_MICROSECOND = timedelta(microseconds=1)
_UTC = ZoneInfo("UTC")

Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class FieldRules:
    """Settings that say what values become.

    Attributes:
        numeric_mapping: Of decimals.
        granularity: Of timestamps.
        zone: Time zone of timestamps without one.
    """

    numeric_mapping: str = NONE
    granularity: str = CONNECT_LOGICAL
    zone: ZoneInfo = _UTC


def field_of(column: Column, facts: ColumnFacts, rules: FieldRules) -> tuple[Schema, Convert | None] | None:
    """The schema of a column's field, and what turns its values into the field's; None if there is no place for it.

    What turns values is None if they are good as they are. It is not asked about nulls.
    """
    kind = column.kind
    if kind is None:
        return None
    convert: Convert | None
    optional = facts.nullable
    if kind is Kind.DECIMAL:
        schema, convert = _decimal(column, rules.numeric_mapping, optional=optional)
    elif kind is Kind.TIMESTAMP:
        schema, convert = _timestamp(column, rules, optional=optional)
    elif kind is Kind.DATE:
        schema, convert = Schema(Type.INT32, name=DATE_NAME, version=1, optional=optional), _midnight
    elif kind is Kind.TIME:
        schema, convert = Schema(Type.INT32, name=TIME_NAME, version=1, optional=optional), _time_of_day
    else:
        schema, convert = Schema(_TYPES[kind], optional=optional), None
    return _with_default(schema, facts), _chained(column.decode, convert)


def _chained(first: Convert | None, second: Convert | None) -> Convert | None:
    if first is None or second is None:
        return second if first is None else first
    return lambda value: second(first(value))


def _decimal(column: Column, mapping: str, *, optional: bool) -> tuple[Schema, Convert | None]:
    precision, scale = column.precision, column.scale
    if precision is None or scale is None:  # no limits: PostgreSQL's plain NUMERIC
        if mapping in {BEST_FIT, EAGER_DOUBLE}:
            return Schema(Type.FLOAT64, optional=optional), float
        return _connect_decimal(UNKNOWN_SCALE, precision, optional=optional)
    integer = scale <= 0 and precision - scale <= _LONG_DIGITS
    if integer and (mapping in {BEST_FIT, EAGER_DOUBLE} or (mapping == PRECISION_ONLY and scale == 0)):
        kind = _integer_type(precision - scale)
        return Schema(kind, optional=optional), _whole(kind)
    if scale > 0 and (mapping == EAGER_DOUBLE or (mapping == BEST_FIT and precision <= _LONG_DIGITS)):
        return Schema(Type.FLOAT64, optional=optional), float
    return _connect_decimal(scale, precision, optional=optional)


def _integer_type(digits: int) -> Type:
    """The smallest integer for so many digits."""
    return Type.INT8 if digits <= 2 else Type.INT16 if digits <= 4 else Type.INT32 if digits <= 9 else Type.INT64


def _whole(kind: Type) -> Convert:
    """Numbers as integers of a type: SQLite keeps others in such columns, too."""
    most = 1 << (int(kind.value.removeprefix("int")) - 1)

    def convert(value: Any) -> int:
        number = int(value)
        if number != value or not -most <= number < most:
            raise ValueError(f"it is not a whole number that fits {kind.value}")
        return number

    return convert


def _connect_decimal(scale: int, precision: int | None, *, optional: bool) -> tuple[Schema, Convert]:
    parameters = {SCALE_PARAMETER: str(scale)}
    if precision is not None:
        parameters[PRECISION_PARAMETER] = str(precision)
    schema = Schema(Type.BYTES, name=DECIMAL_NAME, version=1, parameters=parameters, optional=optional)
    return schema, lambda value: _scaled(value, scale)


def _scaled(value: Any, scale: int) -> Decimal:
    """The number with exactly so many digits after the point; the context's precision would round long ones."""
    sign, digits, exponent = Decimal(value).as_tuple()
    if not isinstance(exponent, int):
        raise ValueError(f"{value} is not a number a Decimal can hold")  # noqa: TRY004 - the value is wrong
    missing = scale + exponent
    if missing < 0:
        if any(digits[missing:]):
            raise ValueError(f"{value} has more than {scale} digits after the point")
        return Decimal((sign, digits[:missing] or (0,), -scale))
    return Decimal(value) if missing == 0 else Decimal((sign, digits + (0,) * missing, -scale))


def _timestamp(column: Column, rules: FieldRules, *, optional: bool) -> tuple[Schema, Convert | None]:
    zone = timezone.utc if column.in_utc else rules.zone
    aware: Convert = _in_utc if str(zone) == "UTC" else lambda value: _in_zone(value, zone)
    if rules.granularity == CONNECT_LOGICAL:
        return Schema(Type.INT64, name=TIMESTAMP_NAME, version=1, optional=optional), aware
    unit, _, form = rules.granularity.partition("_")
    factor = 1 if unit == "micros" else 1000
    if form == "long":
        return Schema(Type.INT64, optional=optional), lambda value: micros_since_epoch(aware(value)) * factor
    if form == "string":
        return Schema(Type.STRING, optional=optional), lambda value: str(micros_since_epoch(aware(value)) * factor)
    zeros = "" if unit == "micros" else "000"
    return Schema(Type.STRING, optional=optional), lambda value: _iso(aware(value)) + zeros


def micros_since_epoch(value: datetime) -> int:
    """Microseconds since 1970 of an instant."""
    return (value - EPOCH) // _MICROSECOND


def _iso(value: datetime) -> str:
    return value.replace(tzinfo=None).isoformat(timespec="microseconds")


def _in_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=timezone.utc) if value.tzinfo is None else value.astimezone(timezone.utc)


def _in_zone(value: datetime, zone: Any) -> datetime:
    return (value.replace(tzinfo=zone) if value.tzinfo is None else value).astimezone(timezone.utc)


def _midnight(value: date) -> datetime:
    return datetime(value.year, value.month, value.day, tzinfo=timezone.utc)


def _time_of_day(value: time | timedelta) -> datetime:
    if isinstance(value, timedelta):
        if not timedelta() <= value <= timedelta(days=1):
            raise ValueError(f"{value} is not a time of a day")
        return EPOCH + value
    return datetime(1970, 1, 1, value.hour, value.minute, value.second, value.microsecond, tzinfo=timezone.utc)


def _with_default(schema: Schema, facts: ColumnFacts) -> Schema:
    """The schema with the column's default, if that is a plain number, text or boolean.

    Only where null is not allowed: converters write a null as the default of its field, which would change a row.
    """
    text = (facts.default or "").strip()
    if facts.nullable or not text or schema.name is not None:
        return schema
    value: Any = None
    if schema.type in {Type.INT8, Type.INT16, Type.INT32, Type.INT64} and (found := _NUMBER.fullmatch(text)):
        value = int(found[1]) if "." not in found[1] else None
    elif schema.type in {Type.FLOAT32, Type.FLOAT64} and (found := _NUMBER.fullmatch(text)):
        value = float(found[1])
    elif schema.type is Type.STRING and (found := _QUOTED.fullmatch(text)):
        value = found[1].replace("''", "'")
    elif schema.type is Type.BOOLEAN and text.lower() in {"true", "false", "1", "0"}:
        value = text.lower() in {"true", "1"}
    return schema if value is None else Schema(schema.type, default=value)
