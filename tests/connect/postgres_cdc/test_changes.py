"""Inserts, updates, deletes, truncates: what records they make."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from penstock.connect.converters.json_converter import JsonConverter
from penstock.connect.data import SourceRecord
from penstock.connect.errors import ConfigError, DataError
from tests.connect.postgres_cdc.following import Follower, shown
from tests.servers.fixtures import OwnDatabase

Follow = Callable[..., Follower]
TABLE = "CREATE TABLE orders (id int PRIMARY KEY, item text NOT NULL)"


def test_rows_and_then_changes(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, "INSERT INTO orders VALUES (1, 'a')")
    follower = follow()
    assert shown(follower.records(1)) == [("r", (1,), None, (1, "a"))]
    database.execute(
        "INSERT INTO orders VALUES (2, 'b')",
        "UPDATE orders SET item = 'c' WHERE id = 1",
        "DELETE FROM orders WHERE id = 2",
    )
    assert shown(follower.records(4)) == [
        ("c", (2,), None, (2, "b")),
        ("u", (1,), None, (1, "c")),
        ("d", (2,), (2, ""), None),  # PostgreSQL sends the key of deleted rows only
        (None, (2,)),
    ]
    follower.nothing()


def test_a_record_as_debezium_has_it(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE)
    follower = follow(snapshot_mode="no_data")
    follower.batch()
    database.execute("INSERT INTO orders VALUES (7, 'tap')")
    (record,) = follower.records(1)
    assert record.topic == "shop.public.orders"
    assert record.key_schema is not None
    assert record.key_schema.name == "shop.public.orders.Key"
    assert record.value.schema.name == "shop.public.orders.Envelope"
    assert record.value.schema.field("after").schema.name == "shop.public.orders.Value"
    record.key.validate()
    record.value.validate()
    converter = JsonConverter({"schemas.enable": "false"})
    value = json.loads(converter.from_connect_data(record.topic, record.value_schema, record.value) or b"")
    source = value["source"]
    assert list(value) == ["before", "after", "source", "transaction", "op", "ts_ms", "ts_us", "ts_ns"]
    assert (value["before"], value["after"], value["op"]) == (None, {"id": 7, "item": "tap"}, "c")
    assert (source["connector"], source["name"], source["db"]) == ("postgresql", "shop", database.name)
    assert (source["schema"], source["table"], source["snapshot"]) == ("public", "orders", "false")
    assert 0 <= value["ts_ms"] - source["ts_ms"] < 60_000
    assert source["ts_us"] // 1000 == source["ts_ms"] == source["ts_ns"] // 1_000_000
    assert json.loads(source["sequence"])[1] == str(source["lsn"])
    assert follower.offset is not None
    assert {key: type(value).__name__ for key, value in follower.offset.items()} == {
        "lsn": "int", "lsn_proc": "int", "lsn_commit": "int", "txId": "int", "ts_usec": "int", "messageType": "str",
    }  # fmt: skip
    assert follower.offset["txId"] == source["txId"]
    assert follower.offset["lsn"] == source["lsn"] < follower.offset["lsn_commit"] < follower.offset["lsn_proc"]


def test_a_changed_key_is_a_delete_and_a_create(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, "INSERT INTO orders VALUES (1, 'a')")
    follower = follow()
    follower.records(1)
    database.execute("UPDATE orders SET id = 5 WHERE id = 1")
    deleted, tombstone, created = records = follower.records(3)
    assert shown(records) == [("d", (1,), (1, ""), None), (None, (1,)), ("c", (5,), None, (5, "a"))]
    new, old = deleted.headers.last("__debezium.newkey"), created.headers.last("__debezium.oldkey")
    assert new is not None
    assert old is not None
    assert new.value["id"] == 5
    assert old.value["id"] == 1
    assert tombstone.value_schema is None


def test_a_full_replica_identity_sends_the_old_row(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, "ALTER TABLE orders REPLICA IDENTITY FULL", "INSERT INTO orders VALUES (1, 'a')")
    follower = follow(tombstones_on_delete="false")
    follower.records(1)
    database.execute("UPDATE orders SET item = 'b'", "UPDATE orders SET id = 2", "DELETE FROM orders")
    assert shown(follower.records(4)) == [
        ("u", (1,), (1, "a"), (1, "b")),
        ("d", (1,), (1, "b"), None),
        ("c", (2,), None, (2, "b")),
        ("d", (2,), (2, "b"), None),
    ]


def test_truncates_are_sent_if_they_are_not_skipped(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, "CREATE TABLE other (id int PRIMARY KEY)", "INSERT INTO orders VALUES (1, 'a')")
    silent = follow()
    silent.records(1)
    database.execute("TRUNCATE orders, other", "INSERT INTO orders VALUES (2, 'b')")
    assert shown(silent.records(1)) == [("c", (2,), None, (2, "b"))]
    silent.restart(**{"skipped.operations": "none"})
    database.execute("TRUNCATE orders, other")
    first, second = silent.records(2)
    assert shown([first, second]) == [("t", None, None, None)] * 2
    assert {first.topic, second.topic} == {"shop.public.orders", "shop.public.other"}


def test_large_values_that_did_not_change(database: OwnDatabase, follow: Follow) -> None:
    large = "(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 400) i)"
    database.execute(
        "CREATE TABLE page (id int PRIMARY KEY, hits int, body text, raw bytea, tags text[])",
        f"INSERT INTO page SELECT 1, 0, body, body::bytea, ARRAY[body] FROM (SELECT {large} AS body) b",
    )
    follower = follow(unavailable_value_placeholder="?")
    (row,) = follower.records(1)
    body = row.value["after"]["body"]
    assert len(body) == 400 * 32
    database.execute("UPDATE page SET hits = 1")
    (record,) = follower.records(1)
    assert shown([record]) == [("u", (1,), None, (1, 1, "?", b"?", ["?"]))]
    database.execute("ALTER TABLE page REPLICA IDENTITY FULL", "UPDATE page SET hits = 2")
    (record,) = follower.records(1)
    assert record.value["after"]["body"] == record.value["before"]["body"] == body
    assert record.value["after"]["raw"] == body.encode()


def test_a_table_altered_while_it_is_followed(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE)
    follower = follow()
    follower.batch()
    database.execute(
        "INSERT INTO orders VALUES (1, 'a')",
        "ALTER TABLE orders ADD COLUMN price numeric(8, 2)",
        "INSERT INTO orders VALUES (2, 'b', 1.5)",
        "ALTER TABLE orders DROP COLUMN item",
        "INSERT INTO orders VALUES (3, 2)",
        "ALTER TABLE orders RENAME COLUMN price TO cost",
        "ALTER TABLE orders ALTER COLUMN cost TYPE text",
        "INSERT INTO orders VALUES (4, 'free')",
        "DROP TABLE orders",
    )
    records = follower.records(4)
    after = [record.value["after"].to_dict() for record in records]
    assert [{name: str(value) for name, value in row.items()} for row in after] == [
        {"id": "1", "item": "a"},
        {"id": "2", "item": "b", "price": "1.50"},
        {"id": "3", "price": "2.00"},
        {"id": "4", "cost": "free"},
    ]
    for record in records:
        record.value.validate()


def test_tables_and_columns_are_chosen(database: OwnDatabase, follow: Follow) -> None:
    database.execute(
        "CREATE TABLE orders (id int PRIMARY KEY, item text, secret text)",
        "CREATE TABLE orders_old (id int PRIMARY KEY)",
        "CREATE SCHEMA hr",
        "CREATE TABLE hr.people (id int PRIMARY KEY)",
        *(f"INSERT INTO {table} (id) VALUES (1)" for table in ("orders", "orders_old", "hr.people")),
    )
    follower = follow(
        **{
            "table.include.list": "public.orders",
            "column.exclude.list": "public.orders.sec.*",
            "publication.autocreate.mode": "filtered",
        }
    )
    assert shown(follower.records(1)) == [("r", (1,), None, (1, None))]
    assert database.query("SELECT tablename FROM pg_publication_tables") == [("orders",)]
    database.execute(*(f"INSERT INTO {table} (id) VALUES (2)" for table in ("orders_old", "hr.people", "orders")))
    assert shown(follower.records(1)) == [("c", (2,), None, (2, None))]
    # A list that has become longer: the publication follows, rows that are there do not.
    follower.restart(**{"table.include.list": "public.orders,hr.*"})
    follower.nothing()
    database.execute("INSERT INTO hr.people VALUES (3)")
    (record,) = follower.records(1)
    assert record.topic == "shop.hr.people"


def test_columns_are_named(database: OwnDatabase, follow: Follow) -> None:
    database.execute(
        "CREATE TABLE orders (id int PRIMARY KEY, item text, secret text, note text)",
        "INSERT INTO orders VALUES (1, 'a', 's', 'n')",
    )
    follower = follow(**{"column.include.list": "public.orders.item,PUBLIC.orders.no.*"})
    # The key is sent though the list does not have it.
    assert shown(follower.records(1)) == [("r", (1,), None, (1, "a", "n"))]
    database.execute("INSERT INTO orders VALUES (2, 'b', 's', 'm')", "UPDATE orders SET secret = 't' WHERE id = 1")
    assert shown(follower.records(2)) == [("c", (2,), None, (2, "b", "m")), ("u", (1,), None, (1, "a", "n"))]


def test_keys_by_setting(database: OwnDatabase, follow: Follow) -> None:
    database.execute("CREATE TABLE log (at int, what text)", "INSERT INTO log VALUES (1, 'a')")
    follower = follow()
    assert shown(follower.records(1)) == [("r", None, None, (1, "a"))]
    follower.restart(**{"message.key.columns": "public.log:what"})
    database.execute("INSERT INTO log VALUES (2, 'b')")
    assert shown(follower.records(1)) == [("c", ("b",), None, (2, "b"))]
    database.execute(TABLE)
    follower.restart(**{"message.key.columns": "public.orders:item"})
    database.execute("INSERT INTO orders VALUES (1, 'a')")
    with pytest.raises(DataError, match="does not send of deleted rows: item") as failure:
        follower.records(1)
    assert "ALTER TABLE public.orders REPLICA IDENTITY FULL" in failure.value.hint


def test_partitions_of_a_table(database: OwnDatabase, follow: Follow) -> None:
    database.execute(
        "CREATE TABLE sales (id int PRIMARY KEY, amount int) PARTITION BY RANGE (id)",
        "CREATE TABLE sales_1 PARTITION OF sales FOR VALUES FROM (0) TO (10)",
        "CREATE TABLE sales_2 PARTITION OF sales FOR VALUES FROM (10) TO (20)",
        "INSERT INTO sales VALUES (1, 1), (11, 2)",
    )
    chosen = {"table.include.list": "public.sales", "publication.autocreate.mode": "filtered"}
    with pytest.raises(ConfigError, match=r"The table public\.sales has partitions"):
        follow(**chosen).plan()
    follower = follow(**chosen, **{"publish.via.partition.root": "true"})
    assert {record.topic for record in follower.records(2)} == {"shop.public.sales"}
    database.execute("INSERT INTO sales VALUES (12, 3)")
    (record,) = follower.records(1)
    assert (record.topic, record.value["after"]["amount"]) == ("shop.public.sales", 3)


def test_names_that_need_quotes(database: OwnDatabase, follow: Follow) -> None:
    database.execute(
        'CREATE SCHEMA "My ""Shop"""',
        'CREATE TABLE "My ""Shop"""."Order %s" ("the id" int PRIMARY KEY, "a""b" text)',
        'INSERT INTO "My ""Shop"""."Order %s" VALUES (1, \'x\')',
    )
    follower = follow(publication_name='p "1"')
    (record,) = follower.records(1)
    assert record.topic == "shop.My__Shop_.Order__s"
    database.execute('UPDATE "My ""Shop"""."Order %s" SET "a""b" = \'y\'')
    (record,) = follower.records(1)
    assert record.value["after"].to_dict() == {"the id": 1, 'a"b': "y"}
    assert record.value["source"]["schema"] == 'My "Shop"'


