"""A task's connection: made when it is needed, kept, and given up when it breaks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from penstock.connect.connectors.jdbc.connection import Database
from penstock.connect.connectors.jdbc.source.column import Column
from penstock.connect.connectors.jdbc.source.dialects import SourceDialect, source_dialect
from penstock.connect.connectors.jdbc.source.selection import Selection
from penstock.connect.connectors.jdbc.source.settings import (
    ISOLATION,
    QUERY,
    QUERY_MASKED,
    QUERY_RETRIES,
    QUERY_SUFFIX,
    QUERY_TIMEOUT_MS,
)
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.errors import ConnectError, RetriableError

_cursors = itertools.count(1)


class Session:
    """One connection to a database.

    Args:
        database: The database.
        settings: The source's settings, parsed.
    """

    def __init__(self, database: Database, settings: Mapping[str, Any]) -> None:
        self.database = database
        self.dialect: SourceDialect = source_dialect(database.backend)
        self._isolation: str = settings[ISOLATION].upper().replace("_", " ")
        self._timeout_ms: int = settings[QUERY_TIMEOUT_MS]
        self._retries: int = settings[QUERY_RETRIES]
        self._suffix = _escaped(settings[QUERY_SUFFIX].strip())
        self._masked = settings[QUERY_MASKED] is not None and not settings[QUERY]
        self._failures: dict[str, int] = {}
        self._connection: Connection | None = None

    @contextmanager
    def connected(self, doing: str, *, patiently: bool = False) -> Iterator[Connection]:
        """The connection, for one transaction that is rolled back in the end: a source only reads.

        Args:
            doing: What is done, for messages.
            patiently: Try as often as the settings say.

        Raises:
            DatabaseDown: The database cannot be reached, or the connection broke; the next call connects anew.
            RetriableError: It may work later.
            ConnectError: It will not.
        """
        try:
            with self.database.errors(doing, hidden=self._masked):
                if self._connection is None:
                    self._connection = self._open(patiently=patiently)
                if not self._connection.in_transaction():
                    self._connection.begin()  # the driver's own cursors do not tell SQLAlchemy
                yield self._connection
                self._connection.rollback()
        except RetriableError as error:
            self.close()
            if type(error) is RetriableError:
                self._count(doing, error)
            raise
        except BaseException:
            self.close()  # also when a reader of rows does not read to the end
            raise
        self._failures.pop(doing, None)

    def _count(self, doing: str, error: RetriableError) -> None:
        """`query.retry.attempts`: an error that may pass has not passed often enough."""
        self._failures[doing] = self._failures.get(doing, 0) + 1
        if 0 <= self._retries < self._failures[doing]:
            raise ConnectError(f"{error.message} ({QUERY_RETRIES} is {self._retries})") from error

    def _open(self, *, patiently: bool) -> Connection:
        connection = self.database.connect_patiently() if patiently else self.database.connect()
        try:
            if self._isolation != "DEFAULT":
                connection.execution_options(isolation_level=self._isolation)
            self.dialect.prepare(connection, timeout_ms=self._timeout_ms)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def cursor(self, connection: Connection, statement: str, arguments: Mapping[str, Any]) -> Iterator[Any]:
        """A cursor of the driver with the rows of a statement; they stay in the database until they are fetched."""
        compiled = text(statement).bindparams(**arguments).compile(dialect=connection.dialect)
        values: Any = compiled.params
        positions: Sequence[str] | None = compiled.positiontup
        if positions is not None:
            values = tuple(values[name] for name in positions)
        cursor = self.dialect.cursor(connection, f"penstock_{next(_cursors)}")
        try:
            cursor.execute(str(compiled), values)
            yield cursor
        except BaseException:
            self.dialect.abandon(cursor)
            raise
        cursor.close()

    def describe(self, connection: Connection, selection: Selection) -> Sequence[Column]:
        """The columns of a table or query."""
        with self.cursor(connection, selection.nothing, {}) as cursor:
            return self.columns(connection, cursor, selection)

    def columns(self, connection: Connection, cursor: Any, selection: Selection) -> Sequence[Column]:
        """The columns of a cursor's result."""
        return self.dialect.columns(connection, cursor, selection.table, selection.source.replace("\\:", ":"))

    def quoted(self, name: str) -> str:
        """A column for a statement."""
        return self._escaped_name(self.database.quote(name))

    def table(self, table: TableId) -> Selection:
        """The rows of a table."""
        source = self._escaped_name(self.database.table_sql(table))
        return Selection(source, f"SELECT * FROM {source}", table, self._suffix)  # noqa: S608 - the name is quoted

    def query(self, query: str) -> Selection:
        """The rows of a query."""
        plain = _escaped(query)
        # On a new line: the query may end with a comment.
        return Selection(f"({plain}\n) penstock_rows", plain, None, self._suffix)

    def _escaped_name(self, quoted: str) -> str:
        # Some dialects double percent signs in names already, and all do in statements.
        doubled = getattr(self.database.engine.dialect.identifier_preparer, "_double_percents", False)
        return _escaped(quoted.replace("%%", "%") if doubled else quoted)

    def close(self) -> None:
        """Give the connection up."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.invalidate()  # closes it without asking a server that may be gone
                connection.close()
            except SQLAlchemyError:
                pass  # it is gone either way


def _escaped(sql: str) -> str:
    """Text of users and names of the database: a colon in it does not begin an argument."""
    return sql.replace(":", "\\:")
