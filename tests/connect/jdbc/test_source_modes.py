from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from penstock.connect.errors import ConnectError
from tests.connect.jdbc.source_run import column, rows, source
from tests.servers.fixtures import OwnDatabase

TIMESTAMP = {"postgres": "timestamp", "mariadb": "datetime(6)", "sqlite": "timestamp"}


def key_of(database: OwnDatabase, table: str) -> str:
    return {"postgres": f"public.{table}", "mariadb": f"{database.name}.{table}", "sqlite": table}[database.kind]


def partition(database: OwnDatabase, table: str) -> str:
    return f'{{"protocol": "1", "table": "{key_of(database, table)}"}}'


def at(seconds: float) -> str:
    moment = datetime(2024, 5, 1, 12, tzinfo=timezone.utc) + timedelta(seconds=seconds)
    return moment.replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")


def millis(seconds: float) -> int:
    moment = datetime(2024, 5, 1, 12, tzinfo=timezone.utc) + timedelta(seconds=seconds)
    return int(moment.timestamp() * 1000)


def timed_table(database: OwnDatabase) -> None:
    kind = TIMESTAMP[database.kind]
    database.execute(
        f"CREATE TABLE orders (id integer NOT NULL PRIMARY KEY, name varchar(20), changed {kind} NOT NULL)"
    )


def put(database: OwnDatabase, *orders: tuple[int, str, float]) -> None:
    database.execute(
        *(f"INSERT INTO orders VALUES ({number}, '{name}', '{at(seconds)}')" for number, name, seconds in orders)
    )


def test_bulk_gives_all_rows_at_each_poll(database: OwnDatabase) -> None:
    database.execute(
        "CREATE TABLE orders (id integer, name varchar(20))", "INSERT INTO orders VALUES (1, 'a'), (2, 'b')"
    )
    with source(database, mode="bulk") as run:
        assert rows(run.batch()) == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
        database.execute("DELETE FROM orders WHERE id = 1", "INSERT INTO orders VALUES (3, 'c')")
        assert sorted(column(run.batch(), "id")) == [2, 3]


def test_bulk_waits_for_the_poll_interval(sqlite_database: OwnDatabase) -> None:
    sqlite_database.execute("CREATE TABLE orders (id integer)", "INSERT INTO orders VALUES (1)")
    with source(sqlite_database, mode="bulk", **{"poll.interval.ms": "60000"}) as run:
        assert len(run.plan()) == 1
        assert run.plan() == []
        assert 59_000 < run.tasks[0].idle_ms <= 60_000


def test_incrementing_gives_new_rows_once(database: OwnDatabase) -> None:
    database.execute(
        "CREATE TABLE orders (id bigint NOT NULL, name varchar(20))", "INSERT INTO orders VALUES (0, 'a'), (7, 'b')"
    )
    with source(database, mode="incrementing", incrementing_column_name="id") as run:
        records = run.batch()
        assert rows(records) == [{"id": 0, "name": "a"}, {"id": 7, "name": "b"}]
        (record, _) = records
        assert (record.topic, record.key, record.key_schema) == ("db-orders", None, None)
        assert record.value_schema is not None
        assert record.value_schema.name == "orders"
        assert run.known == {partition(database, "orders"): {"incrementing": 7}}
        assert run.batch() == []
        database.execute("UPDATE orders SET name = 'x' WHERE id = 0", "INSERT INTO orders VALUES (8, 'c')")
        assert column(run.batch(), "id") == [8]
        offsets = run.known
    with source(database, offsets=offsets, mode="incrementing", incrementing_column_name="id") as again:
        assert again.batch() == []


NUMBERED = {
    "postgres": "id serial PRIMARY KEY",
    "mariadb": "id int AUTO_INCREMENT PRIMARY KEY",
    "sqlite": "id integer PRIMARY KEY AUTOINCREMENT",
}


def test_the_incrementing_column_is_found(database: OwnDatabase) -> None:
    database.execute(
        f"CREATE TABLE orders ({NUMBERED[database.kind]}, name varchar(20))", "INSERT INTO orders (name) VALUES ('a')"
    )
    with source(database, mode="incrementing") as run:
        assert rows(run.batch()) == [{"id": 1, "name": "a"}]


def test_negative_numbers_are_read_if_the_settings_say_so(sqlite_database: OwnDatabase) -> None:
    sqlite_database.execute("CREATE TABLE orders (id integer PRIMARY KEY)", "INSERT INTO orders VALUES (-5), (1)")
    with source(sqlite_database, mode="incrementing") as run:
        assert column(run.batch(), "id") == [1]
    with source(sqlite_database, mode="incrementing", incrementing_initial="-100") as run:
        assert column(run.batch(), "id") == [-5, 1]


