"""What goes wrong with servers, networks and people, and what becomes of the source."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from penstock.connect.api import Offset, Partition
from penstock.connect.connectors.postgres_cdc import replication
from penstock.connect.connectors.postgres_cdc.connector import PostgresConnector
from penstock.connect.data import SourceRecord
from penstock.connect.errors import ConfigError, ConnectError, RetriableError
from tests.connect.postgres_cdc.following import Follower, config, shown
from tests.servers.fixtures import OwnDatabase
from tests.servers.forwarder import Forwarder
from tests.servers.postgres import PostgresServer

Follow = Callable[..., Follower]
TABLE = "CREATE TABLE orders (id int PRIMARY KEY, item text NOT NULL)"


class Load:
    """Inserts rows until it is told to stop, whatever happens to the server."""

    def __init__(self, database: OwnDatabase) -> None:
        self._database = database
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self.committed = 0

    def __enter__(self) -> Load:  # noqa: PYI034 - no subclasses
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _write(self) -> None:
        import psycopg

        while not self._stop.is_set():
            try:
                with self._database.connect() as connection:
                    while not self._stop.is_set():
                        number = self.committed + 1
                        connection.execute("INSERT INTO orders VALUES (%s, 'x') ON CONFLICT DO NOTHING", (number,))
                        self.committed = number
            except psycopg.OperationalError:
                time.sleep(0.01)


def until(follower: Follower, enough: Callable[[list[SourceRecord]], bool]) -> list[SourceRecord]:
    """Records until they are enough, whatever fails in between."""
    found: list[SourceRecord] = []
    deadline = time.monotonic() + 90
    while not enough(found):
        assert time.monotonic() < deadline, f"{len(found)} records, offset {follower.offset}"
        try:
            found += follower.batch()
        except RetriableError:
            time.sleep(0.02)
    return found


def _batches(follower: Follower, found: list[SourceRecord]) -> None:
    """Batches until one fails."""
    for _ in range(100):
        found += follower.batch()


def ids(records: Sequence[SourceRecord]) -> list[int]:
    return [record.key["id"] for record in records]


def test_a_server_restarted_under_load(database: OwnDatabase, follow: Follow, postgres_server: PostgresServer) -> None:
    database.execute(TABLE)
    follower = follow()
    with Load(database) as load:
        found = until(follower, lambda records: len(records) > 50)
        postgres_server.stop()
        with pytest.raises(RetriableError, match=rf"PostgreSQL at 127\.0\.0\.1:{postgres_server.port}"):
            _batches(follower, found)
        postgres_server.start()
        there = load.committed
        found += until(follower, lambda records: load.committed > there + 50 and len(records) > 50)
    found += until(follower, lambda records: len(found) + len(records) >= load.committed)
    assert ids(found) == list(range(1, load.committed + 1))
    follower.nothing()


def test_a_network_that_is_cut(database: OwnDatabase, follow: Follow, postgres_server: PostgresServer) -> None:
    database.execute(TABLE)
    with Forwarder(postgres_server.port) as network:
        follower = follow(**{"database.port": str(network.port)})
        with Load(database) as load:
            found = until(follower, lambda records: len(records) > 50)
            follower.plan_patiently()
            network.cut()
            with pytest.raises(RetriableError):
                _batches(follower, found)
            network.join_again()
            found += until(follower, lambda records: len(records) > 50)
        found += until(follower, lambda records: len(found) + len(records) >= load.committed)
        assert ids(found) == list(range(1, load.committed + 1))


def test_a_server_that_says_nothing_is_given_up(
    database: OwnDatabase, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.execute(TABLE)
    follower = follow()
    follower.batch()
    monkeypatch.setattr(replication, "_SILENCE_SECONDS", 0.0)
    with pytest.raises(RetriableError, match="streaming: nothing was heard"):
        _batches(follower, [])


def test_restarts_in_the_middle_of_the_stream(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE)
    follower = follow(max_batch_size="40")
    follower.batch()
    database.execute(
        *(
            f"INSERT INTO orders SELECT i, 'x' FROM generate_series({first}, {first + 29}) i"
            for first in range(1, 240, 30)
        )
    )
    found: list[SourceRecord] = []
    while len(found) < 240:
        planned = follower.plan_patiently()
        again = follower.read()
        follower.restart()
        assert follower.plan() == planned  # the worker has written it down
        delivered = follower.read()
        assert shown(delivered) == shown(again)
        found += delivered
        follower.done()
    assert ids(found) == list(range(1, 241))
    follower.nothing()


def test_what_was_delivered_is_let_go(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE)
    follower = follow()
    follower.batch()
    confirmed = (
        f"SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = '{follower.config['slot.name']}'"
    )
    ((before,),) = database.query(confirmed)
    database.execute("INSERT INTO orders VALUES (1, 'a')")
    follower.plan_patiently()
    follower.read()
    follower.read()  # still there
    assert database.query(confirmed) == [(before,)]
    follower.done()
    deadline = time.monotonic() + 90
    while database.query(confirmed) == [(before,)]:
        assert time.monotonic() < deadline
        follower.plan()


def test_changes_of_other_tables_move_the_offset(
    database: OwnDatabase, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.execute(TABLE, "CREATE TABLE other (id int PRIMARY KEY)")
    follower = follow(table_include_list="public.orders")
    follower.batch()
    assert follower.offset is not None
    before = follower.offset["lsn_proc"]
    database.execute("INSERT INTO other VALUES (1)")
    follower.nothing()  # no batch for each of them
    assert follower.offset["lsn_proc"] == before
    monkeypatch.setattr("penstock.connect.connectors.postgres_cdc.planning._IDLE_SECONDS", 0.0)
    follower.plan_patiently()
    assert follower.read() == []
    follower.done()
    assert follower.offset["lsn_proc"] > before
    database.execute("INSERT INTO orders VALUES (1, 'a')")
    assert shown(until(follower, bool)) == [("c", (1,), None, (1, "a"))]
    follower.restart()
    database.execute("INSERT INTO orders VALUES (2, 'b')")
    assert shown(until(follower, bool)) == [("c", (2,), None, (2, "b"))]


def test_a_wrong_password_is_not_tried_for_ever_nor_shown(database: OwnDatabase) -> None:
    follower = Follower(config(database) | {"database.password": "hunter2"})
    with pytest.raises(ConnectError, match="password authentication failed") as failure:
        follower.plan()
    assert not isinstance(failure.value, RetriableError)
    assert "database.password" in failure.value.hint
    assert "hunter2" not in f"{failure.value} {failure.value.__cause__!r}"


def test_a_database_or_a_server_that_is_not_there(database: OwnDatabase) -> None:
    with pytest.raises(ConnectError, match='database "nowhere" does not exist') as failure:
        Follower(config(database) | {"database.dbname": "nowhere"}).plan()
    assert not isinstance(failure.value, RetriableError)
    with pytest.raises(RetriableError, match=r"PostgreSQL at 127\.0\.0\.1:1: "):
        Follower(config(database) | {"database.port": "1"}).plan()


def test_a_role_that_may_not_replicate(database: OwnDatabase) -> None:
    role = f"reader_{database.name}"
    database.execute(
        TABLE, f"CREATE ROLE {role} LOGIN PASSWORD 'x'", "CREATE PUBLICATION dbz_publication FOR TABLE orders"
    )
    follower = Follower(config(database) | {"database.user": role, "database.password": "x"})
    with pytest.raises(ConnectError, match="must be superuser or replication role") as failure:
        follower.plan()
    assert "REPLICATION" in failure.value.hint
    database.execute(f"ALTER ROLE {role} REPLICATION")
    with pytest.raises(ConnectError, match="permission denied for table orders"):
        follower.batch()
    database.execute(f"GRANT SELECT ON orders TO {role}", "INSERT INTO orders VALUES (1, 'a')")
    assert len(follower.records(1)) == 1
    follower.stop()
    database.execute(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


@pytest.fixture
def plain_server() -> Iterator[PostgresServer]:
    """A server without logical decoding."""

    class PlainServer(PostgresServer):
        def _command(self) -> Sequence[str]:
            return [*super()._command(), "--wal_level=replica"]

    with PlainServer() as server:
        yield server


def test_a_server_without_logical_decoding(plain_server: PostgresServer) -> None:
    follower = Follower(config(OwnDatabase(plain_server, "postgres")))
    with pytest.raises(ConfigError, match="wal_level is replica") as failure:
        follower.plan()
    assert "wal_level = logical" in failure.value.hint


def test_a_slot_that_is_gone(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE, "INSERT INTO orders VALUES (1, 'a')")
    follower = follow()
    follower.records(1)
    follower.stop()
    follower.drop_slot(database)
    follower.restart()
    with pytest.raises(ConnectError, match="is gone, and changes since the connector's offset are lost") as failure:
        follower.plan()
    assert "when_needed" in failure.value.hint
    # One of the same name that is younger has not what is missing either.
    database.execute("INSERT INTO orders VALUES (2, 'b')")
    database.execute(f"SELECT pg_create_logical_replication_slot('{follower.config['slot.name']}', 'pgoutput')")
    with pytest.raises(ConnectError, match="somebody else has moved or made it"):
        follower.plan()
    follower.offset = None  # reset by its owner
    assert len(follower.records(2)) == 2


def test_a_slot_whose_log_was_recycled(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE)
    follower = follow()
    follower.batch()
    follower.stop()
    database.execute("ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'", "SELECT pg_reload_conf()")
    try:
        for _ in range(3):
            database.execute("CREATE TABLE IF NOT EXISTS filler (x text)", "INSERT INTO filler VALUES ('x')")
            database.execute("SELECT pg_switch_wal()", "CHECKPOINT")
    finally:
        database.execute("ALTER SYSTEM RESET max_slot_wal_keep_size", "SELECT pg_reload_conf()")
    follower.restart()
    with pytest.raises(ConnectError, match="The server has recycled the log"):
        follower.plan()
    database.execute("INSERT INTO orders VALUES (1, 'a')")
    follower.restart(snapshot_mode="when_needed")
    found = until(follower, lambda records: any(record.topic == "shop.public.orders" for record in records))
    assert {record.value["op"] for record in found} == {"r"}


def test_a_slot_of_somebody_else(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE)
    follower = follow()
    follower.batch()
    follower.nothing()  # it streams
    second = follow()
    second.offset = follower.offset
    with pytest.raises(RetriableError, match="is active for PID"):
        second.plan()
    slot = f"other_{database.name}"
    database.execute(f"SELECT pg_create_physical_replication_slot('{slot}')")
    try:
        with pytest.raises(ConfigError, match="is there already, for physical replication"):
            follow(**{"slot.name": slot}).plan()
    finally:
        database.execute(f"SELECT pg_drop_replication_slot('{slot}')")


def test_a_publication_that_is_missing(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE)
    follower = follow(**{"publication.autocreate.mode": "disabled", "publication.name": "mine"})
    with pytest.raises(ConnectError, match="There is no publication mine in the database"):
        follower.plan()
    database.execute("CREATE PUBLICATION mine FOR TABLE orders", "INSERT INTO orders VALUES (1, 'a')")
    assert len(follower.records(1)) == 1
    follower.nothing()
    database.execute("DROP PUBLICATION mine", "INSERT INTO orders VALUES (2, 'b')")
    with pytest.raises(ConnectError, match='publication "mine" does not exist') as failure:
        _batches(follower, [])
    assert not isinstance(failure.value, RetriableError)
    assert "Create the publication before the slot" in failure.value.hint


def test_tables_that_are_not_there(database: OwnDatabase, follow: Follow) -> None:
    database.execute(TABLE)
    with pytest.raises(ConfigError, match="has no table that is to be read") as failure:
        follow(**{"table.include.list": "orders", "publication.autocreate.mode": "filtered"}).plan()
    assert "Names are written schema.table. Tables: public.orders" in failure.value.hint


def test_settings_that_cannot_be() -> None:
    good = {"database.hostname": "h", "database.user": "u", "database.dbname": "d", "topic.prefix": "p"}
    for wrong, message in [
        ({"plugin.name": "wal2json"}, "must be one of: pgoutput"),
        ({"slot.name": "My-Slot"}, "lower-case letters"),
        ({"topic.prefix": "a b"}, "topics begin with it"),
        ({"table.include.list": "a.b", "table.exclude.list": "c.d"}, "cannot be set together"),
        ({"table.include.list": "a.(b"}, "Invalid regex"),
        ({"message.key.columns": "public.orders"}, "Expected schema.table:column"),
        ({"skipped.operations": "x"}, "Expected some of c, u, d, t, or none"),
        ({"column.mask.with.12.chars": "a.b.c"}, "neither masked nor truncated here: column.mask.with.12.chars"),
        ({"column.mask.hash.SHA-256.with.salt.x": "a.b.c"}, "column.exclude.list leaves columns out"),
        ({"column.truncate.to.20.chars": "a.b.c"}, "neither masked nor truncated here: column.truncate.to.20.chars"),
    ]:
        with pytest.raises(ConfigError, match=message):
            PostgresConnector({**good, **wrong})
    assert list(PostgresConnector.validate(good)) == []
    with pytest.raises(ConfigError, match="cannot be set together"):
        PostgresConnector.validate({**good, "schema.include.list": "a", "schema.exclude.list": "b"})
    with pytest.raises(ConfigError) as raised:
        PostgresConnector.validate({**good, "column.mask.with.3.chars": "a.b.c"})
    assert raised.value.key == "column.mask.with.3.chars"


def test_offsets_somebody_sets_are_checked() -> None:
    check = PostgresConnector.alter_offsets
    check({}, [({"server": "shop"}, {"lsn": 7}), ({"server": "shop"}, None)])
    wrong: list[tuple[Partition | None, Offset, str]] = [
        (None, {"lsn": 7}, "should contain the key 'server'"),
        ({"server": "shop"}, {"lsn": "7"}, "says no place"),
        ({"server": "shop"}, {"lsn": 7, "snapshot_completed": False}, "cannot be entered in its middle"),
    ]
    for partition, offset, message in wrong:
        with pytest.raises(ConnectError, match=message):
            check({}, [(partition, offset)])
