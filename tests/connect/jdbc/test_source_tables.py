from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from penstock.connect.api import CONNECTORS, ExactlyOnceSupport
from penstock.connect.connectors.jdbc.source.connector import JdbcSourceConnector
from penstock.connect.errors import ConfigError, ConnectError
from tests.connect.jdbc.source_run import column, eventually, rows, source
from tests.servers.fixtures import OwnDatabase


def topics(run: Any) -> list[str]:
    return sorted(record.topic for record in run.batch())


def tables_of(config: dict[str, str]) -> list[str]:
    return [table for _, _, table in json.loads(config["tables"])]


@pytest.fixture
def three(database: OwnDatabase) -> OwnDatabase:
    for name in ("alpha", "beta", "gamma"):
        database.execute(f"CREATE TABLE {name} (id integer NOT NULL)", f"INSERT INTO {name} VALUES (1)")
    database.execute("CREATE VIEW seen AS SELECT id FROM alpha")
    return database


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["db-alpha", "db-beta", "db-gamma"]),
        ({"table_whitelist": "alpha, gamma"}, ["db-alpha", "db-gamma"]),
        ({"table_blacklist": "alpha"}, ["db-beta", "db-gamma"]),
        ({"table_include_list": ".*a", "table_exclude_list": ".*alpha"}, ["db-beta", "db-gamma"]),
        ({"table_types": "VIEW"}, ["db-seen"]),
        ({"table_types": "TABLE,VIEW", "table_whitelist": "alpha,seen"}, ["db-alpha", "db-seen"]),
    ],
)
def test_which_tables_are_read(three: OwnDatabase, settings: dict[str, str], expected: list[str]) -> None:
    with source(three, mode="bulk", **settings) as run:
        assert topics(run) == expected


def test_schemas_and_full_names(postgres_database: OwnDatabase) -> None:
    database = postgres_database
    database.execute(
        "CREATE SCHEMA shop", "CREATE TABLE shop.orders (id integer)", "CREATE TABLE public.orders (id integer)",
        "INSERT INTO shop.orders VALUES (1)", "INSERT INTO public.orders VALUES (2)", "CREATE TABLE public.other (id integer)",
    )  # fmt: skip
    with pytest.raises(ConnectError, match=r"same name: public\.orders, shop\.orders"), source(database, mode="bulk"):
        pass
    for settings in (
        {"table_whitelist": "shop.orders"},
        {"table_whitelist": f'{database.name}."shop"."orders"'},
        {"schema_pattern": "sh%"},
        {"table_include_list": r"shop\..*"},
        {"table_include_list": rf"{database.name}\.shop\..*"},
    ):
        with source(database, mode="bulk", **settings) as run:
            assert column(run.batch(), "id") == [1]


def test_catalogs_of_mariadb(mariadb_database: OwnDatabase) -> None:
    database = mariadb_database
    database.execute("CREATE TABLE here (id integer)", "INSERT INTO here VALUES (1)")
    other = database.server.create_database()  # type: ignore[union-attr]
    try:
        database.execute(f"CREATE TABLE {other}.there (id integer)", f"INSERT INTO {other}.there VALUES (2)")
        with source(database, mode="bulk") as run:
            assert topics(run) == ["db-here"]
        with source(database, mode="bulk", catalog_pattern=other) as run:
            assert topics(run) == ["db-there"]
    finally:
        database.server.drop_database(other)  # type: ignore[union-attr]


def test_the_database_of_the_url_is_no_pattern(mariadb_database: OwnDatabase) -> None:
    other = mariadb_database.name.replace("_", "x")
    mariadb_database.execute(
        "CREATE TABLE here (id integer)", "INSERT INTO here VALUES (1)",
        f"CREATE DATABASE {other}", f"CREATE TABLE {other}.there (id integer)", f"INSERT INTO {other}.there VALUES (2)",
    )  # fmt: skip
    try:
        with source(mariadb_database, mode="bulk") as run:
            assert topics(run) == ["db-here"]
        with source(mariadb_database, mode="bulk", catalog_pattern=mariadb_database.name) as run:
            assert topics(run) == ["db-here", "db-there"]
    finally:
        mariadb_database.execute(f"DROP DATABASE {other}")


