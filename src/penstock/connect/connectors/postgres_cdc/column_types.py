"""What a column's type becomes: a schema, and a function from PostgreSQL's text to a value."""

from __future__ import annotations

import base64
import decimal
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.connect.connectors.postgres_cdc import literals, temporal
from penstock.connect.data import Schema, Struct, Type, decimal_schema
from penstock.connect.data.logical import (
    DATE_SCHEMA,
    EPOCH,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    date_from_days,
    from_millis,
    int_to_bytes,
    time_from_millis,
    unscaled,
)
from penstock.connect.data.schema import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    Field,
)
from penstock.connect.errors import DataError


@dataclass(frozen=True, slots=True)
class PgType:
    """A type as PostgreSQL's catalog has it; domains are replaced by the type below them.

    Attributes:
        name: `int4`, `numeric`, or the name of a type somebody made.
        kind: b (base), e (enum), c (composite), r (range), m (multirange), p (pseudo).
        element: The type of an array's elements.
        labels: The values of an enum.
        typmod: What a domain says about length, precision and scale; -1 is nothing.
    """

    name: str
    kind: str = "b"
    element: PgType | None = None
    labels: tuple[str, ...] = ()
    typmod: int = -1


@dataclass(frozen=True, slots=True)
class Handling:
    """Settings about types.

    Attributes:
        decimals: precise, double or string.
        times: adaptive, adaptive_time_microseconds or connect.
        intervals: numeric or string.
        binary: bytes, base64, base64-url-safe or hex.
        hstore: json or map.
        unavailable: What stands for a large value PostgreSQL did not send.
    """

    decimals: str = "precise"
    times: str = "adaptive"
    intervals: str = "numeric"
    binary: str = "bytes"
    hstore: str = "json"
    unavailable: str = "__debezium_unavailable_value"


@dataclass(frozen=True, slots=True)
class ColumnType:
    """How values of a column are sent.

    Attributes:
        schema: Their schema, not optional.
        convert: A value from its text.
        fallback: What stands in a required field for a value that is not there: the old row of a delete has only its key.
        unavailable: What stands for a large value PostgreSQL did not send; None is null.
    """

    schema: Schema
    convert: Callable[[str], Any]
    fallback: Any = field(compare=False)
    unavailable: Any = None


_INTEGERS = {"int2": INT16_SCHEMA, "int4": INT32_SCHEMA, "int8": INT64_SCHEMA, "oid": INT64_SCHEMA}
_TEXTS = frozenset(
    ("text", "varchar", "bpchar", "char", "name", "citext", "inet", "cidr", "macaddr", "macaddr8")
)  # fmt: skip
_NAMED_TEXTS = {
    "json": "io.debezium.data.Json",
    "jsonb": "io.debezium.data.Json",
    "xml": "io.debezium.data.Xml",
    "uuid": "io.debezium.data.Uuid",
    "ltree": "io.debezium.data.Ltree",
}
VARIABLE_SCALE_DECIMAL = Schema(
    Type.STRUCT,
    name="io.debezium.data.VariableScaleDecimal",
    version=1,
    doc="Variable scaled decimal",
    fields=(Field("scale", 0, INT32_SCHEMA), Field("value", 1, BYTES_SCHEMA)),
)
POINT = Schema(
    Type.STRUCT,
    name="io.debezium.data.geometry.Point",
    version=1,
    doc="Geometry (POINT)",
    fields=(
        Field("x", 0, FLOAT64_SCHEMA),
        Field("y", 1, FLOAT64_SCHEMA),
        Field("wkb", 2, Schema(Type.BYTES, optional=True)),
        Field("srid", 3, Schema(Type.INT32, optional=True)),
    ),
)


def column_type(pg: PgType, typmod: int, handling: Handling) -> ColumnType | None:
    """How values of a type are sent; None for types that Debezium leaves away."""
    if typmod == -1:
        typmod = pg.typmod
    if pg.element is not None:
        return _array(pg.element, typmod, handling)
    name = pg.name
    if name in _INTEGERS:
        return ColumnType(_INTEGERS[name], int, 0)
    if name in _TEXTS or pg.kind in {"r", "m"}:
        return _string(STRING_SCHEMA, handling)
    if name in _NAMED_TEXTS:
        return _string(_named(Type.STRING, _NAMED_TEXTS[name]), handling)
    if pg.kind == "e":
        schema = Schema(
            Type.STRING, name="io.debezium.data.Enum", version=1, parameters={"allowed": ",".join(pg.labels)}
        )
        return ColumnType(schema, str, "", handling.unavailable)
    maker = _MAKERS.get(name)
    return None if maker is None else maker(typmod, handling)


