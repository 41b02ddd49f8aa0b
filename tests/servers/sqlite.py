"""SQLite for tests, with the same methods as the servers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any


class SqliteFile:
    """A file that is a database."""

    NAME = "sqlite"
    user = ""
    password = ""

    def __init__(self, path: Path) -> None:
        self.path = path

    def connect(self, database: str | None = None) -> Any:
        """A connection; each statement commits."""
        return sqlite3.connect(self.path, isolation_level=None)

    def jdbc_url(self, database: str) -> str:
        """What a connector has as connection.url."""
        return f"jdbc:sqlite:{self.path}"

    def execute(self, *statements: str, database: str | None = None) -> None:
        """Run statements, each in a transaction of its own."""
        with closing(self.connect(database)) as connection:
            for statement in statements:
                connection.execute(statement)

    def query(self, statement: str, *, database: str | None = None) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with closing(self.connect(database)) as connection:
            return list(connection.execute(statement).fetchall())