def test_names_that_need_quotes(database: OwnDatabase) -> None:
    quote = "`" if database.kind == "mariadb" else '"'
    name, id_column = f"{quote}odd: 100% Name{quote}", f"{quote}the: %id{quote}"
    database.execute(f"CREATE TABLE {name} ({id_column} integer NOT NULL)", f"INSERT INTO {name} VALUES (1)")
    for settings in ({"mode": "bulk"}, {"mode": "incrementing", "incrementing_column_name": "the: %id"}):
        with source(database, **settings) as run:
            (record,) = run.batch()
            assert (record.topic, record.value.to_dict()) == ("db-odd: 100% Name", {"the: %id": 1})


def test_names_without_quotes_on_demand(postgres_database: OwnDatabase) -> None:
    postgres_database.execute("CREATE TABLE orders (id integer NOT NULL)", "INSERT INTO orders VALUES (1)")
    with source(
        postgres_database, mode="incrementing", incrementing_column_name="ID", quote_sql_identifiers="never"
    ) as run:
        assert column(run.batch(), "id") == [1]


def test_tables_are_divided_between_tasks(three: OwnDatabase) -> None:
    with source(three, tasks=2, mode="bulk") as run:
        assert [tables_of(config) for config in run.task_configs] == [["alpha", "beta"], ["gamma"]]
        assert topics(run) == ["db-alpha", "db-beta", "db-gamma"]
    with source(three, tasks=9, mode="bulk") as run:
        assert len(run.tasks) == 3
    with source(three, tasks=9, mode="bulk", query="SELECT 1 AS one") as run:
        assert len(run.tasks) == 1


def test_new_and_dropped_tables_are_noticed(three: OwnDatabase) -> None:
    with source(three, mode="bulk", table_poll_interval_ms="50") as run:
        assert tables_of(run.task_configs[0]) == ["alpha", "beta", "gamma"]
        three.execute("CREATE TABLE delta (id integer)")
        eventually(lambda: run.context.reconfigured == 1)
        assert tables_of(run.connector.task_configs(1)[0]) == ["alpha", "beta", "delta", "gamma"]
        three.execute("DROP TABLE beta")
        eventually(lambda: run.context.reconfigured == 2)
        assert tables_of(run.connector.task_configs(1)[0]) == ["alpha", "delta", "gamma"]


def test_a_connector_without_tables_waits_for_them(database: OwnDatabase) -> None:
    with source(database, mode="bulk", table_poll_interval_ms="50", table_whitelist="later") as run:
        assert run.batch() == []
        database.execute("CREATE TABLE later (id integer)")
        eventually(lambda: run.context.reconfigured)
        assert tables_of(run.connector.task_configs(1)[0]) == ["later"]


def test_a_table_that_was_dropped_holds_up_nobody(three: OwnDatabase, caplog: pytest.LogCaptureFixture) -> None:
    settings = {"mode": "incrementing", "incrementing_column_name": "id", "table_blacklist": "beta"}
    with caplog.at_level(logging.WARNING, "penstock.connect"), source(three, **settings) as run:
        found = {str(wanted.partition): (task, wanted) for task, wanted in run.plan()}
        while len(found) < 2:  # MariaDB tells open transactions a little later
            found |= {str(wanted.partition): (task, wanted) for task, wanted in run.plan()}
        planned = [found[name] for name in sorted(found)]
        three.execute("DROP VIEW seen", "DROP TABLE alpha")
        records = []
        for task, wanted in planned:
            records += list(task.read(wanted))
            run.done(wanted)
        assert [record.topic for record in records] == ["db-gamma"]
        assert "rows of table" in caplog.text
        assert "were not read" in caplog.text
        three.execute("INSERT INTO gamma VALUES (2)")
        assert column(run.batch(), "id") == [2]
        assert run.batch() == []
        assert caplog.text.count("is not there, or not any more") == 1
        three.execute("CREATE TABLE alpha (id integer NOT NULL)", "INSERT INTO alpha VALUES (5)")
        assert column(run.batch(), "id") == [5]


def test_a_column_that_is_added_appears_and_one_that_is_dropped_disappears(database: OwnDatabase) -> None:
    database.execute("CREATE TABLE orders (id integer NOT NULL, name varchar(9))", "INSERT INTO orders VALUES (1, 'a')")
    with source(database, mode="incrementing", incrementing_column_name="id") as run:
        assert rows(run.batch()) == [{"id": 1, "name": "a"}]
        database.execute("ALTER TABLE orders ADD COLUMN price integer", "INSERT INTO orders VALUES (2, 'b', 5)")
        assert rows(run.batch()) == [{"id": 2, "name": "b", "price": 5}]
        database.execute("ALTER TABLE orders DROP COLUMN name", "INSERT INTO orders VALUES (3, 6)")
        assert rows(run.batch()) == [{"id": 3, "price": 6}]