def _named(kind: Type, name: str) -> Schema:
    return Schema(kind, name=name, version=1)


def _string(schema: Schema, handling: Handling) -> ColumnType:
    return ColumnType(schema, str, "", handling.unavailable)


def _array(element: PgType, typmod: int, handling: Handling) -> ColumnType | None:
    of = column_type(element, typmod, handling)
    if of is None:
        return None
    element_type = optional(of)
    convert = element_type.convert
    unavailable = None if of.unavailable is None else [of.unavailable]
    schema = Schema(Type.ARRAY, value_schema=element_type.schema)
    return ColumnType(schema, lambda text: literals.array(text, convert), [], unavailable)


def optional(of: ColumnType) -> ColumnType:
    """The same type, of values that may be null."""
    schema = of.schema
    is_struct = schema.type is Type.STRUCT
    nullable = Schema(
        schema.type,
        optional=True,
        name=schema.name,
        version=schema.version,
        doc=schema.doc,
        parameters=schema.parameters,
        fields=schema.fields if is_struct else (),
        key_schema=schema.key_schema,
        value_schema=schema.value_schema,
    )
    if not is_struct:
        return replace(of, schema=nullable, fallback=None)
    convert = of.convert
    # A struct must have the very schema of its field.
    return replace(of, schema=nullable, convert=lambda text: Struct.of(nullable, convert(text).values), fallback=None)


def _bool(typmod: int, handling: Handling) -> ColumnType:
    return ColumnType(BOOLEAN_SCHEMA, lambda text: text == "t", False)


def _float4(typmod: int, handling: Handling) -> ColumnType:
    return ColumnType(FLOAT32_SCHEMA, float, 0.0)


def _float8(typmod: int, handling: Handling) -> ColumnType:
    return ColumnType(FLOAT64_SCHEMA, float, 0.0)


