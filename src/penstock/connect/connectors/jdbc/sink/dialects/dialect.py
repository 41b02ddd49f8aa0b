"""What a kind of database wants its statements to be: types, quotes, defaults, and how rows are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy import types
from sqlalchemy.engine import Connection

from penstock.connect.connectors.jdbc.connection import Database
from penstock.connect.connectors.jdbc.sink import values
from penstock.connect.connectors.jdbc.sink.bulk import Bulk, Insert
from penstock.connect.connectors.jdbc.sink.fields import SinkField
from penstock.connect.connectors.jdbc.sink.kinds import Kind, column_kind
from penstock.connect.connectors.jdbc.sink.settings import SinkSettings
from penstock.connect.connectors.jdbc.sink.table_definition import TableDefinition, reflected
from penstock.connect.connectors.jdbc.sink.values import Convert
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.data import Schema
from penstock.connect.data.logical import scale_of
from penstock.connect.errors import ConnectError

Rows = Sequence[Sequence[Any]]
MARK = "\0"
"""Stands for a value in a statement until the driver's own sign takes its place."""
_STYLES = {"qmark": "?", "format": "%s", "pyformat": "%s"}
_KEY_LENGTH = 255


class Dialect:
    """Any database SQLAlchemy knows: types by SQLAlchemy, plain INSERT, UPDATE and DELETE.

    Args:
        database: Where it is.
        settings: The sink's settings.
    """

    TYPES: ClassVar[dict[Kind, str]] = {}
    ROUNDS: ClassVar[bool] = True  # what a column of whole numbers does to others
    IGNORES_CASE: ClassVar[bool] = False  # whether columns of a table must differ in more than case

    def __init__(self, database: Database, settings: SinkSettings) -> None:
        self.database = database
        self.settings = settings
        self._preparer = database.engine.dialect.identifier_preparer
        self._compiler = database.engine.dialect.type_compiler_instance
        self._paramstyle = database.engine.dialect.paramstyle

    # Names

    def quote(self, name: str) -> str:
        """A name for a statement. SQLAlchemy doubles percent signs besides, which is right only where there are values."""
        if self.database.quote(name) == name:
            return name
        begin, end = self._preparer.initial_quote, self._preparer.final_quote
        return f"{begin}{name.replace(end, end * 2)}{end}"

    def table(self, table: TableId) -> str:
        """A table for a statement."""
        return table.sql(self.quote)

    def names(self, names: Iterable[str]) -> str:
        """Columns for a statement."""
        return ", ".join(map(self.quote, names))

    def finished(self, statement: str) -> str:
        """A statement with the driver's own signs for values."""
        if self._paramstyle in {"numeric", "numeric_dollar", "named"}:
            first, *parts = statement.split(MARK)
            sign = "$" if self._paramstyle == "numeric_dollar" else ":"
            return first + "".join(f"{sign}{number}{part}" for number, part in enumerate(parts, 1))
        style = _STYLES[self._paramstyle]
        text = statement.replace("%", "%%") if style == "%s" else statement
        return text.replace(MARK, style)

    # Types and values

    def column_type(self, field: SinkField) -> str:
        """The type of a column that is created."""
        kind = column_kind(field, self.settings)
        return self.TYPES.get(kind) or self._compiler.process(_generic_type(kind, field))

    def converter(self, field: SinkField, column: str, *, integer_column: bool) -> Convert | None:
        """What makes a value of the field the driver's; None if it is that already.

        Args:
            field: The field.
            column: Name of the column, for messages.
            integer_column: Whether the column holds whole numbers only.
        """
        if integer_column and self.ROUNDS and not values.is_integral(field.schema):
            return values.whole(column)
        return self.value_converter(column_kind(field, self.settings), field.schema, column)

    def value_converter(self, kind: Kind, schema: Schema, column: str) -> Convert | None:
        """What makes a value of that kind the driver's."""
        if kind is Kind.TIMESTAMP:
            return values.local_timestamp(self.database.zone)
        if kind is Kind.FINE_TIMESTAMP:
            return values.fine_timestamp(self.database.zone, nanoseconds=self.settings.nanoseconds)
        if kind is Kind.DATE:
            return values.calendar_date(None if self.settings.utc_dates else self.database.zone)
        if kind is Kind.TIME:
            return values.time_of_day
        if kind in {Kind.NESTED, Kind.ARRAY}:
            return values.json_text(schema)
        return None

    def literal(self, field: SinkField, value: Any) -> str:
        """A default in a statement that creates a column."""
        convert = self.converter(field, field.name, integer_column=False)
        found = value if convert is None else convert(value)
        if isinstance(found, bool):
            return self.boolean(value=found)
        if isinstance(found, (int, float, Decimal)):
            return str(found)
        if isinstance(found, (bytes, bytearray, memoryview)):
            return self.binary(bytes(found).hex())
        if isinstance(found, datetime):
            return self.text(found.isoformat(sep=" "))
        if isinstance(found, (date, time)):
            return self.text(found.isoformat())
        return self.text(str(found))

    def boolean(self, *, value: bool) -> str:
        """A boolean in a statement."""
        return "1" if value else "0"

    def text(self, value: str) -> str:
        """A text in a statement."""
        return "'" + value.replace("'", "''") + "'"

    def binary(self, digits: str) -> str:
        """Bytes in a statement."""
        return f"X'{digits}'"

    # Tables

    def definition(self, connection: Connection, name: str, schema: str | None) -> TableDefinition | None:
        """What the database says about a table; None if it is not there."""
        return reflected(connection, name, schema)

    def create_table(self, table: TableId, fields: Sequence[SinkField]) -> str:
        """CREATE TABLE, with its primary key."""
        lines = [self.column(field) for field in fields]
        keys = [field.name for field in fields if field.is_key]
        if keys:
            lines.append(f"PRIMARY KEY ({self.names(keys)})")
        return f"CREATE TABLE {self.table(table)} (\n" + ",\n".join(lines) + ")"

    def add_column(self, table: TableId, field: SinkField) -> str:
        """ALTER TABLE that adds a column."""
        return f"ALTER TABLE {self.table(table)} ADD {self.column(field)}"

    def column(self, field: SinkField) -> str:
        """A column in such a statement: its default, or else whether it may be null."""
        begin = f"{self.quote(field.name)} {self.column_type(field)}"
        if field.is_key:
            return f"{begin} NOT NULL"
        if field.schema.default is not None:
            return f"{begin} DEFAULT {self.literal(field, field.schema.default)}"
        return f"{begin} NULL" if field.schema.optional else f"{begin} NOT NULL"

    # Statements about rows: values are in the order of keys, then others; for UPDATE of others, then keys.

    def insert(self, table: TableId, keys: Sequence[str], others: Sequence[str]) -> str:
        """INSERT."""
        columns = [*keys, *others]
        marks = ", ".join([MARK] * len(columns))
        return f"INSERT INTO {self.table(table)} ({self.names(columns)}) VALUES ({marks})"  # noqa: S608 - names are quoted

    def insert_new(self, table: TableId, keys: Sequence[str], others: Sequence[str]) -> str | None:
        """INSERT that leaves a row alone that has the same key; None where that cannot be said."""
        return None

    def upsert(self, table: TableId, keys: Sequence[str], others: Sequence[str]) -> str:
        """INSERT, or UPDATE of the row with the same key.

        Raises:
            ConnectError: The database has nothing like it that we know.
        """
        raise ConnectError(
            f"No upsert is known for {self.database.backend}",
            hint="Use insert.mode=insert or insert.mode=update.",
        )

    def update(self, table: TableId, keys: Sequence[str], others: Sequence[str]) -> str:
        """UPDATE of the row with that key."""
        changes = ", ".join(f"{self.quote(name)} = {MARK}" for name in others)
        return f"UPDATE {self.table(table)} SET {changes} WHERE {self._is_row(keys)}"  # noqa: S608 - names are quoted

    def delete(self, table: TableId, keys: Sequence[str]) -> str:
        """DELETE of the row with that key."""
        return f"DELETE FROM {self.table(table)} WHERE {self._is_row(keys)}"  # noqa: S608 - names are quoted

    def _is_row(self, keys: Sequence[str]) -> str:
        return " AND ".join(f"{self.quote(name)} = {MARK}" for name in keys)

    # Many rows at once: faster ways than the statements above, where there are some.

    def bulk_insert(self, insert: Insert) -> Bulk | None:
        """A fast way to run an INSERT for many rows."""
        return None

    def bulk_delete(self, table: TableId, keys: Sequence[str]) -> Bulk | None:
        """A fast way to delete the rows of many keys."""
        return None

    def gives_up_bulk(self, error: Exception) -> bool:
        """Whether the fast way cannot be gone here, but the other can."""
        return False

    # Sessions

    def prepare(self, connection: Connection) -> None:
        """Set what a session needs to have."""

    def begin(self, cursor: Any) -> None:
        """Begin a transaction, where the driver does not do that by itself before a savepoint."""

    def execute(self, cursor: Any, statement: str, rows: Rows) -> int:
        """Run a statement for each row; how many rows it changed, -1 if that is not known."""
        cursor.executemany(statement, rows)
        return int(cursor.rowcount)


def _generic_type(kind: Kind, field: SinkField) -> types.TypeEngine[Any]:
    if kind is Kind.DECIMAL:
        return types.Numeric(38, scale_of(field.schema))
    if kind is Kind.STRING and field.is_key:
        return types.String(_KEY_LENGTH)
    return _GENERIC[kind]


_GENERIC: dict[Kind, types.TypeEngine[Any]] = {
    Kind.INT8: types.SmallInteger(),
    Kind.INT16: types.SmallInteger(),
    Kind.INT32: types.Integer(),
    Kind.INT64: types.BigInteger(),
    Kind.FLOAT32: types.Float(),
    Kind.FLOAT64: types.Double(),
    Kind.BOOLEAN: types.Boolean(),
    Kind.STRING: types.Text(),
    Kind.BYTES: types.LargeBinary(),
    Kind.DATE: types.Date(),
    Kind.TIME: types.Time(),
    Kind.TIMESTAMP: types.DateTime(),
    Kind.FINE_TIMESTAMP: types.DateTime(),
    Kind.JSON: types.Text(),
    Kind.ARRAY: types.Text(),
    Kind.NESTED: types.Text(),
}