def test_queries_in_each_mode(database: OwnDatabase) -> None:
    kind = {"postgres": "timestamp", "mariadb": "datetime(6)", "sqlite": "timestamp"}[database.kind]
    database.execute(
        f"CREATE TABLE orders (id integer NOT NULL, customer integer, changed {kind} NOT NULL)",
        "CREATE TABLE customers (number integer, name varchar(20))",
        "INSERT INTO customers VALUES (1, 'Ann: 100%'), (2, 'Bob')",
        "INSERT INTO orders VALUES (1, 1, '2024-05-01 12:00:00'), (2, 2, '2024-05-01 12:00:01'), (3, 1, '2024-05-01 12:00:01')",
    )
    query = (
        "SELECT o.id, c.name, o.changed FROM orders o JOIN customers c ON c.number = o.customer "
        "WHERE c.name LIKE 'Ann: 100%' OR c.name = ':x';"
    )
    if database.kind == "postgres":
        query = query.replace("o.id,", "o.id::integer,")
    for settings in (
        {"mode": "bulk"},
        {"mode": "incrementing", "incrementing_column_name": "id"},
        {"mode": "timestamp", "timestamp_column_name": "changed"},
        {"mode": "timestamp+incrementing", "timestamp_column_name": "changed", "incrementing_column_name": "id"},
    ):
        with source(database, query=query, **settings) as run:
            records = run.batch()
            assert [(record.topic, record.value["id"], record.value["name"]) for record in records] == [
                ("db-", 1, "Ann: 100%"), ("db-", 3, "Ann: 100%"),
            ]  # fmt: skip
            assert records[0].value_schema is not None
            assert records[0].value_schema.name is None
            assert list(run.known) == ['{"query": "query"}']
            assert settings["mode"] == "bulk" or run.batch() == []


def test_expressions_of_queries_have_types(database: OwnDatabase) -> None:
    with source(database, mode="bulk", query="SELECT 1 + 1 AS two, 'x' AS letter, 1.5e0 AS half, NULL AS empty") as run:
        assert rows(run.batch()) == [{"two": 2, "letter": "x", "half": 1.5, "empty": None}]


def test_the_suffix_ends_statements_and_a_limit_loses_nothing(database: OwnDatabase) -> None:
    database.execute(
        "CREATE TABLE orders (id integer NOT NULL)", *(f"INSERT INTO orders VALUES ({i})" for i in range(5))
    )
    with source(database, mode="incrementing", incrementing_column_name="id", query_suffix="LIMIT 2") as run:
        assert [column(run.batch(), "id") for _ in range(4)] == [[0, 1], [2, 3], [4], []]
    with source(database, mode="bulk", query_suffix="ORDER BY id DESC LIMIT 2") as run:
        assert column(run.batch(), "id") == [4, 3]


def test_comments_at_the_end_of_a_query_and_a_suffix(database: OwnDatabase) -> None:
    kind = {"postgres": "timestamp", "mariadb": "datetime(6)", "sqlite": "timestamp"}[database.kind]
    database.execute(
        f"CREATE TABLE orders (id integer NOT NULL, changed {kind} NOT NULL)",
        *(f"INSERT INTO orders VALUES ({n}, '2024-05-01 12:00:0{n}')" for n in range(4)),
    )
    for settings, expected in (
        ({"mode": "bulk", "query_suffix": "ORDER BY id DESC LIMIT 2"}, [3, 2]),
        ({"mode": "incrementing", "incrementing_column_name": "id"}, [0, 1, 2, 3]),
        ({"mode": "timestamp", "timestamp_column_name": "changed", "query_suffix": "LIMIT 2 -- two"}, [0, 1]),
    ):
        with source(database, query="SELECT * FROM orders -- it's: all", **settings) as run:
            assert column(run.batch(), "id") == expected


def test_a_masked_query_is_not_shown(sqlite_database: OwnDatabase) -> None:
    config = {**sqlite_database.config, "mode": "bulk", "topic.prefix": "t", "query.masked": "SELECT 'secret' AS x"}
    assert "secret" not in repr(JdbcSourceConnector(config).settings)
    with source(sqlite_database, mode="bulk", **{"query.masked": "SELECT 'secret' AS x"}) as run:
        assert rows(run.batch()) == [{"x": "secret"}]


