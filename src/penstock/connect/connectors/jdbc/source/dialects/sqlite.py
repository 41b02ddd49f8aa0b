"""SQLite. Its columns have a declared type, and their values any: they are decoded by what was declared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, text

from penstock.connect.connectors.jdbc.source.column import Column, ColumnFacts, Kind
from penstock.connect.connectors.jdbc.source.dialects.dialect import SourceDialect
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.data.logical import EPOCH

_DECLARED = re.compile(r"\s*([A-Za-z ]*?)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*")
_MILLISECOND = timedelta(milliseconds=1)


def _instant(value: Any) -> datetime:
    """A timestamp: ISO text, or milliseconds since 1970."""
    if isinstance(value, str):
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    instant: datetime = EPOCH + value * _MILLISECOND
    return instant.replace(tzinfo=None)


def _day(value: Any) -> date:
    return date.fromisoformat(value[:10]) if isinstance(value, str) else _instant(value).date()


def _clock(value: Any) -> time:
    return time.fromisoformat(value) if isinstance(value, str) else _instant(value).time()


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def _decimal(value: Any) -> Decimal:
    return Decimal(str(value))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else value.decode() if isinstance(value, bytes) else str(value)


_Decode = Callable[[Any], Any]
_NAMED: dict[str, tuple[Kind, _Decode]] = {
    "BOOLEAN": (Kind.BOOLEAN, bool), "BOOL": (Kind.BOOLEAN, bool),
    "TINYINT": (Kind.INT8, int), "SMALLINT": (Kind.INT16, int), "INT2": (Kind.INT16, int),
    "DATE": (Kind.DATE, _day), "TIME": (Kind.TIME, _clock),
    "DATETIME": (Kind.TIMESTAMP, _instant), "TIMESTAMP": (Kind.TIMESTAMP, _instant),
    "NUMERIC": (Kind.DECIMAL, _decimal), "DECIMAL": (Kind.DECIMAL, _decimal), "NUMBER": (Kind.DECIMAL, _decimal),
}  # fmt: skip
_PARTS: tuple[tuple[tuple[str, ...], Kind, _Decode], ...] = (
    (("INT",), Kind.INT64, int),
    (("CHAR", "CLOB", "TEXT", "JSON", "UUID"), Kind.STRING, _text),
    (("BLOB", "BINARY"), Kind.BYTES, _bytes),
    (("REAL", "FLOA", "DOUB"), Kind.FLOAT64, float),
)
_OF_VALUES: dict[str, tuple[Kind, _Decode]] = {
    "integer": (Kind.INT64, int), "real": (Kind.FLOAT64, float), "text": (Kind.STRING, _text), "blob": (Kind.BYTES, _bytes),
}  # fmt: skip


class SqliteSource(SourceDialect):
    """Reads a SQLite file."""

    NOW: ClassVar[str] = "SELECT strftime('%Y-%m-%d %H\\:%M\\:%f', 'now')"

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
            _column(name, declared[name]) if declared.get(name) else _column_of_values(driver, name, sql)
            for name in names
        ]  # fmt: skip

    def now(self, connection: Connection, zone: ZoneInfo) -> datetime:
        found = connection.execute(text(self.NOW)).scalar_one()
        return datetime.fromisoformat(found).replace(tzinfo=timezone.utc)

    def time_expression(self, column: Column, quoted: str) -> str:
        # Texts of one instant can differ; this makes them the same, to the millisecond.
        return f"strftime('%Y-%m-%d %H\\:%M\\:%f', {quoted})"

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
        rows = driver.execute(f'PRAGMA table_info("{view if table is None else table.table}")').fetchall()
    finally:
        if table is None:
            driver.execute(f"DROP VIEW {view}")
    return {row[1]: row[2] or "" for row in rows}


def _column_of_values(driver: Any, name: str, sql: str) -> Column:
    """A column without a declared type, an expression of a query for instance: as its first value."""
    quoted = '"' + name.replace('"', '""') + '"'
    row = driver.execute(f"SELECT typeof({quoted}) FROM {sql} WHERE {quoted} IS NOT NULL LIMIT 1").fetchone()  # noqa: S608
    kind, decode = _OF_VALUES[row[0] if row else "text"]
    return Column(name, kind, "no declared type", decode=decode)


def _column(name: str, declared: str) -> Column:
    found = _DECLARED.fullmatch(declared)
    base = found[1].upper() if found else declared.upper()
    precision, scale = (int(part) if part else None for part in (found[2], found[3])) if found else (None, None)
    if base in _NAMED:
        kind, decode = _NAMED[base]
        if kind is Kind.DECIMAL:
            return Column(
                name, kind, declared, precision, scale if scale is not None else 0 if precision else None, decode=decode
            )
        return Column(name, kind, declared, decode=decode)
    for parts, kind, decode in _PARTS:
        if any(part in base for part in parts):
            return Column(name, kind, declared, decode=decode)
    return Column(name, None, declared)
