"""Values of every type, there and back."""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta, timezone
from decimal import Context, Decimal
from typing import Any

import pytest

from penstock.connect.data import (
    DATE_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    SchemaBuilder,
    Struct,
    Type,
    decimal_schema,
)
from penstock.connect.errors import ConnectError, DataError
from tests.connect.jdbc.sink_records import Sink, record
from tests.servers.fixtures import OwnDatabase

UTC = timezone.utc
LONG = Context(prec=200)
INSTANT = datetime(2024, 2, 29, 23, 30, 15, 123000, tzinfo=UTC)
PRIMITIVES: dict[str, tuple[Type, list[Any]]] = {
    "i8": (Type.INT8, [-128, 127]),
    "i16": (Type.INT16, [-32768, 32767]),
    "i32": (Type.INT32, [-(2**31), 2**31 - 1]),
    "i64": (Type.INT64, [-(2**63), 2**63 - 1]),
    "f32": (Type.FLOAT32, [1.5, -0.25]),
    "f64": (Type.FLOAT64, [0.1, 1e300]),
    "b": (Type.BOOLEAN, [True, False]),
    "s": (Type.STRING, ["Zürich 🚰 'quoted' \\ %s", ""]),
    "y": (Type.BYTES, [b"\x00\x01\xff'\\", b""]),
}


def test_primitive_types(database: OwnDatabase) -> None:
    builder = SchemaBuilder.struct()
    for name, (kind, _) in PRIMITIVES.items():
        builder.field(name, Schema(kind, optional=True))
    schema = builder.build()
    rows = [[values[n] for _, values in PRIMITIVES.values()] for n in (0, 1)] + [[None] * len(PRIMITIVES)]
    with Sink(database) as sink:
        sink.put(*(record(Struct.of(schema, list(row)), n) for n, row in enumerate(rows)))
    found = database.query(f"SELECT {', '.join(PRIMITIVES)} FROM orders")
    assert [list(row) for row in found] == rows


def test_logical_types(database: OwnDatabase) -> None:
    schema = (
        SchemaBuilder.struct()
        .field("amount", decimal_schema(2))
        .field("d", DATE_SCHEMA)
        .field("t", TIME_SCHEMA)
        .field("ts", TIMESTAMP_SCHEMA)
        .build()
    )
    value = Struct(
        schema,
        {
            "amount": Decimal("-12345.67"),
            "d": datetime(2024, 2, 29, tzinfo=UTC),
            "t": datetime(1970, 1, 1, 13, 14, 15, 16000, tzinfo=UTC),
            "ts": INSTANT,
        },
    )
    with Sink(database) as sink:
        sink.put(record(value))
    (found,) = database.query("SELECT amount, d, t, ts FROM orders")
    expected: dict[str, tuple[Any, ...]] = {
        "postgres": (Decimal("-12345.67"), date(2024, 2, 29), time(13, 14, 15, 16000), INSTANT.replace(tzinfo=None)),
        "mariadb": (
            Decimal("-12345.67"),
            date(2024, 2, 29),
            timedelta(hours=13, minutes=14, seconds=15, milliseconds=16),
            INSTANT.replace(tzinfo=None),
        ),
        "sqlite": (-12345.67, "2024-02-29", "13:14:15.016000", "2024-02-29 23:30:15.123000"),
    }
    assert found == expected[database.kind]


def test_times_of_another_zone(database: OwnDatabase) -> None:
    schema = SchemaBuilder.struct().field("ts", TIMESTAMP_SCHEMA).field("d", DATE_SCHEMA).build()
    value = Struct(schema, {"ts": INSTANT, "d": datetime(2024, 2, 29, tzinfo=UTC)})
    with Sink(database, {"db.timezone": "America/New_York"}) as sink:
        sink.put(record(value))
    with Sink(database, {"db.timezone": "America/New_York", "date.timezone": "DB_TIMEZONE"}) as sink:
        sink.put(record(value, 1))
    found = [(str(ts)[:19], str(day)) for ts, day in database.query("SELECT ts, d FROM orders ORDER BY d DESC")]
    assert found == [("2024-02-29 18:30:15", "2024-02-29"), ("2024-02-29 18:30:15", "2024-02-28")]


def test_columns_with_a_zone_get_the_instant(postgres_database: OwnDatabase) -> None:
    postgres_database.execute("CREATE TABLE orders (ts TIMESTAMPTZ)")
    schema = SchemaBuilder.struct().field("ts", TIMESTAMP_SCHEMA).build()
    with Sink(postgres_database, {"db.timezone": "America/New_York"}) as sink:
        sink.put(record(Struct(schema, {"ts": INSTANT})))
    ((found,),) = postgres_database.query("SELECT ts FROM orders")
    assert found == INSTANT


@pytest.mark.parametrize(
    ("mode", "value"), [("microseconds", 1_709_249_415_123_456), ("nanoseconds", 1_709_249_415_123_456_789)]
)
def test_numbers_that_are_times(database: OwnDatabase, mode: str, value: int) -> None:
    schema = SchemaBuilder.struct().field("at", INT64_SCHEMA).build()
    with Sink(database, {"timestamp.fields.list": "at", "timestamp.precision.mode": mode}) as sink:
        sink.put(record(Struct(schema, {"at": value})))
    ((found,),) = database.query("SELECT at FROM orders")
    assert str(found) == "2024-02-29 23:30:15.123456"


