"""SQLite keeps any value in any column, and makes a file of any path: what a source does about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.connect.errors import ConfigError, DataError
from tests.connect.jdbc.source_run import SourceRun, column, rows, source
from tests.servers.fixtures import OwnDatabase

TIMESTAMP: dict[str, Any] = {"mode": "timestamp", "timestamp_column_name": "changed"}
BOTH: dict[str, Any] = {**TIMESTAMP, "mode": "timestamp+incrementing", "incrementing_column_name": "id"}


def timed(database: OwnDatabase, *values: str) -> None:
    database.execute("CREATE TABLE orders (id integer NOT NULL, changed timestamp NOT NULL)")
    add(database, 1, *values)


def add(database: OwnDatabase, begin: int, *values: str) -> None:
    database.execute(*(f"INSERT INTO orders VALUES ({n}, {value})" for n, value in enumerate(values, begin)))


@pytest.mark.parametrize("settings", [TIMESTAMP, BOTH], ids=["timestamp", "both"])
def test_times_may_be_milliseconds_and_texts(sqlite_database: OwnDatabase, settings: dict[str, Any]) -> None:
    timed(sqlite_database, "1714564800123", "'2024-05-01T12:00:00.122Z'", "'2024-05-01 12:00'", "1714564800124.0")
    with source(sqlite_database, **settings) as run:
        records = run.batch()
        assert column(records, "id") == [3, 2, 1, 4]
        millis = [int(value.timestamp() * 1000) for value in column(records, "changed")]
        assert millis == [1714564800000, 1714564800122, 1714564800123, 1714564800124]
        assert next(iter(run.known.values()))["timestamp"] == 1714564800124
        add(sqlite_database, 5, "1714564800125")
        assert column(run.batch(), "id") == [5]
        assert run.batch() == []


def test_every_millisecond_is_one_of_its_own(sqlite_database: OwnDatabase) -> None:
    timed(sqlite_database)
    values = ", ".join(f"({n}, {1714564800000 + n})" for n in range(1000))
    sqlite_database.execute(f"INSERT INTO orders VALUES {values}")
    with source(sqlite_database, **TIMESTAMP, batch_max_rows="1") as run:  # 50 rows a range
        assert [len(run.batch()) for _ in range(21)] == [50] * 20 + [0]


@pytest.mark.parametrize("odd", ["'01/05/2024'", "''", "'now'", "'12:30'", "2460431.75", "9223372036854775807"])
@pytest.mark.parametrize("settings", [TIMESTAMP, BOTH], ids=["timestamp", "both"])
def test_a_value_that_is_no_time_fails_the_task(
    sqlite_database: OwnDatabase, settings: dict[str, Any], odd: str
) -> None:
    timed(sqlite_database, "'2024-05-01 12:00:00'", "'2024-05-01 12:00:02'")
    with source(sqlite_database, **settings) as run:
        assert column(run.batch(), "id") == [1, 2]
        add(sqlite_database, 3, odd)
        with pytest.raises(DataError, match=f"time column changed of table orders holds {odd}, which is no time"):
            run.batch()
        sqlite_database.execute("UPDATE orders SET changed = '2024-05-01 12:00:03' WHERE id = 3")
        assert column(run.batch(), "id") == [3]


def test_the_first_of_several_time_columns_is_checked_as_well(sqlite_database: OwnDatabase) -> None:
    sqlite_database.execute(
        "CREATE TABLE orders (id integer, changed timestamp, created timestamp NOT NULL)",
        "INSERT INTO orders VALUES (1, NULL, '2024-05-01 12:00:00'), (2, 'soon', '2024-05-01 12:00:00')",
    )
    settings = {"mode": "timestamp", "timestamp_column_name": "changed,created"}
    with (
        source(sqlite_database, **settings) as run,
        pytest.raises(DataError, match="changed of table orders holds 'soon'"),
    ):
        run.batch()


def test_texts_of_a_query_that_are_no_times_are_named(sqlite_database: OwnDatabase) -> None:
    query = "SELECT 1 AS id, '2024-05-01 12:00:00' AS changed UNION ALL SELECT 2, '20240103'"
    with (
        source(sqlite_database, **TIMESTAMP, query=query) as run,
        pytest.raises(DataError, match="query holds '20240103'"),
    ):
        run.batch()


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("int", "1.5", None),
        ("int", "'1_000'", None),
        ("tinyint", "127", 127),
        ("tinyint", "128", None),
        ("smallint", "-32769", None),
        ("boolean", "'false'", False),
        ("boolean", "'True'", True),
        ("boolean", "0", False),
        ("boolean", "2", None),
        ("boolean", "'no'", None),
        ("real", "'nan'", None),
        ("blob", "5", None),
        ("blob", "'text'", b"text"),
        ("decimal(9,2)", "'nan'", None),
        ("date", "'2024-05-01 and more'", None),
        ("timestamp", "2460431.75", None),
    ],
)
def test_a_value_is_what_it_was_or_is_named(
    sqlite_database: OwnDatabase, declared: str, value: str, expected: Any
) -> None:
    sqlite_database.execute(f"CREATE TABLE t (v {declared})", f"INSERT INTO t VALUES ({value})")
    with source(sqlite_database, mode="bulk") as run:
        if expected is None:
            with pytest.raises(DataError, match="Column v of t: "):
                run.batch()
        else:
            assert rows(run.batch()) == [{"v": expected}]


@pytest.mark.parametrize("value", ["1.5", "1234567"])
def test_decimals_that_become_integers_are_not_cut(sqlite_database: OwnDatabase, value: str) -> None:
    sqlite_database.execute("CREATE TABLE t (v decimal(4, 0))", f"INSERT INTO t VALUES ({value})")
    with (
        source(sqlite_database, mode="bulk", numeric_mapping="best_fit") as run,
        pytest.raises(DataError, match=r"Column v of t: .* not a whole number that fits int16"),
    ):
        run.batch()


def test_a_quote_in_the_name_of_a_table(sqlite_database: OwnDatabase) -> None:
    sqlite_database.execute(
        'CREATE TABLE "we""ird" (id integer PRIMARY KEY, "d""d" smallint)', 'INSERT INTO "we""ird" VALUES (1, 2)'
    )
    with source(sqlite_database, mode="incrementing") as run:
        assert rows(run.batch()) == [{"id": 1, 'd"d': 2}]


@pytest.mark.parametrize("query", ["", "SELECT 1 AS id"])
def test_a_path_that_was_mistyped_is_named_and_makes_no_file(tmp_path: Path, query: str) -> None:
    path = tmp_path / "shop 100%.db"
    config = {"connection.url": f"jdbc:sqlite:{path}", "topic.prefix": "t-", "mode": "bulk", "query": query}
    with pytest.raises(ConfigError, match=r"not there .*shop 100%\.db .*Check the path in connection\.url"):
        SourceRun(config)
    assert not path.exists()
    path.touch()
    SourceRun(config).stop()