def test_a_transaction_larger_than_a_batch(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE)
    follower = follow(max_batch_size="100")
    follower.batch()
    database.execute(
        "INSERT INTO orders SELECT i, 'x' FROM generate_series(1, 1050) i", "DELETE FROM orders WHERE id = 3"
    )
    found: list[SourceRecord] = []
    while len(found) < 1000:
        batch = follower.batch()
        assert len(batch) <= 100
        found += batch
        follower.restart()  # each time in the middle of the transaction
        follower.plan_patiently()
    found += follower.records(1052 - len(found))
    assert [record.key["id"] for record in found] == [*range(1, 1051), 3, 3]


def test_heartbeats(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE)
    follower = follow(heartbeat_interval_ms="50")
    follower.batch()
    first, second = follower.records(1) + follower.records(1)
    assert first.topic == "__debezium-heartbeat.shop"
    assert first.key["serverName"] == "shop"
    assert second.value["ts_ms"] > first.value["ts_ms"]
    follower.restart(topic_heartbeat_prefix="beats")
    assert {record.topic for record in follower.records(1)} == {"beats.shop"}
    database.execute("INSERT INTO orders VALUES (1, 'a')")
    while not (found := [record for record in follower.batch() if record.topic == "shop.public.orders"]):
        pass
    assert shown(found) == [("c", (1,), None, (1, "a"))]