def test_two_columns_of_one_name(sqlite_database: OwnDatabase) -> None:
    with (
        source(sqlite_database, mode="bulk", query="SELECT 1 AS a, 2 AS a") as run,
        pytest.raises(ConnectError, match="two columns a"),
    ):
        run.batch()


def test_columns_by_table(database: OwnDatabase) -> None:
    database.execute(
        "CREATE TABLE alpha (a integer NOT NULL)", "CREATE TABLE beta (b integer NOT NULL)",
        "INSERT INTO alpha VALUES (1)", "INSERT INTO beta VALUES (2)",
    )  # fmt: skip
    with source(database, mode="incrementing", incrementing_column_mapping=".*alpha:a,.*beta:b") as run:
        assert len(run.until(2)) == 2


@pytest.mark.parametrize(
    ("settings", "key", "message"),
    [
        ({"mode": "timestamp"}, "timestamp.column.name", "needs timestamp.column.name"),
        ({"mode": "incrementing", "query": "SELECT 1"}, "incrementing.column.name", "needs incrementing.column.name"),
        ({"mode": "bulk", "table.whitelist": "a", "table.blacklist": "b"}, "table.blacklist", "cannot both be set"),
        ({"mode": "bulk", "table.whitelist": "a", "table.include.list": "b"}, "table.whitelist", "cannot both be set"),
        ({"mode": "bulk", "table.whitelist": "a", "query": "SELECT 1"}, "table.whitelist", "no meaning with a query"),
        ({"mode": "bulk", "connection.url": "jdbc:oracle:x"}, "connection.url", "No driver"),
    ],
)
def test_settings_that_do_not_fit_together(settings: dict[str, str], key: str, message: str) -> None:
    config = {"connection.url": "jdbc:sqlite:/x.db", "topic.prefix": "t", **settings}
    (found,) = JdbcSourceConnector.validate(config)
    assert found.name == key
    assert message in found.errors[0]


@pytest.mark.parametrize(
    ("key", "value"),
    [("mode", "sometimes"), ("numeric.mapping", "x"), ("timestamp.granularity", "x"), ("table.include.list", "("),
     ("timestamp.columns.mapping", "no-colon"), ("transaction.isolation.mode", "x"), ("batch.max.rows", "0")],
)  # fmt: skip
def test_values_that_cannot_be(key: str, value: str) -> None:
    config = {"connection.url": "jdbc:sqlite:/x.db", "topic.prefix": "t", "mode": "bulk", key: value}
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        JdbcSourceConnector(config)


@pytest.mark.parametrize(
    "name", ["io.confluent.connect.jdbc.JdbcSourceConnector", "io.aiven.connect.jdbc.JdbcSourceConnector", "JdbcSource"]
)
def test_names_of_the_connector(name: str) -> None:
    assert CONNECTORS.find(name) is JdbcSourceConnector


def test_guarantees_and_offsets_of_the_connector() -> None:
    support = JdbcSourceConnector.exactly_once_support
    assert support({"mode": "bulk"}) is ExactlyOnceSupport.UNSUPPORTED
    assert support({"mode": "timestamp"}) is ExactlyOnceSupport.SUPPORTED
    table = {"protocol": "1", "table": "public.t"}
    JdbcSourceConnector.alter_offsets({}, [(table, {"incrementing": 4}), (table, {"timestamp": 1}), (table, None)])
    for partition, offset in (
        ({"file": "x"}, {"incrementing": 1}),
        (table, {"incrementing": "1"}),
        (table, {"other": 1}),
    ):
        with pytest.raises(ConnectError):
            JdbcSourceConnector.alter_offsets({}, [(partition, offset)])


def test_the_offset_of_a_bulk_source_can_be_set_again(sqlite_database: OwnDatabase) -> None:
    sqlite_database.execute("CREATE TABLE orders (id integer)", "INSERT INTO orders VALUES (1)")
    with source(sqlite_database, mode="bulk") as run:
        run.batch()
        ((partition, offset),) = run.known.items()
    assert list(offset) == ["polled"]
    JdbcSourceConnector.alter_offsets({"mode": "bulk"}, [(json.loads(partition), offset)])
    for mode, wrong in (("bulk", {"polled": "now"}), ("incrementing", offset)):
        with pytest.raises(ConnectError):
            JdbcSourceConnector.alter_offsets({"mode": mode}, [(json.loads(partition), wrong)])
