"""Every insert mode with every primary key mode, on every database."""

from __future__ import annotations

import logging

import pytest

from penstock.connect.connectors.jdbc.sink.connector import JdbcSinkConnector
from penstock.connect.data import INT64_SCHEMA, STRING_SCHEMA, SchemaBuilder, SinkRecord, Struct
from penstock.connect.errors import ConfigError, ConnectError, DataError
from tests.connect.jdbc.sink_records import Sink, order, order_key, record, wide
from tests.servers.fixtures import OwnDatabase

ORDERS = "SELECT id, item, price FROM orders"


def test_insert_without_key(database: OwnDatabase) -> None:
    with Sink(database) as sink:
        sink.put(record(order(1)), record(order(1), 1), record(order(2, None, None), 2))
    assert database.query(f"{ORDERS} ORDER BY id") == [(1, "tap", 1.5), (1, "tap", 1.5), (2, None, None)]


def test_insert_with_kafkas_coordinates_writes_each_record_once(database: OwnDatabase) -> None:
    with Sink(database, {"pk.mode": "kafka"}) as sink:
        records = [record(order(7), 5), record(order(7), 6), record(order(8), 5, partition=1)]
        sink.put(*records)
        sink.put(*records, record(order(9), 7))
    found = database.query("SELECT __connect_topic, __connect_partition, __connect_offset, id FROM orders")
    assert wide(found) == [("orders", 0, 5, 7), ("orders", 0, 6, 7), ("orders", 0, 7, 9), ("orders", 1, 5, 8)]


def test_coordinates_are_those_records_were_consumed_from(database: OwnDatabase) -> None:
    routed = [record(order(1), 3, topic=topic).new_record(topic="orders") for topic in ("east", "west")]
    with Sink(database, {"pk.mode": "kafka", "pk.fields": "t,p,o"}) as sink:
        sink.put(*routed)
    assert wide(database.query("SELECT t, p, o FROM orders")) == [("east", 0, 3), ("west", 0, 3)]


@pytest.mark.parametrize(
    ("settings", "keyed"),
    [
        ({"pk.mode": "record_key"}, "struct"),
        ({"pk.mode": "record_key", "pk.fields": "id"}, "struct"),
        ({"pk.mode": "record_key", "pk.fields": "id"}, "primitive"),
        ({"pk.mode": "record_value", "pk.fields": "id"}, "none"),
    ],
    ids=["key-struct", "key-field", "key-primitive", "value-field"],
)
@pytest.mark.parametrize("mode", ["insert", "upsert", "update"])
def test_modes_with_keys(database: OwnDatabase, mode: str, settings: dict[str, str], keyed: str) -> None:
    def keyed_order(number: int, item: str, offset: int) -> SinkRecord:
        key = {"struct": order_key(number), "primitive": number, "none": None}[keyed]
        return record(order(number, item), offset, key=key, key_schema=INT64_SCHEMA if keyed == "primitive" else None)

    database.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, item VARCHAR(40), price FLOAT, note VARCHAR(20))")
    database.execute("INSERT INTO orders (id, item, note) VALUES (1, 'old', 'kept')")
    with Sink(database, {**settings, "insert.mode": mode, "auto.create": "false"}, tolerant=True) as sink:
        sink.put(keyed_order(1, "new", 0), keyed_order(2, "pump", 1), keyed_order(2, "valve", 2))
        sink.put(keyed_order(1, "newer", 3))
    rows = wide(database.query("SELECT id, item, note FROM orders"))
    if mode == "insert":
        assert rows == [(1, "old", "kept"), (2, "pump", None)]
        assert sink.reports.offsets == [0, 2, 3]
        assert "was refused by table orders" in sink.reports.messages[0]
    elif mode == "upsert":
        assert rows == [(1, "newer", "kept"), (2, "valve", None)]
    else:
        assert rows == [(1, "newer", "kept")]
    if mode != "insert":
        assert sink.reports.reported == []


def test_upsert_with_nothing_but_keys(database: OwnDatabase) -> None:
    with Sink(database, {"insert.mode": "upsert", "pk.mode": "record_value"}) as sink:
        sink.put(record(order_key(1)), record(order_key(2), 1), record(order_key(1), 2))
        sink.put(record(order_key(2), 3))
    assert wide(database.query("SELECT id FROM orders")) == [(1,), (2,)]


def test_upsert_with_kafkas_coordinates(database: OwnDatabase) -> None:
    with Sink(database, {"insert.mode": "upsert", "pk.mode": "kafka"}) as sink:
        sink.put(record(order(1), 4))
        sink.put(record(order(1, "again"), 4))
    assert database.query("SELECT __connect_offset, item FROM orders") == [(4, "again")]


def test_updates_without_a_row_are_said(database: OwnDatabase, caplog: pytest.LogCaptureFixture) -> None:
    with Sink(database, {"insert.mode": "update", "pk.mode": "record_value", "pk.fields": "id"}) as sink:
        sink.put(record(order(1)))
    assert "1 of 1 records to update had no row" in caplog.text


