"""MySQL and MariaDB, by way of PyMySQL."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from penstock.connect.connectors.jdbc.source.column import Column, ColumnFacts, Kind
from penstock.connect.connectors.jdbc.source.dialects.dialect import SourceDialect
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.errors import DataError

log = logging.getLogger("penstock.connect")

_UNSIGNED, _AUTO_INCREMENT, _BINARY_CHARSET = 32, 512, 63
_DECIMAL, _NEWDECIMAL, _TIMESTAMP, _YEAR, _BIT = 0, 246, 7, 13, 16
_NAMES = {
    0: "DECIMAL", 1: "TINYINT", 2: "SMALLINT", 3: "INT", 4: "FLOAT", 5: "DOUBLE", 6: "NULL", 7: "TIMESTAMP", 8: "BIGINT",
    9: "MEDIUMINT", 10: "DATE", 11: "TIME", 12: "DATETIME", 13: "YEAR", 14: "DATE", 15: "VARCHAR", 16: "BIT", 245: "JSON",
    246: "DECIMAL", 247: "ENUM", 248: "SET", 249: "TINYBLOB", 250: "MEDIUMBLOB", 251: "LONGBLOB", 252: "BLOB",
    253: "VARCHAR", 254: "CHAR", 255: "GEOMETRY",
}  # fmt: skip
_INTS = {
    1: (Kind.INT8, Kind.INT16),
    2: (Kind.INT16, Kind.INT32),
    9: (Kind.INT32, Kind.INT32),
    3: (Kind.INT32, Kind.INT64),
}
_KINDS = {
    4: Kind.FLOAT32, 5: Kind.FLOAT64, 6: Kind.STRING, 7: Kind.TIMESTAMP, 8: Kind.INT64, 10: Kind.DATE, 11: Kind.TIME,
    12: Kind.TIMESTAMP, 13: Kind.DATE, 14: Kind.DATE, 245: Kind.STRING, 247: Kind.STRING, 248: Kind.STRING, 255: Kind.BYTES,
}  # fmt: skip
_TYPES = {"BASE TABLE": "TABLE", "SYSTEM VERSIONED": "TABLE", "VIEW": "VIEW", "SYSTEM VIEW": "SYSTEM VIEW"}
_SYSTEM = ("information_schema", "mysql", "performance_schema", "sys")
_TABLES = "SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE {} ORDER BY 1, 2"
_OF_DATABASE, _OF_PATTERN = "table_schema = DATABASE()", "table_schema LIKE :catalog"
_FACTS = """
SELECT column_name, is_nullable = 'YES', column_default, extra LIKE '%auto_increment%' FROM information_schema.columns
WHERE table_schema = COALESCE(:catalog, DATABASE()) AND table_name = :table
"""
_LARGEST_WRITER = 2**48  # transactions that have only read have larger ids, or 0 in MariaDB
_NOT_ALLOWED = 1227


class MysqlSource(SourceDialect):
    """Reads MySQL and MariaDB."""

    NOW: ClassVar[str] = "SELECT UTC_TIMESTAMP(6)"
    # InnoDB answers from a cache that is made anew when nobody has asked for a tenth of a second.
    TRANSACTIONS_SECONDS: ClassVar[float] = 0.15

    def __init__(self) -> None:
        self._may_see_transactions = True

    def prepare(self, connection: Connection, *, timeout_ms: int) -> None:
        connection.execute(text("SET time_zone = '+00:00'"))
        if timeout_ms:
            maria = getattr(connection.dialect, "is_mariadb", False)
            setting = f"max_statement_time = {timeout_ms / 1000}" if maria else f"max_execution_time = {timeout_ms}"
            connection.execute(text(f"SET SESSION {setting}"))
        connection.commit()

    def tables(self, connection: Connection, catalog: str | None, schema: str | None) -> list[tuple[TableId, str]]:
        # The name of the database is no pattern, though most have a _ in them.
        statement = text(_TABLES.format(_OF_DATABASE if catalog is None else _OF_PATTERN))
        rows = connection.execute(statement, {} if catalog is None else {"catalog": catalog})
        return [
            (TableId(database, None, name), _TYPES.get(kind, kind))
            for database, name, kind in rows
            if database not in _SYSTEM
        ]

    def facts(self, connection: Connection, table: TableId) -> Mapping[str, ColumnFacts]:
        rows = connection.execute(text(_FACTS), {"catalog": table.catalog, "table": table.table})
        return {
            name: ColumnFacts(bool(nullable), None if default is None else str(default), bool(numbered))
            for name, nullable, default, numbered in rows
        }

    def cursor(self, connection: Connection, name: str) -> Any:
        from pymysql.cursors import SSCursor

        driver: Any = connection.connection.driver_connection
        return driver.cursor(SSCursor)

    def abandon(self, cursor: Any) -> None:
        # PyMySQL would read all rows that are left, and fails if the connection is gone.
        result, cursor.connection = cursor._result, None  # noqa: SLF001
        if result is not None:
            result.unbuffered_active, result.connection = False, None

    def columns(self, connection: Connection, cursor: Any, table: TableId | None, sql: str) -> Sequence[Column]:
        # The description of the DB-API does not tell unsigned numbers and binary texts; the fields of the protocol do.
        return [_column(field) for field in cursor._result.fields]  # noqa: SLF001

    def open_transactions(self, connection: Connection) -> frozenset[str] | None:
        if not self._may_see_transactions:
            return None
        try:
            rows = connection.execute(
                text("SELECT trx_id FROM information_schema.innodb_trx WHERE trx_is_read_only = 0")
            )
        except OperationalError as error:
            if error.orig is None or error.orig.args[0] != _NOT_ALLOWED:
                raise
            self._may_see_transactions = False
            log.warning(
                "The user has not the privilege PROCESS: transactions that are open cannot be waited for, and rows they "
                "commit late may be missed. Grant it, or set timestamp.delay.interval.ms."
            )
            return None
        return frozenset(str(trx) for (trx,) in rows if 0 < int(trx) < _LARGEST_WRITER)


def _column(field: Any) -> Column:
    name, code, flags = str(field.name), int(field.type_code), int(field.flags)
    type_name = _NAMES.get(code, f"type {code}")
    unsigned, numbered = bool(flags & _UNSIGNED), bool(flags & _AUTO_INCREMENT)
    if code in _INTS:
        return Column(name, _INTS[code][unsigned], type_name, auto_increment=numbered)
    if code in {_DECIMAL, _NEWDECIMAL}:
        precision = field.length - (field.scale > 0) - (not unsigned)
        return Column(name, Kind.DECIMAL, type_name, precision, field.scale, auto_increment=numbered)
    if code == _BIT:
        if field.length == 1:
            return Column(name, Kind.INT8, type_name, decode=lambda value: int.from_bytes(value, "big"))
        return Column(name, Kind.BYTES, type_name)
    if code == _YEAR:
        return Column(name, Kind.DATE, type_name, decode=lambda value: date(value, 1, 1))
    if code in _KINDS:
        kind = _KINDS[code]
        decode = _checked_long if kind is Kind.INT64 and unsigned else _real_time if kind in _TIMES else None
        scale = min(field.scale, 6) if kind is Kind.TIMESTAMP else None
        in_utc = code == _TIMESTAMP
        return Column(name, kind, type_name, None, scale, in_utc, decode, numbered)
    return Column(name, Kind.BYTES if field.charsetnr == _BINARY_CHARSET else Kind.STRING, type_name)


_TIMES = {Kind.DATE, Kind.TIMESTAMP, Kind.TIME}


def _checked_long(value: int | Decimal) -> int:
    if value > 2**63 - 1:
        raise DataError(f"{value} is too large for a signed integer of 64 bits", hint="Cast the column in a query.")
    return int(value)


def _real_time(value: Any) -> Any:
    if isinstance(value, str):  # PyMySQL gives what is no date as it is: 0000-00-00
        raise DataError(f"{value} is no date or time", hint="Correct the row, or select NULLIF(...) in a query.")
    return value
