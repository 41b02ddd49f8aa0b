from __future__ import annotations

import logging
import socket
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from penstock.broker.ports import free_port
from penstock.connect.connectors.jdbc.connection import Database
from penstock.connect.connectors.jdbc.database_errors import DatabaseDown
from penstock.connect.connectors.jdbc.jdbc_url import engine_url
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.errors import ConfigError, ConnectError, RetriableError
from tests.servers.fixtures import OwnDatabase
from tests.servers.server import DatabaseServer


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("jdbc:postgresql://db:5433/shop?user=u&password=p", "postgresql+psycopg://u:p@db:5433/shop"),
        ("jdbc:postgresql://db/shop", "postgresql+psycopg://db:5432/shop"),
        ("jdbc:postgresql://[::1]:5433/shop", "postgresql+psycopg://[::1]:5433/shop"),
        ("jdbc:mysql://db/shop?user=u%40x", "mysql+pymysql://u%40x@db:3306/shop"),
        ("jdbc:mariadb://db:3307/", "mysql+pymysql://db:3307"),
        ("jdbc:sqlite:/data/x.db", "sqlite:////data/x.db"),
        ("sqlite:////data/x.db", "sqlite:////data/x.db"),
        ("postgresql://db/shop", "postgresql+psycopg://db/shop"),
        ("mssql+pyodbc://db/shop", "mssql+pyodbc://db/shop"),
    ],
)
def test_urls(text: str, url: str) -> None:
    assert engine_url(text)[0].render_as_string(hide_password=False) == url


def test_properties_of_the_url_reach_the_driver(caplog: pytest.LogCaptureFixture) -> None:
    url = "jdbc:postgresql://a:1,b:2/d?sslmode=require&currentSchema=s&connectTimeout=3&reWriteBatchedInserts=true"
    with caplog.at_level(logging.WARNING, "penstock.connect"):
        arguments = engine_url(url)[1]
    assert {
        "host": "a,b",
        "port": "1,2",
        "sslmode": "require",
        "options": "-csearch_path=s",
        "connect_timeout": 3,
    }.items() <= arguments.items()
    assert "'reWriteBatchedInserts' of connection.url has no effect" in caplog.text
    assert engine_url("jdbc:mysql://a/d?connectTimeout=5000&socketTimeout=20000")[1].items() >= {
        "connect_timeout": 5, "read_timeout": 20,
    }.items()  # fmt: skip


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("jdbc:oracle:thin:@//db:1521/x", "No driver for jdbc:oracle in connection.url"),
        ("not a url", "connection.url is not a URL"),
        ("jdbc:postgresql://db:port/shop?password=s3cret", "The port in connection.url is not a number"),
        ("jdbc:sqlite::memory:", "SQLite database in memory"),
        ("oracle+oracledb://u:s3cret@db/x", "package oracledb is missing"),
        ("jdbc:mysql://a:1,b:2/d", "Several hosts"),
    ],
)
def test_urls_nobody_can_use_are_refused_without_showing_a_password(url: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as failure:
        Database({"connection.url": url})
    assert failure.value.key == "connection.url"
    assert "s3cret" not in str(failure.value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("dialect.name", "MySqlDatabaseDialect", "connection.url is one of sqlite"),
        ("db.timezone", "Mars/Olympus", "Not a known time zone"),
        ("quote.sql.identifiers", "sometimes", "must be one of"),
    ],
)
def test_settings_that_cannot_be(key: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Database({"connection.url": "jdbc:sqlite:/x.db", key: value})


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("t", (None, None, "t")),
        ("s.t", (None, "s", "t")),
        ("c.s.t", ("c", "s", "t")),
        ('"odd.name"', (None, None, "odd.name")),
        ('s."say ""hi"""', (None, "s", 'say "hi"')),
        ("`a``b`.t", (None, "a`b", "t")),
    ],
)
def test_names_of_tables(text: str, parts: tuple[str | None, str | None, str]) -> None:
    assert TableId.parse(text) == TableId(*parts)


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a.b.c.d", 'a"b'])
def test_names_that_are_none(text: str) -> None:
    with pytest.raises(ConfigError, match="is not the name of a table"):
        TableId.parse(text)


