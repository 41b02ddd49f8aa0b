from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from penstock.broker.ports import free_port
from penstock.connect.connectors.jdbc.database_errors import DatabaseDown
from penstock.connect.errors import ConfigError, ConnectError, RetriableError
from tests.connect.jdbc.source_run import SourceRun, column, eventually, source
from tests.servers.fixtures import OwnDatabase
from tests.servers.forwarder import Forwarder
from tests.servers.server import DatabaseServer

INCREMENTING = {"mode": "incrementing", "incrementing_column_name": "id"}


@pytest.fixture(params=["postgres_database", "mariadb_database"])
def served(request: pytest.FixtureRequest) -> OwnDatabase:
    """A database with a server: one that can go away."""
    found: OwnDatabase = request.getfixturevalue(request.param)
    return found


def filled(database: OwnDatabase, count: int) -> None:
    database.execute("CREATE TABLE orders (id integer NOT NULL PRIMARY KEY, name varchar(200))")
    add(database, 0, count)


def add(database: OwnDatabase, begin: int, end: int) -> None:
    for low in range(begin, end, 5000):
        values = ", ".join(f"({number}, '{'x' * 100}')" for number in range(low, min(low + 5000, end)))
        database.execute(f"INSERT INTO orders VALUES {values}")


def server_of(database: OwnDatabase) -> DatabaseServer:
    assert isinstance(database.server, DatabaseServer)
    return database.server


def begin(database: OwnDatabase, connection: Any) -> None:
    """From here on, statements of a connection are transactions."""
    if database.kind == "mariadb":
        connection.autocommit(False)
    else:
        connection.autocommit = False


@pytest.mark.parametrize("crash", [False, True])
def test_a_server_restarted_in_mid_load_loses_and_doubles_nothing(served: OwnDatabase, crash: bool) -> None:
    filled(served, 30_000)
    server = server_of(served)
    with source(served, **INCREMENTING) as run:
        ((task, wanted),) = run.plan()
        reading = task.read(wanted)
        taken = [next(reading) for _ in range(1000)]
        assert column(taken, "id") == list(range(1000))
        (server.kill if crash else server.stop)()
        try:
            with pytest.raises(DatabaseDown):
                list(reading)
            with pytest.raises(DatabaseDown):
                list(task.read(wanted))
            with pytest.raises(DatabaseDown):
                run.batch()
        finally:
            server.start()
        assert column(list(task.read(wanted)), "id") == list(range(30_000))
        run.done(wanted)
        add(served, 30_000, 30_010)
        assert column(run.batch(), "id") == list(range(30_000, 30_010))


@pytest.fixture
def forwarder(served: OwnDatabase) -> Iterator[Forwarder]:
    with Forwarder(server_of(served).port) as running:
        yield running


def test_a_cut_network_is_waited_for(served: OwnDatabase, forwarder: Forwarder) -> None:
    filled(served, 20_000)
    server = server_of(served)
    url = server.jdbc_url(served.name).replace(str(server.port), str(forwarder.port))
    with source(served, **INCREMENTING, connection_url=url) as run:
        ((task, wanted),) = run.plan()
        reading = task.read(wanted)
        next(reading)
        forwarder.cut()
        with pytest.raises(DatabaseDown, match="lost while reading table"):
            list(reading)
        with pytest.raises(DatabaseDown, match="cannot be reached"):
            run.batch()
        forwarder.join_again()
        assert column(run.batch(), "id") == list(range(20_000))


def test_a_wrong_password_fails_the_connector(served: OwnDatabase) -> None:
    with (
        pytest.raises(ConfigError, match=r"connection\.password") as failure,
        source(served, mode="bulk", connection_password="wr0ng"),
    ):
        pass
    assert "wr0ng" not in str(failure.value)