def _bit(typmod: int, handling: Handling) -> ColumnType:
    """Bits are sent with the last one first in the first byte."""
    if typmod == 1:
        return ColumnType(BOOLEAN_SCHEMA, lambda text: text == "1", False)
    length = typmod if typmod > 0 else 2**31 - 1
    schema = Schema(Type.BYTES, name="io.debezium.data.Bits", version=1, parameters={"length": str(length)})
    return ColumnType(schema, lambda text: int(text or "0", 2).to_bytes((len(text) + 7) // 8, "little"), b"")


def _bytea(typmod: int, handling: Handling) -> ColumnType:
    if handling.binary == "bytes":
        return ColumnType(BYTES_SCHEMA, lambda text: bytes.fromhex(text[2:]), b"", handling.unavailable.encode())
    encode: dict[str, Callable[[bytes], str]] = {
        "base64": lambda data: base64.b64encode(data).decode(),
        "base64-url-safe": lambda data: base64.urlsafe_b64encode(data).decode(),
        "hex": bytes.hex,
    }
    as_text = encode[handling.binary]
    return ColumnType(STRING_SCHEMA, lambda text: as_text(bytes.fromhex(text[2:])), "", handling.unavailable)


def _finite(text: str) -> decimal.Decimal:
    value = decimal.Decimal(text)
    if not value.is_finite():
        raise DataError(
            f"{text} is not a Connect decimal", hint="Set decimal.handling.mode to double or string, which can hold it."
        )
    return value


def _numeric(typmod: int, handling: Handling) -> ColumnType:
    if handling.decimals == "double":
        return ColumnType(FLOAT64_SCHEMA, float, 0.0)
    if handling.decimals == "string":
        return _string(STRING_SCHEMA, handling)
    if typmod < 4:
        zero = Struct.of(VARIABLE_SCALE_DECIMAL, [0, b"\0"])
        return ColumnType(VARIABLE_SCALE_DECIMAL, _variable_scale, zero)
    precision, scale = (typmod - 4) >> 16 & 0xFFFF, ((typmod - 4 & 0x7FF) ^ 1024) - 1024
    plain = decimal_schema(scale)
    parameters = {**(plain.parameters or {}), "connect.decimal.precision": str(precision)}
    schema = Schema(plain.type, name=plain.name, version=plain.version, parameters=parameters)
    unit = decimal.Decimal(1).scaleb(-scale)
    context = decimal.Context(prec=decimal.MAX_PREC)
    return ColumnType(schema, lambda text: _finite(text).quantize(unit, context=context), decimal.Decimal(0) * unit)


def _variable_scale(text: str) -> Struct:
    value = _finite(text)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return Struct.of(VARIABLE_SCALE_DECIMAL, [-exponent, int_to_bytes(unscaled(value))])


def _money(typmod: int, handling: Handling) -> ColumnType:
    """Money is written as the C locale has it: -$1,234.50."""
    below = _numeric((19 << 16 | 2) + 4, handling)
    convert = below.convert
    return ColumnType(below.schema, lambda text: convert(text.replace("$", "").replace(",", "")), below.fallback)


def _date(typmod: int, handling: Handling) -> ColumnType:
    if handling.times == "connect":
        return ColumnType(DATE_SCHEMA, lambda text: date_from_days(temporal.days(text)), EPOCH)
    return ColumnType(_named(Type.INT32, "io.debezium.time.Date"), temporal.days, 0)


def _time(typmod: int, handling: Handling) -> ColumnType:
    if handling.times == "connect":
        return ColumnType(TIME_SCHEMA, lambda text: time_from_millis(temporal.micros_of_day(text) // 1000), EPOCH)
    if handling.times == "adaptive" and 0 <= typmod <= 3:
        return ColumnType(
            _named(Type.INT32, "io.debezium.time.Time"), lambda text: temporal.micros_of_day(text) // 1000, 0
        )
    return ColumnType(_named(Type.INT64, "io.debezium.time.MicroTime"), temporal.micros_of_day, 0)


def _timestamp(typmod: int, handling: Handling) -> ColumnType:
    if handling.times == "connect":
        return ColumnType(TIMESTAMP_SCHEMA, lambda text: from_millis(temporal.timestamp_micros(text) // 1000), EPOCH)
    if 0 <= typmod <= 3:
        return ColumnType(
            _named(Type.INT64, "io.debezium.time.Timestamp"), lambda text: temporal.timestamp_micros(text) // 1000, 0
        )
    return ColumnType(_named(Type.INT64, "io.debezium.time.MicroTimestamp"), temporal.timestamp_micros, 0)


def _timestamptz(typmod: int, handling: Handling) -> ColumnType:
    schema = _named(Type.STRING, "io.debezium.time.ZonedTimestamp")
    return ColumnType(schema, temporal.zoned_timestamp, "1970-01-01T00:00:00Z")


def _timetz(typmod: int, handling: Handling) -> ColumnType:
    return ColumnType(_named(Type.STRING, "io.debezium.time.ZonedTime"), temporal.zoned_time, "00:00:00Z")


def _interval(typmod: int, handling: Handling) -> ColumnType:
    if handling.intervals == "string":
        return ColumnType(_named(Type.STRING, "io.debezium.time.Interval"), str, "PT0S")
    return ColumnType(_named(Type.INT64, "io.debezium.time.MicroDuration"), temporal.interval_micros, 0)


def _hstore(typmod: int, handling: Handling) -> ColumnType:
    if handling.hstore == "map":
        schema = Schema(Type.MAP, key_schema=STRING_SCHEMA, value_schema=Schema(Type.STRING, optional=True))
        return ColumnType(schema, literals.hstore, {}, {handling.unavailable: handling.unavailable})
    schema = _named(Type.STRING, "io.debezium.data.Json")
    return ColumnType(schema, lambda text: json.dumps(literals.hstore(text)), "{}", handling.unavailable)


def _point(typmod: int, handling: Handling) -> ColumnType:
    def convert(text: str) -> Struct:
        x, y = (float(part) for part in text.strip("()").split(","))
        return Struct.of(POINT, [x, y, None, None])

    return ColumnType(POINT, convert, Struct.of(POINT, [0.0, 0.0, None, None]))


_MAKERS: dict[str, Callable[[int, Handling], ColumnType]] = {
    "bool": _bool,
    "float4": _float4,
    "float8": _float8,
    "bit": _bit,
    "varbit": _bit,
    "bytea": _bytea,
    "numeric": _numeric,
    "money": _money,
    "date": _date,
    "time": _time,
    "timestamp": _timestamp,
    "timestamptz": _timestamptz,
    "timetz": _timetz,
    "interval": _interval,
    "hstore": _hstore,
    "point": _point,
}