def test_connects(database: OwnDatabase) -> None:
    with Database(database.config).connect() as connection:
        assert connection.execute(text("select 1")).scalar() == 1


@pytest.mark.parametrize("fixture", ["postgres_database", "mariadb_database"])
def test_a_wrong_password_is_an_error_that_names_the_settings_and_hides_it(
    fixture: str, request: pytest.FixtureRequest
) -> None:
    database: OwnDatabase = request.getfixturevalue(fixture)
    with pytest.raises(ConfigError, match=r"does not let us in.*connection.password") as failure:
        Database({**database.config, "connection.password": "wr0ng"}).connect()
    assert "wr0ng" not in str(failure.value)
    unknown = {**database.config, "connection.url": database.server.jdbc_url("nowhere")}
    with pytest.raises(ConfigError, match="nowhere"):
        Database(unknown).connect()


def test_a_package_that_is_missing_for_a_way_to_log_in_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyMySQL's own words, where a server of MySQL asks for caching_sha2_password without TLS."""
    words = "'cryptography' package is required for sha256_password or caching_sha2_password auth methods"

    def connect(*_: object) -> None:
        raise RuntimeError(words)

    monkeypatch.setattr("pymysql.connections.Connection.connect", connect)
    with pytest.raises(ConfigError, match=r"log in to MySQL db:3306/x .*cryptography.*penstock\[jdbc\].*TLS"):
        Database({"connection.url": "jdbc:mysql://db/x?user=u&password=s3cret"}).connect()


def test_the_extra_brings_what_passwords_of_mysql_need() -> None:
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    (extra,) = [line for line in text.splitlines() if line.startswith("jdbc = ")]
    assert "pymysql[rsa]" in extra


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_a_closed_port_is_tried_again(kind: str) -> None:
    config = {
        "connection.url": f"jdbc:{kind}://127.0.0.1:{free_port()}/x?user=u&password=s3cret",
        "connection.attempts": "3",
        "connection.backoff.ms": "50",
    }
    begun = time.monotonic()
    with pytest.raises(DatabaseDown, match=r"cannot be reached.*connection.url") as failure:
        Database(config).connect_patiently()
    assert time.monotonic() - begun >= 0.1
    assert "s3cret" not in str(failure.value)


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_a_server_that_does_not_answer_is_given_up(kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        timeout = "connectTimeout=2" if kind == "postgresql" else "connectTimeout=1000"
        url = f"jdbc:{kind}://127.0.0.1:{silent.getsockname()[1]}/x?user=u&{timeout}"
        with pytest.raises(DatabaseDown):
            Database({"connection.url": url}).connect()


@pytest.mark.parametrize("fixture", ["postgres_database", "mariadb_database"])
def test_a_connection_that_is_lost_may_come_back_and_bad_sql_does_not(
    fixture: str, request: pytest.FixtureRequest
) -> None:
    found: OwnDatabase = request.getfixturevalue(fixture)
    server = found.server
    assert isinstance(server, DatabaseServer)
    database = Database(found.config)
    with database.connect() as connection:
        with pytest.raises(ConnectError, match=r"refused looking: .*missing") as failure, database.errors("looking"):
            connection.execute(text("select * from missing"))
        assert not isinstance(failure.value, RetriableError)
        connection.rollback()
        server.stop()
        try:
            with pytest.raises(DatabaseDown, match="lost while looking"), database.errors("looking"):
                connection.execute(text("select 1"))
            with pytest.raises(DatabaseDown):
                database.connect()
        finally:
            server.start()
    with database.connect() as again:
        assert again.execute(text("select 1")).scalar() == 1
