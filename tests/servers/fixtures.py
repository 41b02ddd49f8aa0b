"""Servers and databases for tests. A conftest imports the fixtures it wants:

from tests.servers.fixtures import mariadb_database, mariadb_server, postgres_database, postgres_server
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.servers.mariadb import MariaDBServer
from tests.servers.postgres import PostgresServer
from tests.servers.server import DatabaseServer
from tests.servers.sqlite import SqliteFile


@dataclass(frozen=True, slots=True)
class OwnDatabase:
    """A database of one test's own.

    Attributes:
        server: Where it is.
        name: Its name.
    """

    server: DatabaseServer | SqliteFile
    name: str

    @property
    def config(self) -> dict[str, str]:
        """The settings with which a connector reaches it."""
        url = {"connection.url": self.server.jdbc_url(self.name)}
        if not self.server.user:
            return url
        return {**url, "connection.user": self.server.user, "connection.password": self.server.password}

    @property
    def kind(self) -> str:
        """postgres, mariadb or sqlite."""
        return self.server.NAME

    def execute(self, *statements: str) -> None:
        """Run statements, each in a transaction of its own."""
        self.server.execute(*statements, database=self.name)

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.server.query(statement, database=self.name)

    def connect(self) -> Any:
        """A connection of the driver's own; each statement commits."""
        return self.server.connect(self.name)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One PostgreSQL for the whole session. A test that stops it starts it again."""
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariaDBServer]:
    """One MariaDB for the whole session. A test that stops it starts it again."""
    with MariaDBServer() as server:
        yield server


@pytest.fixture
def postgres_database(postgres_server: PostgresServer) -> Iterator[OwnDatabase]:
    """A database in PostgreSQL that only this test has."""
    name = postgres_server.create_database()
    yield OwnDatabase(postgres_server, name)
    postgres_server.drop_database(name)


@pytest.fixture
def mariadb_database(mariadb_server: MariaDBServer) -> Iterator[OwnDatabase]:
    """A database in MariaDB that only this test has."""
    name = mariadb_server.create_database()
    yield OwnDatabase(mariadb_server, name)
    mariadb_server.drop_database(name)