def test_tombstones_delete(database: OwnDatabase) -> None:
    settings = {"insert.mode": "upsert", "pk.mode": "record_key", "delete.enabled": "true"}
    with Sink(database, settings) as sink:
        sink.put(*(record(order(n), n, key=order_key(n)) for n in range(6)))
        sink.put(
            record(None, 6, key=order_key(0)),
            record(None, 7, key=order_key(1)),
            record(order(1, "back"), 8, key=order_key(1)),
            record(order(2, "new"), 9, key=order_key(2)),
            record(None, 10, key=order_key(2)),
            record(order(9, "last"), 11, key=order_key(9)),
            record(None, 12, key=order_key(9)),
            record(order(9, "really"), 13, key=order_key(9)),
        )
        assert wide(database.query("SELECT id, item FROM orders")) == [
            (1, "back"), (3, "tap"), (4, "tap"), (5, "tap"), (9, "really"),
        ]  # fmt: skip
        sink.put(record(None, 14, key=order_key(77)))


@pytest.mark.parametrize("only", ["", " WHERE email <> 'x'"], ids=["unique", "partly-unique"])
def test_what_was_deleted_is_not_in_the_way_of_what_is_written(
    database: OwnDatabase, only: str, caplog: pytest.LogCaptureFixture
) -> None:
    if only and database.kind == "mariadb":
        pytest.skip("it has no such indexes")
    database.execute(
        "CREATE TABLE orders (id BIGINT PRIMARY KEY, email VARCHAR(20))",
        f"CREATE UNIQUE INDEX one ON orders (email){only}",
        "INSERT INTO orders VALUES (1, 'a'), (2, 'b')",
    )
    schema = SchemaBuilder.struct().field("email", STRING_SCHEMA).build()

    def put(sink: Sink, *history: tuple[int, str | None]) -> None:
        values = [(key, None if email is None else Struct(schema, {"email": email})) for key, email in history]
        sink.put(*(record(value, n, key=order_key(key)) for n, (key, value) in enumerate(values)))

    settings = {"insert.mode": "upsert", "pk.mode": "record_key", "delete.enabled": "true"}
    with caplog.at_level(logging.INFO), Sink(database, settings) as sink:
        put(sink, (0, "z"), (1, None), (3, "a"), (2, None), (3, "b"), (4, "a"), (0, None), (5, "z"))
    assert wide(database.query("SELECT id, email FROM orders")) == [(3, "b"), (4, "a"), (5, "z")]
    assert ("refused a row" in caplog.text) == bool(only)


def test_keys_the_database_takes_for_the_same_are_written_in_order(database: OwnDatabase) -> None:
    compared = {"postgres": "citext", "mariadb": "VARCHAR(20)", "sqlite": "TEXT COLLATE NOCASE"}[database.kind]
    if database.kind == "postgres":
        database.execute("CREATE EXTENSION citext")
    database.execute(
        f"CREATE TABLE orders (code {compared} PRIMARY KEY, id BIGINT, item VARCHAR(9), price FLOAT)",
        "INSERT INTO orders (code, id) VALUES ('a', 1), ('f', 2)",
    )
    settings = {"insert.mode": "upsert", "pk.mode": "record_key", "pk.fields": "code", "delete.enabled": "true"}
    with Sink(database, settings) as sink:
        history = [
            ("a", None),
            ("A", order(3)),
            ("b", None),
            ("f", None),
            ("F", order(4)),
            ("\u00e9", None),
            ("E", order(5)),
        ]
        sink.put(*(record(value, n, key=key, key_schema=STRING_SCHEMA) for n, (key, value) in enumerate(history)))
    assert wide(database.query("SELECT code, id FROM orders")) == [("A", 3), ("E", 5), ("F", 4)]


def test_deletes_between_writes_do_not_cut_batches_of_tables_with_one_key(sqlite_database: OwnDatabase) -> None:
    settings = {"insert.mode": "upsert", "pk.mode": "record_key", "delete.enabled": "true"}
    with Sink(sqlite_database, settings) as sink:
        sink.put(*(record(order(n), n, key=order_key(n)) for n in range(9)))
        history = [record(None if n % 2 else order(n), n, key=order_key(n)) for n in range(9)]
        (batch,) = sink.task._batches.of(history, sink.task._report)
        connection = sink.task._connection
        assert connection is not None
        assert [len(work.rows) for work in sink.task._works(connection, batch)] == [5, 4]
        sqlite_database.execute("CREATE UNIQUE INDEX one ON orders (item, id)")
        sink.task._tables.forget()
        assert [len(work.rows) for work in sink.task._works(connection, batch)] == [5, 4]
        sqlite_database.execute("DELETE FROM orders", "CREATE UNIQUE INDEX other ON orders (price, item)")
        sink.task._tables.forget()
        assert [len(work.rows) for work in sink.task._works(connection, batch)] == [1] * 9