def test_timestamp_gives_new_and_changed_rows(database: OwnDatabase) -> None:
    timed_table(database)
    put(database, (1, "a", 0), (2, "b", 1.5))
    with source(database, mode="timestamp", timestamp_column_name="changed") as run:
        assert column(run.batch(), "id") == [1, 2]
        assert run.known == {partition(database, "orders"): {"timestamp": millis(1.5), "timestamp_nanos": 500_000_000}}
        assert run.batch() == []
        database.execute(f"UPDATE orders SET name = 'changed', changed = '{at(5)}' WHERE id = 1")
        put(database, (3, "c", 4))
        assert column(run.batch(), "id") == [3, 1]
        assert run.batch() == []


def test_rows_of_the_same_time_at_the_end_of_a_range_stay_together(database: OwnDatabase) -> None:
    timed_table(database)
    put(database, *((number, "x", number // 40) for number in range(120)))
    with source(
        database, mode="timestamp", timestamp_column_name="changed", batch_max_rows="1"
    ) as run:  # 50 rows a range
        assert sorted(column(run.batch(), "id")) == list(range(80))
        assert run.known[partition(database, "orders")]["timestamp"] == millis(1)
        assert sorted(column(run.batch(), "id")) == list(range(80, 120))


def test_both_keep_rows_of_the_same_time_apart(database: OwnDatabase) -> None:
    timed_table(database)
    put(database, *((number, "x", number // 40) for number in range(120)))
    settings = {"mode": "timestamp+incrementing", "timestamp_column_name": "changed", "incrementing_column_name": "id"}
    with source(database, batch_max_rows="1", **settings) as run:
        assert column(run.batch(), "id") == list(range(50))
        assert run.known == {
            partition(database, "orders"): {"incrementing": 49, "timestamp": millis(1), "timestamp_nanos": 0}
        }
        assert column(run.batch(), "id") == list(range(50, 100))
        put(database, (200, "late", 1))  # before the position: not seen
        database.execute(f"UPDATE orders SET changed = '{at(60)}' WHERE id = 3")
        assert column(run.batch(), "id") == [*range(100, 120), 3]
        put(database, (201, "same time", 60), (2000, "later", 61))
        assert column(run.batch(), "id") == [201, 2000]


def test_rows_inserted_out_of_order_are_found_by_their_time(database: OwnDatabase) -> None:
    timed_table(database)
    put(database, (5, "a", 3), (1, "b", 9), (3, "c", 6))
    settings = {"mode": "timestamp+incrementing", "timestamp_column_name": "changed", "incrementing_column_name": "id"}
    with source(database, **settings) as run:
        assert column(run.batch(), "id") == [5, 3, 1]
        put(database, (2, "d", 20), (0, "e", 10))
        assert column(run.batch(), "id") == [0, 2]


def test_a_range_read_again_gives_the_same_rows_whatever_came_since(database: OwnDatabase) -> None:
    timed_table(database)
    put(database, (1, "a", 1), (2, "b", 2))
    for settings in (
        {"mode": "incrementing", "incrementing_column_name": "id"},
        {"mode": "timestamp", "timestamp_column_name": "changed"},
        {"mode": "timestamp+incrementing", "timestamp_column_name": "changed", "incrementing_column_name": "id"},
    ):
        database.execute("DELETE FROM orders WHERE id > 2")
        with source(database, **settings) as run:
            ((task, wanted),) = run.plan()
            put(database, (3, "c", 3))
            first = rows(list(task.read(wanted)))
            assert [row["id"] for row in first] == [1, 2]
            assert rows(list(task.read(wanted))) == first
            run.done(wanted)
            assert column(run.batch(), "id") == [3]


def test_several_time_columns_are_one(database: OwnDatabase) -> None:
    kind = TIMESTAMP[database.kind]
    database.execute(
        f"CREATE TABLE orders (id integer NOT NULL, changed {kind} NULL, created {kind} NOT NULL)",
        f"INSERT INTO orders VALUES (1, NULL, '{at(1)}'), (2, '{at(9)}', '{at(0)}')",
    )
    with source(database, mode="timestamp", timestamp_column_name="changed,created") as run:
        assert column(run.batch(), "id") == [1, 2]
        database.execute(f"UPDATE orders SET changed = '{at(20)}' WHERE id = 1")
        assert column(run.batch(), "id") == [1]


NOW_MINUS = {
    "postgres": "localtimestamp - interval '{seconds} second'",
    "mariadb": "utc_timestamp(6) - interval {seconds} second",
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', 'now', '-{seconds} second')",
}


def test_rows_younger_than_the_delay_wait(database: OwnDatabase) -> None:
    timed_table(database)
    ago = NOW_MINUS[database.kind]
    database.execute(
        f"INSERT INTO orders VALUES (1, 'old', {ago.format(seconds=100)}), (2, 'young', {ago.format(seconds=30)})"
    )
    settings = {"mode": "timestamp", "timestamp_column_name": "changed"}
    with source(database, **settings, timestamp_delay_interval_ms="60000") as run:
        assert column(run.batch(), "id") == [1]
        database.execute(f"INSERT INTO orders VALUES (3, 'from a clock behind', {ago.format(seconds=90)})")
        assert column(run.batch(), "id") == [3]
    with source(database, **settings) as run:
        assert column(run.batch(), "id") == [1, 3, 2]


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati"])
def test_rows_of_a_day_wait_until_it_is_over(database: OwnDatabase, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A date has one tick a day: a row read today would hide those that come later today."""
    database.execute("CREATE TABLE orders (id integer NOT NULL, day date NOT NULL)")
    now = datetime(2024, 5, 1, 15, 30, tzinfo=timezone.utc)
    today = now.astimezone(ZoneInfo(zone)).date()

    def add(number: int, days: int) -> None:
        database.execute(f"INSERT INTO orders VALUES ({number}, '{today + timedelta(days=days)}')")

    add(1, -1)
    add(2, 0)
    with source(database, mode="timestamp", timestamp_column_name="day", db_timezone=zone) as run:
        dialect = run.tasks[0]._session.dialect  # type: ignore[attr-defined]
        monkeypatch.setattr(dialect, "now", lambda *_: now)
        assert column(run.batch(), "id") == [1]
        add(3, 0)
        assert run.batch() == []
        now += timedelta(days=1)
        assert sorted(column(run.batch(), "id")) == [2, 3]


def test_rows_of_the_future_wait(database: OwnDatabase) -> None:
    timed_table(database)
    ahead = NOW_MINUS[database.kind].format(seconds=-3600).replace("--", "+")
    database.execute(f"INSERT INTO orders VALUES (1, 'x', {ahead})")
    with source(database, mode="timestamp", timestamp_column_name="changed") as run:
        assert run.batch() == []


def test_where_to_begin(database: OwnDatabase) -> None:
    timed_table(database)
    put(database, (1, "a", 0), (2, "b", 10))
    settings = {"mode": "timestamp", "timestamp_column_name": "changed"}
    with source(database, **settings, timestamp_initial=str(millis(5))) as run:
        assert column(run.batch(), "id") == [2]
    with source(database, **settings, timestamp_initial="-1") as run:
        assert run.batch() == []


@pytest.mark.parametrize("old", [{"table": "orders"}, {"protocol": "1", "table": "{database}.public.orders"}])
def test_offsets_of_other_versions_are_understood(postgres_database: OwnDatabase, old: dict[str, str]) -> None:
    database = postgres_database
    database.execute("CREATE TABLE orders (id bigint NOT NULL)", "INSERT INTO orders VALUES (1), (2), (3)")
    import json

    key = json.dumps({name: value.format(database=database.name) for name, value in old.items()})
    with source(
        database, offsets={key: {"incrementing": 2}}, mode="incrementing", incrementing_column_name="id"
    ) as run:
        assert column(run.batch(), "id") == [3]


def test_the_zone_of_the_database_counts(database: OwnDatabase) -> None:
    timed_table(database)
    put(database, (1, "a", 0))
    settings: dict[str, Any] = {
        "mode": "timestamp",
        "timestamp_column_name": "changed",
        "db_timezone": "America/New_York",
    }
    with source(database, **settings) as run:
        (record,) = run.batch()
        assert record.value["changed"] == datetime(2024, 5, 1, 16, tzinfo=timezone.utc)
        assert run.known[partition(database, "orders")]["timestamp"] == millis(4 * 3600)
        assert run.batch() == []
        put(database, (2, "b", 1))
        assert column(run.batch(), "id") == [2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"mode": "incrementing", "incrementing_column_name": "name"},
            "incrementing column name of table .*orders has the type",
        ),
        ({"mode": "incrementing", "incrementing_column_name": "nummer"}, "no column nummer .incrementing.column.name"),
        ({"mode": "incrementing", "incrementing_column_name": "maybe"}, "incrementing column maybe .* is nullable"),
        ({"mode": "timestamp", "timestamp_column_name": "changed"}, "timestamp columns changed .* nullable"),
        ({"mode": "timestamp", "timestamp_column_name": "name"}, "time column name .* has the type"),
    ],
)
def test_columns_that_cannot_tell_what_is_new(database: OwnDatabase, settings: dict[str, str], message: str) -> None:
    kind = TIMESTAMP[database.kind]
    database.execute(f"CREATE TABLE orders (name varchar(9) NOT NULL, maybe integer NULL, changed {kind} NULL)")
    with source(database, **settings) as run, pytest.raises(ConnectError, match=message):
        run.batch()


def test_columns_that_may_be_null_are_allowed_on_demand(database: OwnDatabase) -> None:
    database.execute("CREATE TABLE orders (id integer NULL)", "INSERT INTO orders VALUES (1), (NULL)")
    settings = {"mode": "incrementing", "incrementing_column_name": "id", "validate_non_null": "false"}
    with source(database, **settings) as run:
        assert column(run.batch(), "id") == [1]