def test_arrays_maps_and_structs(database: OwnDatabase) -> None:
    inner = SchemaBuilder.struct().field("x", INT64_SCHEMA).build()
    schema = (
        SchemaBuilder.struct()
        .field("tags", SchemaBuilder.array(Schema(Type.STRING)).build())
        .field("days", SchemaBuilder.array(DATE_SCHEMA).build())
        .field("inner", inner)
        .field("places", SchemaBuilder.map(Schema(Type.STRING), INT64_SCHEMA).build())
        .build()
    )
    day = datetime(2024, 2, 29, tzinfo=UTC)
    value = Struct(
        schema, {"tags": ["a", 'b"c'], "days": [day], "inner": Struct(inner, {"x": 1}), "places": {"Zürich": 2}}
    )
    with Sink(database) as sink:
        sink.put(record(value))
    name = "`inner`" if database.kind == "mariadb" else '"inner"'
    (found,) = database.query(f"SELECT tags, days, {name}, places FROM orders")
    if database.kind == "postgres":
        assert found == (["a", 'b"c'], [date(2024, 2, 29)], {"x": 1}, {"Zürich": 2})
    else:
        tags, days, nested, places = map(json.loads, found)
        assert (tags, nested, places) == (["a", 'b"c'], {"x": 1}, {"Zürich": 2})
        assert days == ["2024-02-29T00:00:00Z"]


def test_texts_for_columns_of_other_types(postgres_database: OwnDatabase) -> None:
    postgres_database.execute("CREATE TABLE orders (id UUID, doc JSONB, at TIMESTAMPTZ, n NUMERIC)")
    schema = SchemaBuilder.struct()
    for name in ("id", "doc", "at", "n"):
        schema.field(name, Schema(Type.STRING))
    values = ["6b1f0f3e-0000-4000-8000-000000000000", '{"a": 1}', "2024-02-29T00:00:00Z", "1.25"]
    with Sink(postgres_database) as sink:
        sink.put(record(Struct.of(schema.build(), values)))
    ((number, doc, amount),) = postgres_database.query("SELECT id::text, doc, n FROM orders")
    assert (number, doc, amount) == (values[0], {"a": 1}, Decimal("1.25"))


def test_fractions_are_not_rounded(database: OwnDatabase) -> None:
    database.execute("CREATE TABLE orders (n INT)")
    schema = SchemaBuilder.struct().field("n", OPTIONAL_FLOAT64_SCHEMA).build()
    values = [2.0, 2.5, None]
    with Sink(database, tolerant=True) as sink:
        sink.put(*(record(Struct.of(schema, [value]), n) for n, value in enumerate(values)))
    found = [n for (n,) in database.query("SELECT n FROM orders")]
    if database.kind == "sqlite":
        assert found == [2, 2.5, None]
    else:
        assert found == [2, None]
        assert "Column n holds whole numbers: 2.5 would be rounded" in sink.reports.messages[0]


@pytest.mark.parametrize("scale", [30, 35, 127])
def test_decimals_with_more_digits_than_a_column_has(database: OwnDatabase, scale: int) -> None:
    """PostgreSQL's plain NUMERIC comes with 127 digits after the point, nearly all of them zeros."""
    schema = SchemaBuilder.struct().field("n", decimal_schema(scale, optional=True)).build()
    texts = ["1.25", "-12345678901234567890.5", "0", "1e-30"]
    numbers = [Decimal(text).quantize(Decimal(1).scaleb(-scale), context=LONG) for text in texts]
    with Sink(database, tolerant=True) as sink:
        sink.put(*(record(Struct.of(schema, [number]), n) for n, number in enumerate(numbers)))
        sink.put(record(Struct.of(schema, [Decimal("1e-31").quantize(numbers[0], context=LONG)]), 9))
    found = [number for (number,) in database.query("SELECT n FROM orders")]
    if database.kind == "sqlite":
        assert found[:3] == [1.25, -12345678901234567890.5, 0]
    elif database.kind == "mariadb" and scale == 127:
        assert found == numbers
        assert "30 digits after the point" in sink.reports.messages[0]
        assert "numeric.mapping=best_fit" in sink.reports.messages[0]
    else:
        assert found[:4] == numbers


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_none(database: OwnDatabase, value: float) -> None:
    schema = SchemaBuilder.struct().field("n", OPTIONAL_FLOAT64_SCHEMA).build()
    with Sink(database, tolerant=True) as sink:
        sink.put(record(Struct.of(schema, [value])), record(Struct.of(schema, [1.0]), 1))
    found = [str(n) for (n,) in database.query("SELECT n FROM orders")]
    if database.kind == "postgres" or (database.kind == "sqlite" and value == float("inf")):
        assert found == [str(value), "1.0"]
    else:
        assert found == ["1.0"]
        assert f"cannot keep {value} in column n" in sink.reports.messages[0]


def test_a_field_that_cannot_be_a_time_is_named(sqlite_database: OwnDatabase) -> None:
    schema = SchemaBuilder.struct().field("at", Schema(Type.STRING)).build()
    with (
        Sink(sqlite_database, {"timestamp.fields.list": "at"}) as sink,
        pytest.raises((DataError, ConnectError), match=r"timestamp.fields.list names at, which is of type STRING"),
    ):
        sink.put(record(Struct(schema, {"at": "x"})))
