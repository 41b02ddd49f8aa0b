"""Every type of PostgreSQL: as a row of a snapshot and as a change it is the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from penstock.connect.connectors.postgres_cdc.literals import array
from penstock.connect.converters.json_converter import JsonConverter
from penstock.connect.data import Struct
from penstock.connect.errors import DataError
from tests.connect.postgres_cdc.following import Follower
from tests.servers.fixtures import OwnDatabase

Follow = Callable[..., Follower]

# type, literal, schema, value
CASES: list[tuple[str, str, str, Any]] = [
    ("smallint", "-32768", "INT16", -32768),
    ("integer", "7", "INT32", 7),
    ("bigint", "9223372036854775807", "INT64", 2**63 - 1),
    ("oid", "4294967295", "INT64", 2**32 - 1),
    ("real", "1.5", "FLOAT32", 1.5),
    ("double precision", "'Infinity'", "FLOAT64", float("inf")),
    ("double precision", "0.1", "FLOAT64", 0.1),
    ("boolean", "true", "BOOLEAN", True),
    ("bit(1)", "B'1'", "BOOLEAN", True),
    ("bit(10)", "B'1000000001'", "BYTES io.debezium.data.Bits", b"\x01\x02"),
    ("varbit(16)", "B'101'", "BYTES io.debezium.data.Bits", b"\x05"),
    ("text", "'gr\u00fc\u00df dich\n'", "STRING", "gr\u00fc\u00df dich\n"),
    ("char(4)", "'ab'", "STRING", "ab  "),
    ("varchar(9)", "E'tab\\t\\\\N'", "STRING", "tab\t\\N"),
    ("uuid", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "STRING io.debezium.data.Uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("json", "'{\"a\": 1}'", "STRING io.debezium.data.Json", '{"a": 1}'),
    ("jsonb", "'{\"a\":[1, null]}'", "STRING io.debezium.data.Json", '{"a": [1, null]}'),
    ("xml", "'<a/>'", "STRING io.debezium.data.Xml", "<a/>"),
    ("inet", "'10.0.0.1/8'", "STRING", "10.0.0.1/8"),
    ("cidr", "'10.0.0.0/8'", "STRING", "10.0.0.0/8"),
    ("macaddr", "'08:00:2b:01:02:03'", "STRING", "08:00:2b:01:02:03"),
    ("int4range", "'[1,5)'", "STRING", "[1,5)"),
    ("tstzrange", "'[2024-01-01 00:00+02,)'", "STRING", '["2023-12-31 22:00:00+00",)'),
    ("mood", "'so so'", "STRING io.debezium.data.Enum", "so so"),
    ("bytea", "'\\x00ff'", "BYTES", b"\x00\xff"),
    ("numeric(10, 2)", "-1234.5", "BYTES org.apache.kafka.connect.data.Decimal", Decimal("-1234.50")),
    ("numeric(3, -2)", "1234", "BYTES org.apache.kafka.connect.data.Decimal", Decimal("12E2")),
    ("numeric", "123.4500", "STRUCT io.debezium.data.VariableScaleDecimal", {"scale": 4, "value": b"\x12\xd6\x44"}),
    ("price", "9.9", "BYTES org.apache.kafka.connect.data.Decimal", Decimal("9.90")),
    ("money", "-1234567.5", "BYTES org.apache.kafka.connect.data.Decimal", Decimal("-1234567.50")),
    ("date", "'2024-02-29'", "INT32 io.debezium.time.Date", 19782),
    ("date", "'0044-03-15 BC'", "INT32 io.debezium.time.Date", -735160),
    ("date", "'infinity'", "INT32 io.debezium.time.Date", 2**31 - 1),
    ("time", "'24:00'", "INT64 io.debezium.time.MicroTime", 86_400_000_000),
    ("time(3)", "'00:00:01.2345'", "INT32 io.debezium.time.Time", 1_235),
    ("timetz", "'01:00:00.5+02'", "STRING io.debezium.time.ZonedTime", "23:00:00.5Z"),
    ("timestamp", "'2024-02-29 12:00:00.123456'", "INT64 io.debezium.time.MicroTimestamp", 1_709_208_000_123_456),
    ("timestamp", "'294276-12-31 23:59:59'", "INT64 io.debezium.time.MicroTimestamp", 9_223_372_036_825_200_000),
    ("timestamp", "'-infinity'", "INT64 io.debezium.time.MicroTimestamp", -9_223_372_036_832_400_000),
    ("timestamp(3)", "'1969-12-31 23:59:59.999'", "INT64 io.debezium.time.Timestamp", -1),
    ("timestamptz", "'2024-02-29 12:00:00.5+05:30'", "STRING io.debezium.time.ZonedTimestamp", "2024-02-29T06:30:00.5Z"),
    ("interval", "'1 mon 2 days -3 hours'", "INT64 io.debezium.time.MicroDuration", 2_629_800_000_000 + (48 - 3) * 3_600_000_000),
    ("point", "'(1.5,-2)'", "STRUCT io.debezium.data.geometry.Point", {"x": 1.5, "y": -2.0, "wkb": None, "srid": None}),
    ("int[]", "'{1,NULL,3}'", "ARRAY", [1, None, 3]),
    ("text[]", "ARRAY['a,b', '', 'NULL', NULL, 'q\"\\z']", "ARRAY", ["a,b", "", "NULL", None, 'q"\\z']),
    ("numeric(4,1)[]", "'{1.5}'", "ARRAY", [Decimal("1.5")]),
    ("hstore", "'a=>1, b=>NULL'", "STRING io.debezium.data.Json", '{"a": "1", "b": null}'),
]  # fmt: skip


def test_types(database: OwnDatabase, follow: Follow) -> None:
    database.execute(
        "CREATE EXTENSION hstore",
        "CREATE TYPE mood AS ENUM ('bad', 'so so')",
        "CREATE DOMAIN price AS numeric(6, 2)",
        f"CREATE TABLE t (id serial PRIMARY KEY, {', '.join(f'c{i} {case[0]}' for i, case in enumerate(CASES))})",
        f"ALTER DATABASE {database.name} SET datestyle = 'German'",
        f"ALTER DATABASE {database.name} SET timezone = 'Asia/Tokyo'",
    )
    insert = f"INSERT INTO t VALUES (DEFAULT, {', '.join(case[1] for case in CASES)})"
    database.execute(insert, "INSERT INTO t DEFAULT VALUES")
    follower = follow()
    rows = follower.records(2)
    database.execute(insert, "INSERT INTO t DEFAULT VALUES")
    rows += follower.records(2)
    expected = [None if value is None else _plain(value) for *_, value in CASES]
    for record in rows:
        record.value.validate()
        names = [f"c{i}" for i in range(len(CASES))]
        fields = [record.value["after"].schema.field(name).schema for name in names]
        assert [str(f.type) + (f" {f.name}" if f.name else "") for f in fields] == [case[2] for case in CASES]
        found = [_plain(record.value["after"][name]) for name in names]
        assert found == (expected if record.key["id"] % 2 else [None] * len(CASES))
        written = JsonConverter().from_connect_data("t", record.value_schema, record.value)
        assert json.loads(written or b"")["payload"]["after"]["id"] == record.key["id"]
    parameters = {name: rows[0].value["after"].schema.field(name).schema.parameters for name in ("c9", "c23", "c25")}
    assert parameters == {
        "c9": {"length": "10"}, "c23": {"allowed": "bad,so so"}, "c25": {"scale": "2", "connect.decimal.precision": "10"},
    }  # fmt: skip


def _plain(value: Any) -> Any:
    return value.to_dict() if isinstance(value, Struct) else value


def test_other_ways_to_send_types(database: OwnDatabase, follow: Follow) -> None:
    database.execute(
        "CREATE EXTENSION hstore",
        "CREATE TABLE t (id int PRIMARY KEY, n numeric(8,2), x numeric, m money, d date, u time, z timestamp, i interval,"
        " b bytea, h hstore)",
        "INSERT INTO t VALUES (1, 1.5, 'NaN', 2, '2024-01-02', '01:00', '2024-01-02 03:04:05.678901', '1 day 2 hours',"
        " '\\x0102', 'a=>b')",
    )
    settings = {
        "decimal.handling.mode": "double",
        "time.precision.mode": "connect",
        "interval.handling.mode": "string",
        "binary.handling.mode": "hex",
        "hstore.handling.mode": "map",
    }
    (record,) = follow(**settings).records(1)
    record.value.validate()
    after = record.value["after"].to_dict()
    assert (after["n"], str(after["x"]), after["m"]) == (1.5, "nan", 2.0)
    assert after["d"] == datetime(2024, 1, 2, tzinfo=timezone.utc)
    assert after["u"] == datetime(1970, 1, 1, 1, tzinfo=timezone.utc)
    assert after["z"] == datetime(2024, 1, 2, 3, 4, 5, 678000, tzinfo=timezone.utc)
    assert (after["i"], after["b"], after["h"]) == ("P1DT2H", "0102", {"a": "b"})


def test_a_value_that_cannot_be_sent_is_named(database: OwnDatabase, follow: Follow) -> None:
    database.execute("CREATE TABLE t (id int PRIMARY KEY, x numeric)", "INSERT INTO t VALUES (1, 'NaN')")
    with pytest.raises(DataError, match=r"Column x of public\.t: NaN is not a Connect decimal") as failure:
        follow().records(1)
    assert "decimal.handling.mode" in failure.value.hint


def test_types_nobody_knows_are_left_out_and_told(
    database: OwnDatabase, follow: Follow, caplog: pytest.LogCaptureFixture
) -> None:
    database.execute("CREATE TABLE t (id int PRIMARY KEY, b box)", "INSERT INTO t VALUES (1, '(0,0),(1,1)')")
    (record,) = follow().records(1)
    assert record.value["after"].to_dict() == {"id": 1}
    assert "the column b of public.t is left out: there is nothing to send its type box as" in caplog.text


def test_an_enum_that_gets_a_label(database: OwnDatabase, follow: Follow) -> None:
    database.execute(
        "CREATE TYPE mood AS ENUM ('bad')",
        "CREATE TABLE t (id int PRIMARY KEY, m mood)",
        "INSERT INTO t VALUES (1, 'bad')",
    )
    follower = follow()
    follower.records(1)
    database.execute("ALTER TYPE mood ADD VALUE 'good'", "INSERT INTO t VALUES (2, 'good')")
    (record,) = follower.records(1)
    assert record.value["after"]["m"] == "good"


def test_arrays_of_several_dimensions_are_refused() -> None:
    with pytest.raises(DataError, match="several dimensions"):
        array("{{1,2},{3,4}}", int)
