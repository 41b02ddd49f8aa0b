"""What databases do differently, for a source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, text

from penstock.connect.connectors.jdbc.source.column import Column, ColumnFacts, Kind
from penstock.connect.connectors.jdbc.table_id import TableId


class SourceDialect(ABC):
    """One kind of database.

    Attributes:
        NOW: A statement that gives the database's time in UTC.
        TRANSACTIONS_SECONDS: How long to wait before the open transactions are asked for again.
    """

    NOW: ClassVar[str]
    TRANSACTIONS_SECONDS: ClassVar[float] = 0.0

    def prepare(self, connection: Connection, *, timeout_ms: int) -> None:  # noqa: B027 - for those who need it
        """Settings of a new connection: times in UTC, how long statements may take."""

    @abstractmethod
    def tables(self, connection: Connection, catalog: str | None, schema: str | None) -> list[tuple[TableId, str]]:
        """All tables that are not the system's, each with its type in JDBC's words.

        Args:
            connection: Where to ask.
            catalog: Pattern of catalogs, as in LIKE.
            schema: Pattern of schemas.
        """

    @abstractmethod
    def facts(self, connection: Connection, table: TableId) -> Mapping[str, ColumnFacts]:
        """What is known of a table's columns, by name."""

    @abstractmethod
    def cursor(self, connection: Connection, name: str) -> Any:
        """A DB-API cursor that does not hold all rows in memory."""

    @abstractmethod
    def columns(self, connection: Connection, cursor: Any, table: TableId | None, sql: str) -> Sequence[Column]:
        """The columns of a result.

        Args:
            connection: Where it was asked for.
            cursor: The cursor after its statement was executed.
            table: The table it is of, if it is of one.
            sql: The part of the statement behind FROM.
        """

    def abandon(self, cursor: Any) -> None:
        """Let go of a cursor after a failure, or before its end; its connection is closed next."""
        with suppress(Exception):
            cursor.close()

    def now(self, connection: Connection, zone: ZoneInfo) -> datetime:
        """The database's own time."""
        found: datetime = connection.execute(text(self.NOW)).scalar_one()
        return found.replace(tzinfo=timezone.utc) if found.tzinfo is None else found.astimezone(timezone.utc)

    def open_transactions(self, connection: Connection) -> frozenset[str] | None:
        """Transactions that have written something and may still commit; None if the database does not tell."""
        return None

    def time_expression(self, column: Column, quoted: str) -> str:
        """A time column in a condition."""
        return quoted

    def no_time(self, column: Column, quoted: str) -> str | None:
        """A condition for values of a time column that are none, where the database keeps such: they are in no order."""
        return None

    def time_argument(self, value: datetime, column: Column, zone: ZoneInfo) -> Any:
        """An instant to compare a time column with."""
        local = value.astimezone(timezone.utc if column.in_utc else zone)
        return local.replace(tzinfo=None)

    def time_digits(self, column: Column) -> int:
        """How many digits of fractions of seconds a time column has: rows of the same tick may still come."""
        return 6 if column.scale is None else column.scale

    def limit(self, rows: str) -> str:
        """The end of a statement that wants so many rows."""
        return f"LIMIT {rows}"


def is_time(column: Column) -> bool:
    """Whether a column tells when something was."""
    return column.kind in {Kind.TIMESTAMP, Kind.DATE}
