"""SQLite. Its columns have a declared type, and their values any: they are decoded by what was declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, text

from penstock.connect.connectors.jdbc.source.column import Column, ColumnFacts
from penstock.connect.connectors.jdbc.source.dialects.dialect import SourceDialect
from penstock.connect.connectors.jdbc.source.dialects.sqlite_values import declared_column, undeclared_column
from penstock.connect.connectors.jdbc.table_id import TableId

_FORMAT = "'%Y-%m-%d %H\\:%M\\:%f'"
_DATE = "'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'"


class SqliteSource(SourceDialect):
    """Reads a SQLite file."""

    NOW: ClassVar[str] = f"SELECT strftime({_FORMAT}, 'now')"

    def tables(self, connection: Connection, catalog: str | None, schema: str | None) -> list[tuple[TableId, str]]:
        statement = text("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY 1")  # fmt: skip
        return [(TableId(None, None, name), kind.upper()) for name, kind in connection.execute(statement)]

    def facts(self, connection: Connection, table: TableId) -> Mapping[str, ColumnFacts]:
        rows = connection.execute(text("SELECT name, type, [notnull], dflt_value, pk FROM pragma_table_info(:name)"), {"name": table.table}).all()  # fmt: skip
        keys = [row for row in rows if row[4]]
        return {
            name: ColumnFacts(
                nullable=not not_null and not key,
                default=default,
                auto_increment=bool(key) and len(keys) == 1 and kind.upper() == "INTEGER",  # the row id
            )
            for name, kind, not_null, default, key in rows
        }

    def cursor(self, connection: Connection, name: str) -> Any:
        driver: Any = connection.connection.driver_connection
        return driver.cursor()

    def columns(self, connection: Connection, cursor: Any, table: TableId | None, sql: str) -> Sequence[Column]:
        driver: Any = connection.connection.driver_connection
        names = [str(one[0]) for one in cursor.description]
        declared = _declared(driver, table, sql)
        return [
            declared_column(name, declared[name]) if declared.get(name) else _column_of_values(driver, name, sql)
            for name in names
        ]  # fmt: skip

    def now(self, connection: Connection, zone: ZoneInfo) -> datetime:
        found = connection.execute(text(self.NOW)).scalar_one()
        return datetime.fromisoformat(found).replace(tzinfo=timezone.utc)

    def time_expression(self, column: Column, quoted: str) -> str:
        # Texts of one instant can differ; this makes them the same, to the millisecond. Whole numbers are milliseconds.
        millis = f"strftime({_FORMAT}, {quoted} / 1000.0, 'unixepoch')"
        return f"CASE typeof({quoted}) WHEN 'integer' THEN {millis} ELSE strftime({_FORMAT}, {quoted}) END"

    def no_time(self, column: Column, quoted: str) -> str | None:
        # SQLite takes 'now' and '12:30' for times, too, and fractions for Julian days, but keeps whole ones as integers.
        known = f"typeof({quoted}) = 'integer' OR typeof({quoted}) = 'text' AND {quoted} GLOB {_DATE}"
        return f"{quoted} IS NOT NULL AND ({self.time_expression(column, quoted)} IS NULL OR NOT ({known}))"

    def time_argument(self, value: datetime, column: Column, zone: ZoneInfo) -> Any:
        return super().time_argument(value, column, zone).isoformat(sep=" ", timespec="milliseconds")

    def time_digits(self, column: Column) -> int:
        return 0  # CURRENT_TIMESTAMP has whole seconds


def _declared(driver: Any, table: TableId | None, sql: str) -> dict[str, str]:
    """Declared types by column. Those of a query are known to a view of it."""
    view = "penstock_described"
    if table is None:
        driver.execute(f"CREATE TEMP VIEW {view} AS SELECT * FROM {sql}")  # noqa: S608 - names are quoted, the rest is the user's
    try:
        name = view if table is None else table.table
        rows = driver.execute("SELECT name, type FROM pragma_table_info(?)", (name,)).fetchall()
    finally:
        if table is None:
            driver.execute(f"DROP VIEW {view}")
    return {name: declared or "" for name, declared in rows}


def _column_of_values(driver: Any, name: str, sql: str) -> Column:
    """A column without a declared type, an expression of a query for instance: as its first value."""
    quoted = '"' + name.replace('"', '""') + '"'
    row = driver.execute(f"SELECT typeof({quoted}) FROM {sql} WHERE {quoted} IS NOT NULL LIMIT 1").fetchone()  # noqa: S608
    return undeclared_column(name, row[0] if row else "text")
