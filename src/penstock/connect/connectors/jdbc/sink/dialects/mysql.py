"""MySQL and MariaDB."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, ClassVar

from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from penstock.connect.connectors.jdbc.sink import values
from penstock.connect.connectors.jdbc.sink.bulk import Bulk, Insert
from penstock.connect.connectors.jdbc.sink.dialects.dialect import Dialect
from penstock.connect.connectors.jdbc.sink.dialects.mysql_rows import MultiRow
from penstock.connect.connectors.jdbc.sink.fields import SinkField
from penstock.connect.connectors.jdbc.sink.kinds import Kind, column_kind
from penstock.connect.connectors.jdbc.sink.table_definition import TableDefinition
from penstock.connect.connectors.jdbc.sink.values import Convert
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.data import Schema
from penstock.connect.data.logical import scale_of

log = logging.getLogger("penstock.connect")

_KEY_TYPES = {Kind.STRING: "VARCHAR(255)", Kind.BYTES: "VARBINARY(255)", Kind.JSON: "VARCHAR(255)"}
_WHOLE = {"tinyint", "smallint", "mediumint", "int", "bigint"}
_SCALE, _MARIADB_SCALE = 30, 38  # the most digits after the point
_EXPRESSION_DEFAULTS = {Kind.STRING, Kind.JSON, Kind.ARRAY, Kind.NESTED}


class MySqlDialect(Dialect):
    """INSERT .. ON DUPLICATE KEY UPDATE."""

    TYPES: ClassVar[dict[Kind, str]] = {
        Kind.INT8: "TINYINT",
        Kind.INT16: "SMALLINT",
        Kind.INT32: "INT",
        Kind.INT64: "BIGINT",
        Kind.FLOAT32: "FLOAT",
        Kind.FLOAT64: "DOUBLE",
        Kind.BOOLEAN: "TINYINT",
        Kind.STRING: "TEXT",
        Kind.BYTES: "VARBINARY(1024)",
        Kind.DATE: "DATE",
        Kind.TIME: "TIME(3)",
        Kind.TIMESTAMP: "DATETIME(3)",
        Kind.FINE_TIMESTAMP: "DATETIME(6)",
        Kind.JSON: "JSON",
        Kind.ARRAY: "JSON",
        Kind.NESTED: "JSON",
    }
    IGNORES_CASE: ClassVar[bool] = True

    def column_type(self, field: SinkField) -> str:
        kind = column_kind(field, self.settings)
        if kind is Kind.DECIMAL:
            scale = scale_of(field.schema)
            return f"DECIMAL(65,{scale if self._has_scale(scale) else _SCALE})"
        if field.is_key and kind in _KEY_TYPES:
            return _KEY_TYPES[kind]  # a TEXT cannot be a key
        return super().column_type(field)

    def _has_scale(self, scale: int) -> bool:
        """Whether a column can have so many digits after the point."""
        maria = getattr(self.database.engine.dialect, "is_mariadb", False)
        return scale <= (_MARIADB_SCALE if maria else _SCALE)

    def value_converter(self, kind: Kind, schema: Schema, column: str) -> Convert | None:
        if kind is Kind.DECIMAL and not self._has_scale(scale_of(schema)):
            return values.fraction(column, _SCALE)
        if kind in {Kind.FLOAT32, Kind.FLOAT64}:
            return values.finite(column, infinity=False)
        return super().value_converter(kind, schema, column)

    def definition(self, connection: Connection, name: str, schema: str | None) -> TableDefinition | None:
        # SQLAlchemy reads what SHOW CREATE TABLE prints, which some defaults and names make unreadable.
        def rows(what: str, table: str) -> list[Any]:
            where = "table_schema = COALESCE(%s, DATABASE()) AND table_name = %s"
            statement = f"SELECT {what} FROM information_schema.{table} WHERE {where}"  # noqa: S608 - our own texts
            return list(connection.exec_driver_sql(statement, (schema, name)))

        kinds = rows("table_type", "tables")
        if not kinds:
            return None
        unique: dict[str, set[str]] = {}
        for index, column, repeats in rows("index_name, column_name, non_unique", "statistics"):
            if not repeats:
                unique.setdefault(index, set()).add(column)
        columns = rows("column_name, data_type", "columns")
        return TableDefinition(
            {column: kind.lower() in _WHOLE for column, kind in columns},
            tuple(frozenset(found) for found in unique.values()),
            kinds[0][0] == "VIEW",
        )

    def literal(self, field: SinkField, value: object) -> str:
        found = super().literal(field, value)
        return f"({found})" if column_kind(field, self.settings) in _EXPRESSION_DEFAULTS else found

    def text(self, value: str) -> str:
        return super().text(value.replace("\\", "\\\\"))

    def insert_new(self, table: TableId, keys: Sequence[str], others: Sequence[str]) -> str | None:
        return f"{self.insert(table, keys, others)} {self._on_duplicate(keys[:1])}"

    def upsert(self, table: TableId, keys: Sequence[str], others: Sequence[str]) -> str:
        return f"{self.insert(table, keys, others)} {self._on_duplicate(others or keys)}"

    def _on_duplicate(self, names: Sequence[str]) -> str:
        changes = ", ".join(f"{self.quote(name)} = VALUES({self.quote(name)})" for name in names)
        return f"ON DUPLICATE KEY UPDATE {changes}"

    def bulk_insert(self, insert: Insert) -> Bulk | None:
        if self.database.engine.driver != "pymysql":
            return None
        begin = f"INSERT INTO {self.table(insert.table)} ({self.names(insert.columns)}) VALUES "  # noqa: S608 - names are quoted
        return MultiRow(begin, f" {insert.tail}")

    def bulk_delete(self, table: TableId, keys: Sequence[str]) -> Bulk | None:
        if self.database.engine.driver != "pymysql":
            return None
        begin = f"DELETE FROM {self.table(table)} WHERE ({self.names(keys)}) IN ("  # noqa: S608 - names are quoted
        return MultiRow(begin, ")", single=len(keys) == 1)

    def prepare(self, connection: Connection) -> None:
        # A server that is not strict cuts and changes values that do not fit, and says nothing.
        connection.exec_driver_sql("SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')")
        zone = str(self.database.zone)
        try:
            connection.exec_driver_sql("SET SESSION time_zone = %s", ("+00:00" if zone == "UTC" else zone,))
        except DBAPIError:
            log.warning(
                "%s does not know the time zone %s, so that TIMESTAMP columns are written in the server's own; DATETIME "
                "columns are not concerned. mysql_tzinfo_to_sql loads time zones.",
                self.database.where,
                zone,
            )
        connection.commit()
