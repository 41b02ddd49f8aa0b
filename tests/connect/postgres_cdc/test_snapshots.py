"""Rows first, changes after: no gap between them, nothing twice, also over restarts."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from penstock.connect.data import SourceRecord
from penstock.connect.errors import ConfigError, ConnectError
from tests.connect.postgres_cdc.following import Follower, shown, table_of
from tests.servers.fixtures import OwnDatabase

Follow = Callable[..., Follower]
TABLE = "CREATE TABLE orders (id int PRIMARY KEY, item text NOT NULL)"


def fill(count: int, table: str = "orders") -> str:
    return f"INSERT INTO {table} SELECT i, 'item ' || i FROM generate_series(1, {count}) i"


def now(database: OwnDatabase, table: str = "orders") -> dict[tuple[int], tuple[int, str]]:
    return {(row[0],): row for row in database.query(f"SELECT * FROM {table}")}


def test_rows_written_meanwhile_come_once(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE)
    stop = threading.Event()
    written: list[int] = []

    def write() -> None:
        with database.connect() as connection:
            while not stop.is_set():
                written.append(len(written) + 1)
                connection.execute("INSERT INTO orders VALUES (%s, 'x')", (written[-1],))

    writer = threading.Thread(target=write)
    writer.start()
    found: list[SourceRecord] = []
    try:
        while len(written) < 300:
            pass
        follower = follow(snapshot_fetch_size="50")
        while len([record for record in found if record.value["op"] == "c"]) < 300:
            found += follower.batch()
    finally:
        stop.set()
        writer.join()
    found += follower.records(len(written) - len(found)) if len(written) > len(found) else []
    assert [record.key["id"] for record in found] == written
    operations = "".join(record.value["op"] for record in found)
    assert operations == operations.count("r") * "r" + operations.count("c") * "c"
    assert operations.count("r") >= 300
    follower.nothing()


def test_large_tables_are_read_in_parts(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, "CREATE TABLE items (LIKE orders INCLUDING ALL)", "CREATE TABLE none (id int PRIMARY KEY)")
    database.execute(fill(2000), fill(30, "items"), "VACUUM ANALYZE")
    follower = follow(snapshot_fetch_size="500")
    batches = []
    while follower.offset is None or not follower.offset["snapshot_completed"]:
        batches.append(follower.batch())
    assert [len(batch) for batch in batches][1:] != []
    assert max(len(batch) for batch in batches) < 800
    records = [record for batch in batches for record in batch]
    assert len(records) == 2030
    assert table_of([record for record in records if record.topic == "shop.public.orders"]) == now(database)
    marks = [record.value["source"]["snapshot"] for record in records]
    assert (marks[0], set(marks[1:-1]), marks[-1]) == ("first", {"true"}, "last")
    follower.nothing()


def test_a_range_of_a_snapshot_reads_the_same_again(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, fill(100))
    follower = follow()
    follower.plan()
    first = shown(follower.read())
    database.execute("UPDATE orders SET item = 'new'", "DELETE FROM orders WHERE id > 50", "VACUUM orders")
    assert shown(follower.read()) == first
    assert len(first) == 100


def test_a_restart_in_the_middle_of_a_snapshot(database: OwnDatabase, follow: Follow) -> None:
    database.execute(
        TABLE, "CREATE TABLE zebras (LIKE orders INCLUDING ALL)", fill(2000), fill(500, "zebras"), "ANALYZE"
    )
    follower = follow(snapshot_fetch_size="500")
    found = follower.batch() + follower.batch()
    before = len(found)
    assert 500 < before < 1900
    follower.plan()  # planned, and perhaps half delivered, when it dies
    follower.restart()
    database.execute(
        "UPDATE orders SET item = 'changed' WHERE id % 10 = 0",
        "DELETE FROM orders WHERE id % 10 = 1",
        "INSERT INTO orders VALUES (9001, 'new')",
        "UPDATE zebras SET item = 'changed' WHERE id % 10 = 0",
        "DELETE FROM zebras WHERE id % 10 = 1",
    )
    follower.restart()
    while follower.offset is None or not follower.offset["snapshot_completed"]:
        found += follower.batch()
    database.execute("INSERT INTO zebras VALUES (9001, 'end')")
    while found[-1].key["id"] != 9001 or found[-1].topic != "shop.public.zebras":
        found += follower.batch()
    orders = [record for record in found if record.topic == "shop.public.orders"]
    zebras = [record for record in found if record.topic == "shop.public.zebras"]
    assert table_of(orders) == now(database)
    assert table_of(zebras) == now(database, "zebras")
    # A table that was read after the restart as a whole has no change of before that: nothing is twice.
    assert [record.value["op"] for record in zebras] == ["r"] * 450 + ["c"]
    # Of the table that was interrupted no row is read twice unless it was changed, and each change comes once.
    rows = [record.key["id"] for record in orders if record.value is not None and record.value["op"] == "r"]
    untouched = [number for number in rows if number % 10 > 1]
    assert len(untouched) == len(set(untouched)) == 1600
    assert len([record for record in orders if record.value is not None and record.value["op"] == "u"]) == 200
    follower.nothing()


def test_a_table_rewritten_while_the_connector_was_down_is_read_anew(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, fill(2000), "ANALYZE")
    follower = follow(snapshot_fetch_size="500")
    found = follower.batch()
    follower.plan()
    follower.stop()
    database.execute("DELETE FROM orders WHERE id % 2 = 0", "VACUUM FULL orders")
    follower.restart()
    while follower.offset is None or not follower.offset["snapshot_completed"]:
        found += follower.batch()
    database.execute("INSERT INTO orders VALUES (9001, 'end')")
    while found[-1].key["id"] != 9001:
        found += follower.batch()
    assert table_of(found) == now(database)


def test_no_data(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, fill(3))
    follower = follow(snapshot_mode="no_data")
    follower.nothing()
    database.execute("INSERT INTO orders VALUES (4, 'd')")
    assert shown(follower.records(1)) == [("c", (4,), None, (4, "d"))]


def test_initial_only(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, fill(3))
    follower = follow(snapshot_mode="initial_only")
    assert len(follower.records(3)) == 3
    database.execute("INSERT INTO orders VALUES (4, 'd')")
    follower.nothing()
    follower.restart()
    follower.nothing()
    assert database.query("SELECT * FROM pg_replication_slots WHERE database = current_database()") == []
    assert follower.driver.idle_ms == 60_000


def test_always(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, fill(2))
    follower = follow(snapshot_mode="always")
    follower.records(2)
    database.execute("INSERT INTO orders VALUES (3, 'c')")
    follower.records(1)
    follower.nothing()
    database.execute("INSERT INTO orders VALUES (4, 'd')")
    follower.restart()
    assert [row[0] for row in shown(follower.records(4))] == ["r"] * 4
    database.execute("INSERT INTO orders VALUES (5, 'e')")
    assert shown(follower.records(1)) == [("c", (5,), None, (5, "e"))]


def test_when_needed(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, fill(2))
    follower = follow(snapshot_mode="when_needed")
    follower.records(2)
    database.execute("INSERT INTO orders VALUES (3, 'c')")
    follower.restart()
    assert shown(follower.records(1)) == [("c", (3,), None, (3, "c"))]
    follower.stop()
    follower.drop_slot(database)
    database.execute("INSERT INTO orders VALUES (4, 'd')")
    follower.restart()
    assert [row[0] for row in shown(follower.records(4))] == ["r"] * 4
    follower.nothing()


def test_a_slot_that_was_there_before(database: OwnDatabase, follow: Follow) -> None:
    follower = follow()
    database.execute(
        TABLE,
        "CREATE PUBLICATION dbz_publication FOR ALL TABLES",
        f"SELECT pg_create_logical_replication_slot('{follower.config['slot.name']}', 'pgoutput')",
        fill(3),  # in the slot and in the snapshot: it comes once
    )
    assert [row[0] for row in shown(follower.records(3))] == ["r"] * 3
    database.execute("INSERT INTO orders VALUES (4, 'd')")
    assert shown(follower.records(1)) == [("c", (4,), None, (4, "d"))]
    follower.nothing()


def test_a_slot_dropped_at_each_stop(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, fill(2))
    follower = follow(**{"slot.drop.on.stop": "true"})
    follower.records(2)
    follower.stop()
    assert database.query("SELECT * FROM pg_replication_slots WHERE database = current_database()") == []
    database.execute("INSERT INTO orders VALUES (3, 'lost')")
    follower.restart()
    follower.nothing()
    database.execute("INSERT INTO orders VALUES (4, 'd')")
    assert shown(follower.records(1)) == [("c", (4,), None, (4, "d"))]


@pytest.mark.parametrize("mode", ["never", "configuration_based", "custom"])
def test_other_snapshot_modes_are_refused(database: OwnDatabase, follow: Follow, mode: str) -> None:
    with pytest.raises(ConfigError, match="must be one of: initial, always, initial_only, no_data, when_needed"):
        follow(snapshot_mode=mode)


def test_filters_of_a_publication_are_refused(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, "CREATE PUBLICATION chosen FOR TABLE orders WHERE (id > 5)")
    with pytest.raises(ConfigError, match="The publication chosen has a row filter or a column list for orders"):
        follow(publication_name="chosen").batch()


def test_offsets_of_debezium_are_understood(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE)
    follower = follow(snapshot_mode="no_data")
    follower.plan()
    (lsn,) = database.query("SELECT (pg_current_wal_lsn() - '0/0')::bigint")[0]
    database.execute("INSERT INTO orders VALUES (1, 'a')")
    follower.restart(snapshot_mode="initial")
    follower.offset = {"lsn_proc": lsn, "lsn": lsn, "txId": 700, "ts_usec": 1, "messageType": "INSERT"}
    assert shown(follower.records(1)) == [("c", (1,), None, (1, "a"))]
    follower.restart()
    follower.offset = {"position": 7}
    with pytest.raises(ConnectError, match="says no place in the server's log"):
        follower.plan()
