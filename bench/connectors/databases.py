"""The databases and rows of the measures: servers as the tests have them, which wait for no disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from tests.servers.mariadb import MariaDBServer
from tests.servers.postgres import PostgresServer
from tests.servers.server import DatabaseServer

Row = tuple[int, str, float, bool, int, str]
COLUMNS = ("id", "name", "price", "paid", "big", "city")
BATCH = 3000
TYPES = {
    "postgres": "id BIGINT PRIMARY KEY, name TEXT, price DOUBLE PRECISION, paid BOOLEAN, big BIGINT, city TEXT",
    "mariadb": "id BIGINT PRIMARY KEY, name TEXT, price DOUBLE, paid TINYINT, big BIGINT, city TEXT",
}


def rows_of(count: int) -> list[Row]:
    """Rows of six columns."""
    return [(n, f"name {n}", n * 1.5, n % 2 == 0, n * 1000, f"city {n % 100}") for n in range(count)]


@dataclass(frozen=True, slots=True)
class BenchDatabase:
    """A database, and a connection of the plain loop's."""

    title: str
    server: DatabaseServer
    name: str
    connection: Any

    @property
    def config(self) -> dict[str, str]:
        """Settings of a connector."""
        return {
            "connection.url": self.server.jdbc_url(self.name),
            "connection.user": self.server.user,
            "connection.password": self.server.password,
        }

    def fresh(self, table: str, rows: list[Row] | None = None) -> Callable[[], None]:
        """What makes a table anew, with rows."""

        def make() -> None:
            with closing(self.connection.cursor()) as cursor:
                cursor.execute(f"DROP TABLE IF EXISTS {table}")
                cursor.execute(f"CREATE TABLE {table} ({TYPES[self.server.NAME]})")
                if rows:
                    cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s, %s, %s, %s, %s)", rows)
            self.connection.commit()

        return make


def databases(resources: ExitStack) -> list[BenchDatabase]:
    """PostgreSQL and MariaDB, for as long as the resources live."""
    found = []
    for title, server in (("PostgreSQL", PostgresServer()), ("MariaDB", MariaDBServer())):
        resources.enter_context(server)
        name = server.create_database()
        connection = resources.enter_context(closing(server.connect(name)))
        connection.autocommit(False) if server.NAME == "mariadb" else setattr(connection, "autocommit", False)
        found.append(BenchDatabase(title, server, name, connection))
    return found