def test_a_primitive_key_deletes(database: OwnDatabase) -> None:
    settings = {"insert.mode": "upsert", "pk.mode": "record_key", "pk.fields": "code", "delete.enabled": "true"}
    with Sink(database, settings) as sink:
        sink.put(record(order(1), 0, key="a", key_schema=STRING_SCHEMA))
        sink.put(record(None, 1, key="a", key_schema=STRING_SCHEMA))
    assert database.query("SELECT code FROM orders") == []


def test_only_the_fields_of_the_whitelist_are_written(database: OwnDatabase) -> None:
    settings = {"pk.mode": "record_value", "pk.fields": "id", "fields.whitelist": "price"}
    with Sink(database, settings) as sink:
        sink.put(record(order(1)))
    assert database.query("SELECT * FROM orders") == [(1, 1.5)]


def test_batches_of_one(database: OwnDatabase) -> None:
    with Sink(database, {"batch.size": "1"}) as sink:
        sink.put(*(record(order(n), n) for n in range(5)))
    assert wide(database.query("SELECT id FROM orders")) == [(n,) for n in range(5)]


def test_plain_texts_go_to_a_column_of_their_own(database: OwnDatabase) -> None:
    with Sink(database, {"pk.mode": "kafka"}) as sink:
        sink.put(record("one", 0, value_schema=STRING_SCHEMA), record("two", 1, value_schema=STRING_SCHEMA))
    assert wide(database.query("SELECT record_value FROM orders")) == [("one",), ("two",)]


@pytest.mark.parametrize(
    ("settings", "wrong", "message"),
    [
        ({}, record(None, 3), r"orders-0, offset 3, .*no value, and delete.enabled is false"),
        ({}, record({"id": 1}, 3), r"no schema: it is a dict. Set schema.infer=true"),
        ({}, record(4, 3, value_schema=INT64_SCHEMA), r"its value is of type INT64"),
        ({"pk.mode": "record_key"}, record(order(1), 3), "it has no key, and pk.mode is record_key"),
        (
            {"pk.mode": "record_key"},
            record(order(1), 3, key=1, key_schema=INT64_SCHEMA),
            "pk.fields needs exactly one name, not 0",
        ),
        (
            {"pk.mode": "record_value", "pk.fields": "nr"},
            record(order(1), 3),
            "pk.fields names nr, which the record's value does not have. Its fields: id, item, price",
        ),
        ({"fields.whitelist": "nr"}, record(order(1), 3), "has no field to write"),
        (
            {"pk.mode": "record_value", "pk.fields": "item"},
            record(order(1, None), 3),
            "item of the primary key is null",
        ),
        ({"table.name.format": "a.b.c.${topic}"}, record(order(1), 3), "is not the name of a table"),
    ],
)
def test_records_that_do_not_fit_are_reported(
    sqlite_database: OwnDatabase, settings: dict[str, str], wrong: SinkRecord, message: str
) -> None:
    with Sink(sqlite_database, settings) as sink, pytest.raises((DataError, ConfigError), match=message):
        sink.put(wrong)


def test_records_that_do_not_fit_do_not_stop_the_others(database: OwnDatabase) -> None:
    with Sink(database, tolerant=True) as sink:
        sink.put(record(order(1)), record(None, 1), record(order(2), 2), record(5, 3, value_schema=INT64_SCHEMA))
    assert wide(database.query("SELECT id FROM orders")) == [(1,), (2,)]
    assert sink.reports.offsets == [1, 3]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"delete.enabled": "true"}, "must be 'record_key' when delete support is enabled"),
        ({"insert.mode": "upsert"}, "needs a primary key, but pk.mode is none"),
        ({"insert.mode": "update"}, "needs a primary key, but pk.mode is none"),
        ({"pk.mode": "kafka", "pk.fields": "a,b"}, "pk.fields has 2 names"),
        ({"table.types": "INDEX"}, "table.types must name TABLE, VIEW or both"),
        ({"connection.url": "jdbc:nosuch://x"}, "No driver for jdbc:nosuch"),
    ],
)
def test_settings_that_do_not_fit_together(settings: dict[str, str], message: str) -> None:
    with pytest.raises((ConfigError, ConnectError), match=message):
        JdbcSinkConnector.validate({"connection.url": "jdbc:sqlite:/tmp/x.db", **settings})


def test_settings_that_are_wrong_by_themselves() -> None:
    wrong = {"connection.url": "jdbc:sqlite:/tmp/x.db", "insert.mode": "merge", "batch.size": "0"}
    assert list(JdbcSinkConnector.validate(wrong)) == []  # told by the declarations
    with pytest.raises(ConfigError, match=r"insert.mode"):
        JdbcSinkConnector(wrong)
