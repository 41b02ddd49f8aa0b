"""SQLite."""

from __future__ import annotations

from typing import Any, ClassVar

from penstock.connect.connectors.jdbc.sink import values
from penstock.connect.connectors.jdbc.sink.dialects.conflict import OnConflictDialect
from penstock.connect.connectors.jdbc.sink.kinds import Kind
from penstock.connect.connectors.jdbc.sink.values import Convert
from penstock.connect.data import Schema

_TIMES = {Kind.DATE, Kind.TIME, Kind.TIMESTAMP, Kind.FINE_TIMESTAMP}


class SqliteDialect(OnConflictDialect):
    """INSERT .. ON CONFLICT, which keeps columns that INSERT OR REPLACE would empty. Dates and times are ISO texts."""

    TYPES: ClassVar[dict[Kind, str]] = {
        **dict.fromkeys([Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64, Kind.BOOLEAN], "INTEGER"),
        **dict.fromkeys([Kind.FLOAT32, Kind.FLOAT64], "REAL"),
        **dict.fromkeys([Kind.STRING, Kind.JSON, Kind.ARRAY, Kind.NESTED], "TEXT"),
        **dict.fromkeys([Kind.DECIMAL, *_TIMES], "NUMERIC"),
        Kind.BYTES: "BLOB",
    }

    ROUNDS: ClassVar[bool] = False
    IGNORES_CASE: ClassVar[bool] = True

    def value_converter(self, kind: Kind, schema: Schema, column: str) -> Convert | None:
        if kind in {Kind.FLOAT32, Kind.FLOAT64}:
            return values.finite(column, infinity=True)  # NaN would become NULL
        if kind is Kind.DECIMAL:
            return str
        found = super().value_converter(kind, schema, column)
        return values.iso(found) if kind in _TIMES and found is not None else found

    def begin(self, cursor: Any) -> None:
        cursor.execute("BEGIN")
