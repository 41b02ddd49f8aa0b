"""PostgreSQL, and what speaks its language."""

from __future__ import annotations

from typing import ClassVar

from sqlalchemy.engine import Connection

from penstock.connect.connectors.jdbc.sink import values
from penstock.connect.connectors.jdbc.sink.bulk import Bulk, Insert
from penstock.connect.connectors.jdbc.sink.dialects.conflict import OnConflictDialect
from penstock.connect.connectors.jdbc.sink.dialects.postgresql_copy import GIVE_UP_STATES, CopyAndMerge, CopyRows
from penstock.connect.connectors.jdbc.sink.fields import SinkField
from penstock.connect.connectors.jdbc.sink.kinds import Kind, column_kind, kind_of
from penstock.connect.connectors.jdbc.sink.values import Convert
from penstock.connect.data import Schema


class PostgresDialect(OnConflictDialect):
    """INSERT .. ON CONFLICT; arrays are arrays, structs and maps are JSONB."""

    TYPES: ClassVar[dict[Kind, str]] = {
        Kind.INT8: "SMALLINT",
        Kind.INT16: "SMALLINT",
        Kind.INT32: "INT",
        Kind.INT64: "BIGINT",
        Kind.FLOAT32: "REAL",
        Kind.FLOAT64: "DOUBLE PRECISION",
        Kind.BOOLEAN: "BOOLEAN",
        Kind.STRING: "TEXT",
        Kind.BYTES: "BYTEA",
        Kind.DECIMAL: "DECIMAL",
        Kind.DATE: "DATE",
        Kind.TIME: "TIME",
        Kind.TIMESTAMP: "TIMESTAMP",
        Kind.FINE_TIMESTAMP: "TIMESTAMP",
        Kind.JSON: "JSONB",
        Kind.NESTED: "JSONB",
    }

    def column_type(self, field: SinkField) -> str:
        if column_kind(field, self.settings) is Kind.ARRAY:
            assert field.schema.value_schema is not None
            return f"{self.TYPES[kind_of(field.schema.value_schema)]}[]"
        return super().column_type(field)

    def value_converter(self, kind: Kind, schema: Schema, column: str) -> Convert | None:
        if kind is Kind.ARRAY:
            assert schema.value_schema is not None
            element = schema.value_schema
            return values.elements(self.value_converter(kind_of(element), element, column))
        return super().value_converter(kind, schema, column)

    def boolean(self, *, value: bool) -> str:
        return "TRUE" if value else "FALSE"

    def binary(self, digits: str) -> str:
        return f"'\\x{digits}'"

    def bulk_insert(self, insert: Insert) -> Bulk | None:
        if self.database.engine.driver != "psycopg":
            return None
        return CopyAndMerge(insert, self.quote) if insert.tail else CopyRows(insert, self.quote)

    def gives_up_bulk(self, error: Exception) -> bool:
        return getattr(error, "sqlstate", None) in GIVE_UP_STATES

    def prepare(self, connection: Connection) -> None:
        # Columns with a time zone get wall-clock times of db.timezone, too.
        connection.exec_driver_sql("SELECT set_config('TimeZone', %s, false)", (str(self.database.zone),))
        connection.commit()
