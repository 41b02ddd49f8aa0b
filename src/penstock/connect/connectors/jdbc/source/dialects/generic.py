"""Any other database SQLAlchemy has a driver for: types as its inspector tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, func, inspect, select, types

from penstock.connect.connectors.jdbc.source.column import Column, ColumnFacts, Kind
from penstock.connect.connectors.jdbc.source.dialects.dialect import SourceDialect
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.errors import ConnectError

# The first that fits; subclasses come before their bases.
_KINDS: tuple[tuple[type[types.TypeEngine[Any]], Kind], ...] = (
    (types.Boolean, Kind.BOOLEAN), (types.SmallInteger, Kind.INT16), (types.BigInteger, Kind.INT64),
    (types.Integer, Kind.INT32), (types.Float, Kind.FLOAT64), (types.Numeric, Kind.DECIMAL), (types.Date, Kind.DATE),
    (types.DateTime, Kind.TIMESTAMP), (types.Time, Kind.TIME), (types.LargeBinary, Kind.BYTES), (types.String, Kind.STRING),
)  # fmt: skip


class GenericSource(SourceDialect):
    """Reads tables of databases nothing else is known of. Queries need bulk mode's `SELECT` of one table: use a view."""

    NOW: ClassVar[str] = ""

    def tables(self, connection: Connection, catalog: str | None, schema: str | None) -> list[tuple[TableId, str]]:
        found = inspect(connection)
        namespace = schema or found.default_schema_name
        tables = [(TableId(None, namespace, name), "TABLE") for name in found.get_table_names(namespace)]
        return [*tables, *((TableId(None, namespace, name), "VIEW") for name in found.get_view_names(namespace))]

    def facts(self, connection: Connection, table: TableId) -> Mapping[str, ColumnFacts]:
        found = inspect(connection).get_columns(table.table, table.namespace)
        return {
            one["name"]: ColumnFacts(one["nullable"], None, one.get("autoincrement") is True or "identity" in one)
            for one in found
        }

    def cursor(self, connection: Connection, name: str) -> Any:
        driver: Any = connection.connection.driver_connection
        return driver.cursor()

    def columns(self, connection: Connection, cursor: Any, table: TableId | None, sql: str) -> Sequence[Column]:
        if table is None:
            raise ConnectError(
                f"The types of a query's columns are not known for {connection.dialect.name}",
                hint="Make it a view, and read that: table.types=VIEW.",
            )
        known = {one["name"]: one["type"] for one in inspect(connection).get_columns(table.table, table.namespace)}
        # Drivers may give names in upper case that the inspector gives in lower.
        lower = {name.lower(): kind for name, kind in known.items()}
        return [_column(str(one[0]), known.get(one[0], lower.get(str(one[0]).lower()))) for one in cursor.description]

    def now(self, connection: Connection, zone: ZoneInfo) -> datetime:
        found: datetime = connection.execute(select(func.current_timestamp())).scalar_one()
        return (found.replace(tzinfo=zone) if found.tzinfo is None else found).astimezone(timezone.utc)

    def limit(self, rows: str) -> str:
        return f"OFFSET 0 ROWS FETCH NEXT {rows} ROWS ONLY"


def _column(name: str, found: Any) -> Column:
    kind = next((kind for cls, kind in _KINDS if isinstance(found, cls)), None)
    precision, scale = getattr(found, "precision", None), getattr(found, "scale", None)
    in_utc = bool(getattr(found, "timezone", False))
    return Column(name, kind, str(found), precision if kind is Kind.DECIMAL else None, scale, in_utc)
