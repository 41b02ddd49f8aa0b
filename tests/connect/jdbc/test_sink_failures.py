"""What happens when the database is not there, not willing, or not what it was."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from penstock.broker.ports import free_port
from penstock.connect.connectors.jdbc.sink.connector import JdbcSinkConnector
from penstock.connect.connectors.jdbc.sink.task import JdbcSinkTask
from penstock.connect.data import SinkRecord
from penstock.connect.errors import ConfigError, ConnectError, DataError, RetriableError
from tests.connect.jdbc.sink_records import Sink, order, order_key, record, wide
from tests.servers.fixtures import OwnDatabase
from tests.servers.server import DatabaseServer
from tests.servers.sqlite import SqliteFile

UPSERT = {"insert.mode": "upsert", "pk.mode": "record_key", "delete.enabled": "true"}


@pytest.fixture(params=["postgres", "mariadb"])
def server_database(request: pytest.FixtureRequest) -> OwnDatabase:
    found: OwnDatabase = request.getfixturevalue(f"{request.param}_database")
    return found


def put_until_it_works(sink: Sink, records: list[SinkRecord]) -> int:
    """What a worker does with a task that asks for another try; how many there were."""
    for tries in range(20):
        try:
            sink.task.put(records)
        except RetriableError:
            continue
        return tries
    raise AssertionError("it never worked")


def orders(begin: int, end: int, item: str = "tap") -> list[SinkRecord]:
    return [record(order(n, item), n, key=order_key(n)) for n in range(begin, end)]


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_server_that_is_restarted_in_mid_load(server_database: OwnDatabase, how: str) -> None:
    server = server_database.server
    assert isinstance(server, DatabaseServer)
    # The servers of the tests keep what they commit in memory for a while, unless they are told not to.
    if server_database.kind == "postgres":
        server_database.execute(f"ALTER DATABASE {server_database.name} SET synchronous_commit = on")
    else:
        server_database.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
    with Sink(server_database, UPSERT) as sink:
        sink.task.put(orders(0, 500))
        server.kill() if how == "kill" else server.stop()
        try:
            with pytest.raises(RetriableError, match=r"lost|cannot be reached"):
                sink.task.put(orders(400, 1000, "new"))
        finally:
            server.start()
        assert put_until_it_works(sink, orders(400, 1000, "new")) <= 3
    rows = wide(server_database.query("SELECT id, item FROM orders"))
    assert rows == [(n, "tap" if n < 400 else "new") for n in range(1000)]


def test_connections_that_are_cut_while_rows_are_written(server_database: OwnDatabase) -> None:
    postgres = server_database.kind == "postgres"
    find = (
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        if postgres
        else "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()"
    )

    def cut(times: int) -> None:
        for _ in range(times):
            time.sleep(0.15)
            for (number,) in server_database.query(find):
                end = f"SELECT pg_terminate_backend({number})" if postgres else f"KILL {number}"
                try:
                    server_database.execute(end)
                except Exception as error:
                    if "Unknown thread" not in str(error):  # it ended by itself
                        raise

    tries = 0
    with Sink(server_database, UPSERT) as sink:
        sink.task.put(orders(0, 10))
        cut(1)
        cutter = threading.Thread(target=cut, args=(3,))
        cutter.start()
        try:
            for begin in range(0, 20_000, 5000):
                tries += put_until_it_works(sink, orders(begin, begin + 5000))
        finally:
            cutter.join()
    assert tries >= 1
    assert [n for (n,) in wide(server_database.query("SELECT id FROM orders"))] == list(range(20_000))


def test_a_closed_port_is_tried_for_as_long_as_the_settings_say(sqlite_database: OwnDatabase) -> None:
    url = f"jdbc:postgresql://127.0.0.1:{free_port()}/shop"
    settings = {"connection.url": url, "connection.attempts": "2", "connection.backoff.ms": "10"}
    with (
        pytest.raises(RetriableError, match=r"cannot be reached: PostgreSQL 127.0.0.1"),
        Sink(sqlite_database, settings),
    ):
        pass


def test_a_database_that_stays_away_ends_the_task(postgres_database: OwnDatabase) -> None:
    server = postgres_database.server
    assert isinstance(server, DatabaseServer)
    with Sink(postgres_database, {**UPSERT, "max.retries": "2"}) as sink:
        sink.task.put(orders(0, 10))
        server.kill()
        try:
            for _ in range(2):
                with pytest.raises(RetriableError):
                    sink.task.put(orders(0, 10))
            with pytest.raises(ConnectError, match=r"after 2 retries") as failed:
                sink.task.put(orders(0, 10))
            assert not isinstance(failed.value, RetriableError)
        finally:
            server.start()


@pytest.mark.parametrize("change", [{"connection.password": "wrong-one"}, {"connection.user": "nobody-known"}])
def test_a_wrong_password_is_said_and_not_shown(server_database: OwnDatabase, change: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="does not let us in") as refused, Sink(server_database, change):
        pass
    assert "wrong-one" not in str(refused.value)
    assert server_database.config["connection.password"] not in str(refused.value)


def test_a_table_that_is_dropped_is_created_again(database: OwnDatabase) -> None:
    with Sink(database, UPSERT) as sink:
        sink.task.put(orders(0, 10))
        database.execute("DROP TABLE orders")
        put_until_it_works(sink, orders(5, 20))
    assert [n for (n,) in wide(database.query("SELECT id FROM orders"))] == list(range(5, 20))


def test_a_table_that_is_dropped_is_missed_if_it_may_not_be_created(database: OwnDatabase) -> None:
    database.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, item VARCHAR(10), price FLOAT)")
    with Sink(database, {**UPSERT, "auto.create": "false"}) as sink:
        sink.task.put(orders(0, 10))
        database.execute("DROP TABLE orders")
        with pytest.raises(RetriableError):
            sink.task.put(orders(0, 10))
        with pytest.raises(ConnectError, match="Table orders is missing and auto-creation is disabled"):
            sink.task.put(orders(0, 10))


def test_a_read_only_database_is_tried_again_and_then_named(database: OwnDatabase) -> None:
    config = dict(database.config)
    if database.kind == "postgres":
        database.execute(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on")
    elif database.kind == "mariadb":
        database.execute(
            "CREATE TABLE orders (id BIGINT PRIMARY KEY, item VARCHAR(10), price FLOAT)",
            f"GRANT SELECT ON {database.name}.* TO 'reader'@'%' IDENTIFIED BY 'reads'",
        )
        config |= {"connection.user": "reader", "connection.password": "reads"}
    else:
        database.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, item VARCHAR(10), price FLOAT)")
        assert isinstance(database.server, SqliteFile)
        with database.server.path.open("r+b") as file:
            file.seek(18)
            file.write(b"\x03")  # "written by a newer SQLite": such a file is read-only, also for root
    task = JdbcSinkTask({**config, **UPSERT, "auto.create": "true", "max.retries": "1", "retry.backoff.ms": "5"})
    task.start()
    try:
        with pytest.raises(RetriableError, match=r"(?i)read-only|readonly|denied") as first:
            task.put(orders(0, 10))
        assert first.value.after_ms == 5
        with pytest.raises(ConnectError, match=r"(?i)(read-only|readonly|denied).*after 1 retries"):
            task.put(orders(0, 10))
    finally:
        task.stop()


def test_a_full_disk_is_waited_for(sqlite_database: OwnDatabase) -> None:
    with Sink(sqlite_database, UPSERT) as sink:
        sink.task.put(orders(0, 10))
        connection = sink.task._connection
        assert connection is not None
        connection.exec_driver_sql("PRAGMA max_page_count = 3")  # SQLite's own: the file may not grow
        connection.commit()
        with pytest.raises(RetriableError, match="database or disk is full"):
            sink.task.put(orders(0, 3000, "a text that needs room"))
        assert wide(sqlite_database.query("SELECT count(*) FROM orders")) == [(10,)]
        sink.task.put(orders(0, 3000))
    assert wide(sqlite_database.query("SELECT count(*) FROM orders")) == [(3000,)]


def test_a_locked_database_is_waited_for(sqlite_database: OwnDatabase) -> None:
    with Sink(sqlite_database, UPSERT) as sink:
        sink.task.put(orders(0, 10))
        assert sink.task._connection is not None
        sink.task._connection.exec_driver_sql("PRAGMA busy_timeout = 10")
        sink.task._connection.commit()
        other = sqlite_database.connect()
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(RetriableError, match="locked"):
            sink.task.put(orders(10, 20))
        other.execute("ROLLBACK")
        other.close()
        sink.task.put(orders(10, 20))
    assert wide(sqlite_database.query("SELECT count(*) FROM orders")) == [(20,)]


def test_poison_rows_are_reported_and_the_others_written(database: OwnDatabase) -> None:
    database.execute(
        "CREATE TABLE orders (id BIGINT PRIMARY KEY, item VARCHAR(10) NOT NULL CHECK (item <> 'bad'), price FLOAT)"
    )
    poison = {17: None, 800: "bad", 1999: "bad"}
    records = [record(order(n, poison.get(n, "tap")), n, key=order_key(n)) for n in range(2000)]
    with Sink(database, UPSERT, tolerant=True) as sink:
        sink.task.put(records)
        sink.task.put([record(None, 2000, key=order_key(5))])
    assert sorted(filter(None, sink.reports.offsets)) == sorted(poison)
    assert all("was refused by table orders" in text and "offset" in text for text in sink.reports.messages)
    kept = [n for (n,) in wide(database.query("SELECT id FROM orders"))]
    assert kept == [n for n in range(2000) if n not in poison and n != 5]


def test_a_poison_row_ends_a_task_that_does_not_tolerate_it(database: OwnDatabase) -> None:
    database.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, item VARCHAR(10) NOT NULL, price FLOAT)")
    with (
        Sink(database, UPSERT) as sink,
        pytest.raises(DataError, match="orders-0, offset 1, was refused by table orders"),
    ):
        sink.task.put([record(order(0), 0, key=order_key(0)), record(order(1, None), 1, key=order_key(1))])
    assert database.query("SELECT id FROM orders") == []


@pytest.mark.parametrize("text", ["nul \0 character", "lone surrogate \ud800"])
def test_texts_the_database_cannot_keep(server_database: OwnDatabase, text: str) -> None:
    with Sink(server_database, UPSERT, tolerant=True) as sink:
        sink.task.put([record(order(0, text), 0, key=order_key(0)), record(order(1), 1, key=order_key(1))])
    rows = wide(server_database.query("SELECT id, item FROM orders"))
    if server_database.kind == "mariadb" and "\0" in text:
        assert rows == [(0, text), (1, "tap")]
    else:
        assert rows == [(1, "tap")]
        assert sink.reports.offsets == [0]


def test_rows_wait_for_the_row_they_refer_to(server_database: OwnDatabase) -> None:
    database = server_database
    database.execute(
        "CREATE TABLE parent (id BIGINT PRIMARY KEY)",
        "CREATE TABLE orders (id BIGINT PRIMARY KEY, item VARCHAR(10), price FLOAT, FOREIGN KEY (id) REFERENCES parent (id))",
        "INSERT INTO parent VALUES (1)",
    )
    with Sink(database, {**UPSERT, "max.retries": "2"}, tolerant=True) as sink:
        both = orders(1, 3)
        with pytest.raises(RetriableError, match="refers to one that is not there yet"):
            sink.task.put(both)
        database.execute("INSERT INTO parent VALUES (2)")
        sink.task.put(both)
        for _ in range(2):
            with pytest.raises(RetriableError):
                sink.task.put(orders(2, 4))
        sink.task.put(orders(2, 4))
    assert wide(database.query("SELECT id FROM orders")) == [(1,), (2,)]
    assert sink.reports.offsets == [3]


def test_putting_again_changes_nothing(database: OwnDatabase) -> None:
    history = [
        *orders(0, 300),
        *(record(None, 300 + n, key=order_key(n)) for n in range(0, 300, 3)),
        *orders(0, 300, "second")[::6],
    ]
    with Sink(database, {**UPSERT, "batch.size": "70"}) as sink:
        for _ in range(3):
            for begin in range(0, len(history), 100):
                sink.task.put(history[begin : begin + 100])
            rows = wide(database.query("SELECT id, item FROM orders"))
            assert rows == [(n, "second" if n % 6 == 0 else "tap") for n in range(300) if n % 3 or n % 6 == 0]


def test_records_are_reported_once_however_often_they_are_put(postgres_database: OwnDatabase) -> None:
    server = postgres_database.server
    assert isinstance(server, DatabaseServer)
    records = [record(None, 7), *orders(0, 3)]
    with Sink(postgres_database, {"pk.mode": "record_key"}, tolerant=True) as sink:
        sink.task.put(orders(5, 6))
        server.kill()
        try:
            with pytest.raises(RetriableError):
                sink.task.put(records)
        finally:
            server.start()
        put_until_it_works(sink, records)
    assert sink.reports.offsets == [7]


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    config = {"connection.url": f"jdbc:sqlite:{tmp_path / 'missing' / 'x.db'}", "topics": "orders"}
    task = JdbcSinkTask(JdbcSinkConnector(config).task_configs(1)[0])
    with pytest.raises(ConfigError, match=r"missing/x\.db"):
        task.start()
