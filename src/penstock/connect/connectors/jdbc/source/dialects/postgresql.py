"""PostgreSQL, by way of psycopg."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, text

from penstock.connect.connectors.jdbc.source.column import Column, ColumnFacts, Kind
from penstock.connect.connectors.jdbc.source.dialects.dialect import SourceDialect
from penstock.connect.connectors.jdbc.table_id import TableId

_TYPES = {"r": "TABLE", "p": "PARTITIONED TABLE", "v": "VIEW", "m": "MATERIALIZED VIEW", "f": "FOREIGN TABLE"}
_BIT, _VARBIT, _NUMERIC, _TIMETZ, _TIMESTAMPTZ = 1560, 1562, 1700, 1266, 1184
_KINDS = {
    16: Kind.BOOLEAN, 17: Kind.BYTES, 18: Kind.STRING, 19: Kind.STRING, 20: Kind.INT64, 21: Kind.INT16, 23: Kind.INT32,
    25: Kind.STRING, 26: Kind.INT64, 114: Kind.STRING, 142: Kind.STRING, 700: Kind.FLOAT32, 701: Kind.FLOAT64,
    790: Kind.STRING, 1042: Kind.STRING, 1043: Kind.STRING, 1082: Kind.DATE, 1083: Kind.TIME, 1114: Kind.TIMESTAMP,
    _TIMESTAMPTZ: Kind.TIMESTAMP, _TIMETZ: Kind.TIME, _VARBIT: Kind.BYTES, _NUMERIC: Kind.DECIMAL, 2950: Kind.STRING,
    3802: Kind.STRING,
}  # fmt: skip
_UUID = 2950
_TABLES = """
SELECT n.nspname, c.relname, c.relkind::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
AND (CAST(:schema AS text) IS NULL OR n.nspname LIKE :schema) AND (CAST(:catalog AS text) IS NULL OR current_database() LIKE :catalog)
ORDER BY 1, 2
"""
_FACTS = """
SELECT a.attname, NOT a.attnotnull, pg_catalog.pg_get_expr(d.adbin, d.adrelid), a.attidentity <> ''
FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = to_regclass(:table) AND a.attnum > 0 AND NOT a.attisdropped
"""


class PostgresqlSource(SourceDialect):
    """Reads PostgreSQL."""

    NOW: ClassVar[str] = "SELECT clock_timestamp()"

    def __init__(self) -> None:
        self._names: dict[int, tuple[str, bool]] = {}

    def prepare(self, connection: Connection, *, timeout_ms: int) -> None:
        from psycopg.types.string import TextLoader

        driver: Any = connection.connection.driver_connection
        driver.prepare_threshold = None  # a prepared SELECT * breaks when the table gets another column
        for name in ("json", "jsonb", "xml"):
            driver.adapters.register_loader(name, TextLoader)
        connection.execute(text("SET TIME ZONE 'UTC'"))
        connection.execute(text(f"SET statement_timeout = {timeout_ms}"))
        connection.commit()

    def tables(self, connection: Connection, catalog: str | None, schema: str | None) -> list[tuple[TableId, str]]:
        rows = connection.execute(text(_TABLES), {"schema": schema, "catalog": catalog})
        return [(TableId(None, schema_name, name), _TYPES[kind]) for schema_name, name, kind in rows]

    def facts(self, connection: Connection, table: TableId) -> Mapping[str, ColumnFacts]:
        quoted = table.sql(lambda name: '"' + name.replace('"', '""') + '"')
        rows = connection.execute(text(_FACTS), {"table": quoted})
        return {
            name: ColumnFacts(nullable, default, identity or (default or "").startswith("nextval("))
            for name, nullable, default, identity in rows
        }

    def cursor(self, connection: Connection, name: str) -> Any:
        driver: Any = connection.connection.driver_connection
        return driver.cursor(name)

    def columns(self, connection: Connection, cursor: Any, table: TableId | None, sql: str) -> Sequence[Column]:
        return [self._column(connection, one) for one in cursor.description]

    def _column(self, connection: Connection, found: Any) -> Column:
        name, oid = str(found.name), int(found.type_code)
        if oid == _BIT:
            # JDBC's driver gives a single bit as a boolean.
            single = found.display_size in {None, 1}
            return Column(name, Kind.BOOLEAN if single else Kind.BYTES, "bit", decode=_is_set if single else _ascii)
        if oid in _KINDS:
            kind = _KINDS[oid]
            decode = _DECODE.get(oid)
            scale = found.scale if oid == _NUMERIC else found.precision if kind is Kind.TIMESTAMP else None
            precision = found.precision if oid == _NUMERIC else None
            in_utc = oid == _TIMESTAMPTZ
            return Column(name, kind, found.type_display, precision, scale, in_utc, decode)
        type_name, is_text = self._type(connection, oid)
        return Column(name, Kind.STRING if is_text else None, type_name)

    def _type(self, connection: Connection, oid: int) -> tuple[str, bool]:
        """The name of a type, and whether it is a text: enums are, and citext."""
        if oid not in self._names:
            statement = text("SELECT typname::text, typtype::text FROM pg_catalog.pg_type WHERE oid = :oid")
            row = connection.execute(statement, {"oid": oid}).one_or_none()
            name, kind = row if row is not None else (f"type {oid}", "")
            self._names[oid] = (name, kind == "e" or name == "citext")
        return self._names[oid]

    def time_argument(self, value: datetime, column: Column, zone: ZoneInfo) -> Any:
        return value if column.in_utc else super().time_argument(value, column, zone)

    def open_transactions(self, connection: Connection) -> frozenset[str] | None:
        # Each transaction that has written holds a lock on its own id; a snapshot would not tell the youngest ones.
        statement = "SELECT transactionid\\:\\:text FROM pg_catalog.pg_locks WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted"  # fmt: skip
        rows = connection.execute(text(statement))
        return frozenset(xid for (xid,) in rows)


def _is_set(value: str) -> bool:
    return value == "1"


def _ascii(value: str) -> bytes:
    return value.encode()


def _utc_time(value: Any) -> Any:
    """A time with a zone as one of UTC."""
    instant = datetime.combine(datetime(2000, 1, 2, tzinfo=timezone.utc).date(), value)
    return instant.astimezone(timezone.utc).time()


_DECODE: dict[int, Callable[[Any], Any]] = {_UUID: str, _VARBIT: _ascii, _TIMETZ: _utc_time}
