from __future__ import annotations

import logging
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from penstock.connect.converters.json_converter import JsonConverter
from penstock.connect.data import DATE_NAME, DECIMAL_NAME, TIME_NAME, TIMESTAMP_NAME, Schema, Type
from penstock.connect.errors import DataError
from tests.connect.jdbc.source_run import source
from tests.servers.fixtures import OwnDatabase

NOON = datetime(2024, 5, 1, 12, 30, 15, 123456, tzinfo=timezone.utc)
DAY = datetime(2024, 5, 1, tzinfo=timezone.utc)
TIME = datetime(1970, 1, 1, 12, 30, 15, tzinfo=timezone.utc)

POSTGRES: list[tuple[str, str, Type, str | None, Any]] = [
    ("smallint", "-7", Type.INT16, None, -7),
    ("integer", "70000", Type.INT32, None, 70_000),
    ("bigint", "9223372036854775807", Type.INT64, None, 2**63 - 1),
    ("oid", "7", Type.INT64, None, 7),
    ("real", "1.5", Type.FLOAT32, None, 1.5),
    ("double precision", "'NaN'", Type.FLOAT64, None, "nan"),
    ("numeric(10,2)", "12.3", Type.BYTES, DECIMAL_NAME, Decimal("12.30")),
    (
        "numeric(40,0)",
        "1234567890123456789012345678901234567890",
        Type.BYTES,
        DECIMAL_NAME,
        Decimal(1234567890123456789012345678901234567890),
    ),
    ("boolean", "true", Type.BOOLEAN, None, True),
    ("bit", "B'1'", Type.BOOLEAN, None, True),
    ("bit(3)", "B'101'", Type.BYTES, None, b"101"),
    ("text", "'it''s'", Type.STRING, None, "it's"),
    ("varchar(5)", "'ab'", Type.STRING, None, "ab"),
    ("char(4)", "'ab'", Type.STRING, None, "ab  "),
    ("bytea", "'\\x00ff'", Type.BYTES, None, b"\x00\xff"),
    ("uuid", "'6ba7b810-9dad-11d1-80b4-00c04fd430c8'", Type.STRING, None, "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    ("json", "'{\"a\":  1}'", Type.STRING, None, '{"a":  1}'),
    ("jsonb", "'{\"a\":  1}'", Type.STRING, None, '{"a": 1}'),
    ("xml", "'<a/>'", Type.STRING, None, "<a/>"),
    ("money", "1.5", Type.STRING, None, "$1.50"),
    ("mood", "'fine'", Type.STRING, None, "fine"),
    ("date", "'2024-05-01'", Type.INT32, DATE_NAME, DAY),
    ("time", "'12:30:15'", Type.INT32, TIME_NAME, TIME),
    ("timetz", "'14:30:15+02'", Type.INT32, TIME_NAME, TIME),
    ("timestamp", "'2024-05-01 12:30:15.123456'", Type.INT64, TIMESTAMP_NAME, NOON),
    ("timestamptz", "'2024-05-01 14:30:15.123456+02'", Type.INT64, TIMESTAMP_NAME, NOON),
]
MARIADB: list[tuple[str, str, Type, str | None, Any]] = [
    ("tinyint", "-7", Type.INT8, None, -7),
    ("tinyint(1)", "1", Type.INT8, None, 1),
    ("tinyint unsigned", "255", Type.INT16, None, 255),
    ("smallint", "-7", Type.INT16, None, -7),
    ("smallint unsigned", "65535", Type.INT32, None, 65_535),
    ("mediumint unsigned", "70000", Type.INT32, None, 70_000),
    ("int", "70000", Type.INT32, None, 70_000),
    ("int unsigned", "4294967295", Type.INT64, None, 2**32 - 1),
    ("bigint", "9223372036854775807", Type.INT64, None, 2**63 - 1),
    ("bigint unsigned", "7", Type.INT64, None, 7),
    ("float", "1.5", Type.FLOAT32, None, 1.5),
    ("double", "1.1", Type.FLOAT64, None, 1.1),
    ("decimal(10,2)", "12.3", Type.BYTES, DECIMAL_NAME, Decimal("12.30")),
    ("bit(1)", "b'1'", Type.INT8, None, 1),
    ("bit(9)", "b'100000001'", Type.BYTES, None, b"\x01\x01"),
    ("text", "'grün'", Type.STRING, None, "grün"),
    ("varchar(5)", "'ab'", Type.STRING, None, "ab"),
    ("char(4)", "'ab'", Type.STRING, None, "ab"),
    ("varbinary(4)", "x'00ff'", Type.BYTES, None, b"\x00\xff"),
    ("blob", "x'00ff'", Type.BYTES, None, b"\x00\xff"),
    ("enum('fine', 'bad')", "'fine'", Type.STRING, None, "fine"),
    ("set('a', 'b')", "'a,b'", Type.STRING, None, "a,b"),
    ("json", "'{\"a\": 1}'", Type.STRING, None, '{"a": 1}'),
    ("date", "'2024-05-01'", Type.INT32, DATE_NAME, DAY),
    ("year", "2024", Type.INT32, DATE_NAME, datetime(2024, 1, 1, tzinfo=timezone.utc)),
    ("time", "'12:30:15'", Type.INT32, TIME_NAME, TIME),
    ("datetime(6)", "'2024-05-01 12:30:15.123456'", Type.INT64, TIMESTAMP_NAME, NOON),
    ("timestamp(6)", "'2024-05-01 12:30:15.123456'", Type.INT64, TIMESTAMP_NAME, NOON),
]
SQLITE: list[tuple[str, str, Type, str | None, Any]] = [
    ("tinyint", "-7", Type.INT8, None, -7),
    ("smallint", "-7", Type.INT16, None, -7),
    ("integer", "9223372036854775807", Type.INT64, None, 2**63 - 1),
    ("bigint", "7", Type.INT64, None, 7),
    ("real", "1.5", Type.FLOAT64, None, 1.5),
    ("double", "1", Type.FLOAT64, None, 1.0),
    ("decimal(10,2)", "12.3", Type.BYTES, DECIMAL_NAME, Decimal("12.30")),
    ("boolean", "1", Type.BOOLEAN, None, True),
    ("text", "'it''s'", Type.STRING, None, "it's"),
    ("varchar(5)", "'ab'", Type.STRING, None, "ab"),
    ("blob", "x'00ff'", Type.BYTES, None, b"\x00\xff"),
    ("date", "'2024-05-01'", Type.INT32, DATE_NAME, DAY),
    ("time", "'12:30:15'", Type.INT32, TIME_NAME, TIME),
    ("timestamp", "'2024-05-01 12:30:15.123456'", Type.INT64, TIMESTAMP_NAME, NOON),
    ("datetime", "1714566615123", Type.INT64, TIMESTAMP_NAME, NOON.replace(microsecond=123_000)),
    ("", "'no type'", Type.STRING, None, "no type"),
]  # fmt: skip
TYPES = {"postgres": POSTGRES, "mariadb": MARIADB, "sqlite": SQLITE}


def test_all_column_types(database: OwnDatabase) -> None:
    types = TYPES[database.kind]
    if database.kind == "postgres":
        database.execute("CREATE TYPE mood AS ENUM ('fine', 'bad')")
    declared = ", ".join(f"c{index} {kind} NULL" if kind else f"c{index}" for index, (kind, *_) in enumerate(types))
    values = ", ".join(one[1] for one in types)
    nulls = ", ".join(["NULL"] * len(types))
    database.execute(
        f"CREATE TABLE every ({declared})",
        f"INSERT INTO every VALUES ({values})",
        f"INSERT INTO every VALUES ({nulls})",
    )
    with source(database, mode="bulk") as run:
        full, empty = run.batch()
    schema = full.value_schema
    assert schema is not None
    converter = JsonConverter()
    for index, (kind, _, type_, name, value) in enumerate(types):
        field = schema.field(f"c{index}")
        assert field is not None, kind
        assert (kind, field.schema.type, field.schema.name, field.schema.optional) == (kind, type_, name, True)
        found = full.value.values[index]
        assert (kind, str(found) if value == "nan" else found) == (kind, value)
        assert type(found) is type(value) or value == "nan"
    assert empty.value.values == [None] * len(types)
    assert converter.from_connect_data("t", schema, full.value)
    assert converter.from_connect_data("t", schema, empty.value)


def test_columns_without_a_place_are_left_out_with_a_warning(
    postgres_database: OwnDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    postgres_database.execute(
        "CREATE TABLE odd (id integer, tags text[], span interval, box point, address inet)",
        "INSERT INTO odd VALUES (1, '{a}', '1 day', '(1,2)', '10.0.0.1')",
    )
    with caplog.at_level(logging.WARNING, "penstock.connect"), source(postgres_database, mode="bulk") as run:
        (record,) = run.batch()
        run.batch()
    assert record.value.to_dict() == {"id": 1}
    assert caplog.text.count("left out of the records") == 4
    assert "Column tags of odd" in caplog.text


def test_columns_that_may_not_be_null_are_required_and_have_plain_defaults(database: OwnDatabase) -> None:
    database.execute(
        "CREATE TABLE strict (a integer NOT NULL, b integer NOT NULL DEFAULT 7, c varchar(9) NOT NULL DEFAULT 'x', d integer DEFAULT 5)",
        "INSERT INTO strict VALUES (1, 2, 'y', NULL)",
    )
    with source(database, mode="bulk") as run:
        (record,) = run.batch()
    assert record.value_schema is not None
    schemas = [field.schema for field in record.value_schema.fields]
    assert [(schema.optional, schema.default) for schema in schemas] == [
        (False, None),
        (False, 7),
        (False, "x"),
        (True, None),
    ]
    assert record.value.values == [1, 2, "y", None]


# precision, scale: the type for none, precision_only, best_fit, best_fit_eager_double
MAPPINGS = {
    (2, 0): ("D", Type.INT8, Type.INT8, Type.INT8),
    (4, 0): ("D", Type.INT16, Type.INT16, Type.INT16),
    (9, 0): ("D", Type.INT32, Type.INT32, Type.INT32),
    (18, 0): ("D", Type.INT64, Type.INT64, Type.INT64),
    (19, 0): ("D", "D", "D", "D"),
    (9, 2): ("D", "D", Type.FLOAT64, Type.FLOAT64),
    (30, 2): ("D", "D", "D", Type.FLOAT64),
}


def shape(schema: Schema) -> Any:
    return "D" if schema.name == DECIMAL_NAME else schema.type


def test_numeric_mappings(database: OwnDatabase) -> None:
    names = [f"n{precision}_{scale}" for precision, scale in MAPPINGS]
    declared = ", ".join(f"{name} decimal({p},{s})" for name, (p, s) in zip(names, MAPPINGS, strict=True))
    database.execute(
        f"CREATE TABLE numbers ({declared})", f"INSERT INTO numbers VALUES ({', '.join(['12'] * len(names))})"
    )
    for index, mapping in enumerate(("none", "precision_only", "best_fit", "best_fit_eager_double")):
        with source(database, mode="bulk", numeric_mapping=mapping) as run:
            (record,) = run.batch()
        assert record.value_schema is not None
        assert [shape(field.schema) for field in record.value_schema.fields] == [
            one[index] for one in MAPPINGS.values()
        ]
        assert record.value.values == [12] * len(names)
        record.value.validate()
    with source(database, mode="bulk") as run:
        (record,) = run.batch()
    assert record.value_schema is not None
    assert record.value_schema.fields[0].schema.parameters == {"scale": "0", "connect.decimal.precision": "2"}
    with source(database, mode="bulk", numeric_precision_mapping="true") as run:
        (record,) = run.batch()
    assert record.value.values[0] == 12
    assert isinstance(record.value.values[0], int)


def test_numbers_without_limits_lose_nothing(postgres_database: OwnDatabase) -> None:
    postgres_database.execute(
        "CREATE TABLE numbers (n numeric)", "INSERT INTO numbers VALUES (1.25), (12345678901234567890.5)"
    )
    with source(postgres_database, mode="bulk") as run:
        records = run.batch()
    assert [record.value["n"] for record in records] == [Decimal("1.25"), Decimal("12345678901234567890.5")]
    assert records[0].value["n"].as_tuple().exponent == -127
    with source(postgres_database, mode="bulk", numeric_mapping="best_fit") as run:
        assert [record.value["n"] for record in run.batch()] == [1.25, 12345678901234567890.5]


@pytest.mark.parametrize(
    ("granularity", "value"),
    [
        ("connect_logical", NOON),
        ("micros_long", 1_714_566_615_123_456),
        ("micros_string", "1714566615123456"),
        ("micros_iso_datetime_string", "2024-05-01T12:30:15.123456"),
        ("nanos_long", 1_714_566_615_123_456_000),
        ("nanos_string", "1714566615123456000"),
        ("nanos_iso_datetime_string", "2024-05-01T12:30:15.123456000"),
    ],
)
def test_granularity_of_timestamps(sqlite_database: OwnDatabase, granularity: str, value: Any) -> None:
    sqlite_database.execute(
        "CREATE TABLE times (t timestamp)", "INSERT INTO times VALUES ('2024-05-01 12:30:15.123456')"
    )
    with source(sqlite_database, mode="bulk", timestamp_granularity=granularity) as run:
        (record,) = run.batch()
    assert record.value["t"] == value
    record.value.validate()


@pytest.mark.parametrize(
    ("fixture", "setup", "message"),
    [
        ("sqlite_database", ("CREATE TABLE t (n integer)", "INSERT INTO t VALUES (1), ('seven')"), "Column n of t: 'seven'"),
        ("sqlite_database", ("CREATE TABLE t (n timestamp)", "INSERT INTO t VALUES ('yesterday')"), "Column n of t: 'yesterday'"),
        ("mariadb_database", ("CREATE TABLE t (n bigint unsigned)", "INSERT INTO t VALUES (9223372036854775808)"), "Column n of t: .* too large"),
        ("mariadb_database", ("CREATE TABLE t (n time)", "INSERT INTO t VALUES ('100:00:00')"), "Column n of t: .* not a time of a day"),
        ("postgres_database", ("CREATE TABLE t (n numeric(5,2))", "INSERT INTO t VALUES ('NaN')"), "Column n of t: .* not a number"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_named(
    fixture: str, setup: tuple[str, ...], message: str, request: pytest.FixtureRequest
) -> None:
    database: OwnDatabase = request.getfixturevalue(fixture)
    database.execute(*setup)
    with source(database, mode="bulk") as run, pytest.raises(DataError, match=message):
        run.batch()