def test_a_closed_port_fails_the_connector_after_its_attempts(
    served: OwnDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    server = server_of(served)
    url = server.jdbc_url(served.name).replace(str(server.port), str(free_port()))
    settings = {"connection_url": url, "connection_attempts": "3", "connection_backoff_ms": "10", "mode": "bulk"}
    with caplog.at_level(logging.WARNING), pytest.raises(DatabaseDown), source(served, **settings):
        pass
    assert caplog.text.count("to connect: The database cannot be reached") == 2


def test_bad_sql_fails_the_task_with_what_the_database_says(database: OwnDatabase) -> None:
    with (
        source(database, mode="bulk", query="SELEC 1") as run,
        pytest.raises(ConnectError, match=r"reading the query: .*SELEC"),
    ):
        run.batch()


@pytest.mark.parametrize("mode", ["bulk", "incrementing"])
@pytest.mark.parametrize("end", [";", ""])
def test_the_text_of_a_masked_query_is_in_no_trace(database: OwnDatabase, mode: str, end: str) -> None:
    database.execute("CREATE TABLE gone (id integer NOT NULL)")
    query = f"SELECT id, 'topsecret' AS k FROM gone WHERE id < 'topsecret'{end}"
    settings = {"mode": mode, "incrementing_column_name": "id", "query.masked": query}
    with source(database, **settings) as run:
        database.execute("DROP TABLE gone")
        with pytest.raises(ConnectError, match=r"refused .*the query.*: (\w+Error|UndefinedTable)") as failure:
            run.batch()
    trace = "".join(traceback.format_exception(failure.value))
    assert "topsecret" not in trace
    assert "gone" not in trace.replace("gone to", "")


def test_a_missing_privilege_fails_the_task(postgres_database: OwnDatabase) -> None:
    filled(postgres_database, 1)
    postgres_database.execute("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    try:
        settings = {**INCREMENTING, "connection_user": "guest", "connection_password": "guest"}
        with (
            source(postgres_database, **settings) as run,
            pytest.raises(ConnectError, match="permission denied") as failure,
        ):
            run.batch()
        assert not isinstance(failure.value, RetriableError)
    finally:
        postgres_database.execute("DROP ROLE guest")


def test_a_slow_query_is_ended_and_tried_again(served: OwnDatabase) -> None:
    sleep = "pg_sleep(5)" if served.kind == "postgres" else "sleep(5)"
    settings = {
        "mode": "bulk",
        "query": f"SELECT {sleep}, 1 AS one",
        "query_timeout_ms": "100",
        "query_retry_attempts": "1",
    }
    with source(served, **settings) as run:
        with pytest.raises(RetriableError):
            run.batch()
        with pytest.raises(ConnectError, match=r"query\.retry\.attempts is 1") as failure:
            run.batch()
        assert not isinstance(failure.value, RetriableError)


def test_rows_of_a_transaction_that_commits_late_are_not_lost(served: OwnDatabase) -> None:
    filled(served, 3)
    with source(served, **INCREMENTING) as run:
        assert len(run.batch()) == 3
        late = served.connect()
        begin(served, late)
        late.cursor().execute("INSERT INTO orders VALUES (10, 'late')")
        add(served, 11, 12)
        assert run.batch() == []  # 11 is there, and 10 may still come
        late.commit()
        late.close()
        assert column(run.until(2), "id") == [10, 11]


def test_rows_of_a_transaction_that_commits_late_are_not_lost_while_the_table_is_empty(served: OwnDatabase) -> None:
    filled(served, 0)
    served.execute("CREATE TABLE other (id integer)")
    with (
        closing(served.connect()) as unrelated,
        closing(served.connect()) as late,
        source(served, **INCREMENTING, table_whitelist="orders") as run,
    ):
        begin(served, unrelated)
        begin(served, late)
        unrelated.cursor().execute("INSERT INTO other VALUES (1)")
        assert run.batch() == []  # the table is empty, and a transaction is open
        late.cursor().execute("INSERT INTO orders VALUES (1, 'late')")
        add(served, 2, 3)
        unrelated.commit()
        assert run.batch() == []  # 2 is there, and 1 may still come
        late.commit()
        assert column(run.until(2), "id") == [1, 2]


def test_rows_of_a_transaction_that_commits_late_are_not_lost_by_their_time_either(served: OwnDatabase) -> None:
    kind, now = ("timestamp", "localtimestamp") if served.kind == "postgres" else ("datetime(6)", "utc_timestamp(6)")
    served.execute(f"CREATE TABLE orders (id integer, changed {kind} NOT NULL)")
    with source(served, mode="timestamp", timestamp_column_name="changed") as run:
        late = served.connect()
        begin(served, late)
        late.cursor().execute(f"INSERT INTO orders VALUES (1, {now})")
        served.execute(f"INSERT INTO orders VALUES (2, {now})")
        assert run.batch() == []
        late.commit()
        late.close()
        assert column(run.until(2), "id") == [1, 2]


def test_a_transaction_that_does_not_end_is_waited_for_only_so_long(
    served: OwnDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    filled(served, 3)
    endless = served.connect()
    begin(served, endless)
    endless.cursor().execute("INSERT INTO orders VALUES (10, 'endless')")
    try:
        with caplog.at_level(logging.WARNING), source(served, **INCREMENTING, open_transactions_wait_ms="300") as run:
            assert len(run.until(3)) == 3
            assert caplog.text.count("waited for no longer") == 1
            add(served, 5, 6)
            assert column(run.batch(), "id") == [5]  # it was given up before
        with source(served, **INCREMENTING, open_transactions_wait_ms="0") as run:
            assert len(run.batch()) == 4
    finally:
        endless.rollback()
        endless.close()


def test_without_the_privilege_to_see_transactions_rows_are_read_at_once(
    mariadb_database: OwnDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    filled(mariadb_database, 3)
    mariadb_database.execute(
        "CREATE USER guest IDENTIFIED BY 'guest'", f"GRANT SELECT ON {mariadb_database.name}.* TO guest"
    )
    try:
        settings = {**INCREMENTING, "connection_user": "guest", "connection_password": "guest"}
        with caplog.at_level(logging.WARNING), source(mariadb_database, **settings) as run:
            assert len(run.batch()) == 3
            run.batch()
        assert caplog.text.count("privilege PROCESS") == 1
    finally:
        mariadb_database.execute("DROP USER guest")


def test_looking_for_tables_survives_an_outage(served: OwnDatabase, caplog: pytest.LogCaptureFixture) -> None:
    server = server_of(served)
    with caplog.at_level(logging.WARNING), source(served, mode="bulk", table_poll_interval_ms="50") as run:
        server.stop()
        try:
            eventually(lambda: "New tables cannot be looked for now" in caplog.text)
        finally:
            server.start()
        served.execute("CREATE TABLE later (id integer)")
        eventually(lambda: run.context.reconfigured)
        assert run.context.errors == []


def test_writers_at_work_while_a_source_reads(served: OwnDatabase) -> None:
    """Four writers commit in whatever order; every row comes once, in the order of its number."""
    number = "id serial PRIMARY KEY" if served.kind == "postgres" else "id int AUTO_INCREMENT PRIMARY KEY"
    served.execute(f"CREATE TABLE orders ({number}, writer integer)")

    def write(writer: int) -> None:
        connection = served.connect()
        begin(served, connection)
        for _ in range(40):
            for _ in range(3):
                connection.cursor().execute(f"INSERT INTO orders (writer) VALUES ({writer})")
            connection.commit()
        connection.close()

    writers = [threading.Thread(target=write, args=(one,)) for one in range(4)]
    with source(served, mode="incrementing") as run:
        for writer in writers:
            writer.start()
        found = column(run.until(480), "id")
        for writer in writers:
            writer.join()
        assert run.batch() == []
    assert found == sorted(set(found))
    assert len(found) == 480


def test_a_run_goes_on_where_the_last_one_ended(served: OwnDatabase) -> None:
    filled(served, 10)
    config = {**served.config, "topic.prefix": "t", "mode": "incrementing", "incrementing.column.name": "id"}
    first = SourceRun(config)
    assert len(first.batch()) == 10
    first.stop()
    add(served, 10, 12)
    second = SourceRun(config, offsets=first.known)
    assert column(second.batch(), "id") == [10, 11]
    second.stop()
