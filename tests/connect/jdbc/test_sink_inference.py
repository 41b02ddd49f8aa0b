"""JSON objects without schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.connect.connectors.jdbc.sink.inference import Inference
from penstock.connect.data import INT64_SCHEMA, SinkRecord, Type
from tests.connect.jdbc.sink_records import Sink, order, record, wide
from tests.servers.fixtures import OwnDatabase

INFER = {"schema.infer": "true", "auto.evolve": "true", "pk.mode": "kafka"}


def values(records: list[SinkRecord]) -> list[dict[str, Any]]:
    return [one.value.to_dict() for one in records]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([1, 2], Type.INT64),
        ([1, 2.5], Type.FLOAT64),
        ([True, None], Type.BOOLEAN),
        (["a", 1], Type.STRING),
        ([True, 1], Type.STRING),
        ([{"a": 1}], Type.STRING),
        ([2**70], Type.STRING),
    ],
)
def test_types_that_values_have(found: list[Any], expected: Type) -> None:
    applied = Inference().applied([record({"x": value}, n) for n, value in enumerate(found)])
    assert {one.value_schema.field("x").schema.type for one in applied if one.value_schema} == {expected}  # type: ignore[union-attr]
    assert all(one.value_schema is applied[0].value_schema for one in applied)


def test_values_that_do_not_fit_together_are_text() -> None:
    applied = Inference().applied([record({"x": value}) for value in ["a", 1, True, {"b": [1]}, None]])
    assert [one["x"] for one in values(applied)] == ["a", "1", "true", '{"b":[1]}', None]


def test_fields_that_were_null_so_far_have_no_column() -> None:
    inference = Inference()
    (first,) = inference.applied([record({"a": 1, "b": None})])
    (second,) = inference.applied([record({"a": 1, "b": "x"})])
    assert values([first, second]) == [{"a": 1}, {"a": 1, "b": "x"}]


def test_records_with_a_schema_stay_as_they_are() -> None:
    records = [record(order(1)), record(None, 1, key=1, key_schema=INT64_SCHEMA)]
    assert Inference().applied(records) is records


def test_objects_become_rows_and_new_fields_columns(database: OwnDatabase) -> None:
    with Sink(database, INFER) as sink:
        sink.put(
            record({"id": 1, "name": "tap", "price": 2, "tags": ["a"], "open": True, "later": None}),
            record({"id": 2, "price": 2.5, "name": None, "open": False, "where": {"city": "Zürich"}}, 1),
        )
        sink.put(record({"id": 3, "later": "now"}, 2))
    name = "`where`" if database.kind == "mariadb" else '"where"'
    rows = database.query(f"SELECT id, name, price, tags, open, {name}, later FROM orders ORDER BY id")
    decoded = [tuple(json.loads(v) if isinstance(v, str) and v[:1] in "[{" else v for v in row) for row in rows]
    assert decoded == [
        (1, "tap", 2.0, ["a"], True, None, None),
        (2, None, 2.5, None, False, {"city": "Zürich"}, None),
        (3, None, None, None, None, None, "now"),
    ]


def test_a_table_keeps_its_types_after_a_restart(database: OwnDatabase) -> None:
    with Sink(database, INFER) as sink:
        sink.put(record({"n": 1, "text": "a"}))
    with Sink(database, INFER, tolerant=True) as sink:
        sink.put(record({"n": 2.5, "text": 7}, 1), record({"n": 3, "text": 8}, 2))
    found = wide(database.query("SELECT n, text FROM orders"))
    if database.kind == "sqlite":
        assert found == [(1, "a"), (2.5, "7"), (3, "8")]
    else:
        assert found == [(1, "a"), (3, "8")]
        assert "2.5 would be rounded" in sink.reports.messages[0]


def test_keys_without_schema(database: OwnDatabase) -> None:
    settings = {"schema.infer": "true", "insert.mode": "upsert", "pk.mode": "record_key", "delete.enabled": "true"}
    with Sink(database, settings) as sink:
        sink.put(record({"x": 1}, key={"id": 1}), record({"x": 2}, 1, key={"id": 2}), record(None, 2, key={"id": 1}))
    assert database.query("SELECT id, x FROM orders") == [(2, 2)]
    with Sink(database, {**settings, "pk.fields": "code", "table.name.format": "plain"}) as sink:
        sink.put(record({"x": 1}, key="a"), record({"x": 2}, 1, key="b"), record(None, 2, key="a"))
    assert database.query("SELECT code, x FROM plain") == [("b", 2)]


def test_values_that_are_no_objects_are_reported(sqlite_database: OwnDatabase) -> None:
    with Sink(sqlite_database, INFER, tolerant=True) as sink:
        sink.put(record([1]), record({"x": 1}, 1), record(5, 2))
    assert sqlite_database.query("SELECT x FROM orders") == [(1,)]
    assert sink.reports.offsets == [0, 2]
    assert "Only JSON objects can become rows" in sink.reports.messages[0]
