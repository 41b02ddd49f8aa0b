"""The tables as the database has them, and what is created or added."""

from __future__ import annotations

import logging
from contextlib import closing
from typing import Any

from sqlalchemy.engine import Connection

from penstock.connect.connectors.jdbc.connection import Database
from penstock.connect.connectors.jdbc.sink.dialects import Dialect
from penstock.connect.connectors.jdbc.sink.fields import Fields, SinkField
from penstock.connect.connectors.jdbc.sink.settings import (
    AUTO_CREATE,
    AUTO_EVOLVE,
    TABLE_TYPES,
    InsertMode,
    SinkSettings,
)
from penstock.connect.connectors.jdbc.sink.table_definition import TableDefinition
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.errors import ConnectError, RetriableError

log = logging.getLogger("penstock.connect")


class TableError(ConnectError):
    """A table is missing or is not what the records need."""


class Tables:
    """Knows tables, creates them and adds columns, as far as the settings allow.

    Args:
        database: Where they are.
        dialect: What the database speaks.
        settings: The sink's settings.
    """

    def __init__(self, database: Database, dialect: Dialect, settings: SinkSettings) -> None:
        self._database = database
        self._dialect = dialect
        self._settings = settings
        self._known: dict[TableId, TableDefinition] = {}

    def forget(self) -> None:
        """Look at the tables anew: somebody may have changed them."""
        self._known.clear()

    def ready(self, connection: Connection, table: TableId, fields: Fields, *, writes: bool) -> TableDefinition:
        """The table, with a column for every field.

        Args:
            connection: Without a transaction; what is created is committed.
            table: The table.
            fields: What is to be written.
            writes: Whether there are rows to write, not only ones to delete.

        Raises:
            TableError: It is missing or lacks something, and that may not or cannot be changed.
        """
        found = self._known.get(table) or self._look(connection, table)
        if found is None:
            found = self._create(connection, table, fields, writes=writes)
        missing = found.missing(fields.ordered)
        if missing:
            found = self._evolve(connection, table, found, missing)
        self._check_key(table, found, fields)
        self._known[table] = found
        return found

    def _look(self, connection: Connection, table: TableId) -> TableDefinition | None:
        name, schema = self._stored(table.table), self._stored(table.namespace)
        with self._database.errors(f"looking at table {table}"):
            try:
                found = self._dialect.definition(connection, name, schema)
            finally:
                connection.rollback()
        kind = "VIEW" if found is not None and found.is_view else "TABLE"
        if found is not None and kind not in self._settings.table_types:
            raise TableError(
                f"{table} is a {kind.lower()}, but {TABLE_TYPES} allows only {', '.join(self._settings.table_types)}",
                hint=f"Add {kind} to {TABLE_TYPES}.",
            )
        return found

    def _stored(self, name: Any) -> Any:
        """A name as the database keeps it: PostgreSQL makes names small that are not quoted."""
        if name is None or self._dialect.quote(name) != name or self._database.backend != "postgresql":
            return name
        return name.lower()

    def _create(self, connection: Connection, table: TableId, fields: Fields, *, writes: bool) -> TableDefinition:
        if not self._settings.auto_create:
            raise TableError(
                f"Table {table} is missing and auto-creation is disabled",
                hint=f"Create it, or set {AUTO_CREATE}=true.",
            )
        if not writes:
            raise TableError(
                f"Table {table} is missing, and a record that deletes does not say which columns it has",
                hint="Create the table, or let a record with a value come first.",
            )
        self._change(connection, table, self._dialect.create_table(table, fields.ordered))
        found = self._look(connection, table)
        if found is None:
            raise TableError(
                f"Table {table} was created, but cannot be found",
                hint="May the user see it, and is its schema the one new tables go to?",
            )
        return found

    def _evolve(
        self, connection: Connection, table: TableId, found: TableDefinition, missing: list[SinkField]
    ) -> TableDefinition:
        names = ", ".join(field.name for field in missing)
        if found.is_view:
            raise TableError(f"View {table} lacks columns, and views are not altered: {names}")
        if not self._settings.auto_evolve:
            # Another task, or a person, may have added them since we looked.
            again = self._look(connection, table)
            if again is not None and not again.missing(missing):
                return again
            raise TableError(
                f"Table {table} is missing fields and auto-evolution is disabled: {names}",
                hint=f"Add the columns, set {AUTO_EVOLVE}=true, or leave the fields out with fields.whitelist.",
            )
        for field in missing:
            if not field.schema.optional and field.schema.default is None:
                raise TableError(
                    f"Cannot ALTER TABLE {table} to add missing field {field.name}, as the field is not optional and does "
                    "not have a default value",
                    hint="Add the column by hand.",
                )
        for field in missing:
            self._change(connection, table, self._dialect.add_column(table, field), field.name)
        again = self._look(connection, table)
        if again is None or again.missing(missing):
            raise RetriableError(f"Table {table} still lacks columns that were added: {names}")
        return again

    def _change(self, connection: Connection, table: TableId, statement: str, column: str | None = None) -> None:
        """Run a statement about a table, unless another task was faster."""
        log.info("%s", " ".join(statement.split()))
        try:
            with self._database.errors(f"changing table {table} ({' '.join(statement.split())})"):
                try:
                    with connection.begin(), closing(connection.connection.cursor()) as cursor:
                        cursor.execute(statement)
                except BaseException:
                    connection.rollback()
                    raise
        except RetriableError:
            raise
        except ConnectError as error:
            found = self._look(connection, table)
            if found is None or (column is not None and found.column(column) is None):
                # Not the records' fault: the database may be read-only for a while.
                raise RetriableError(error.message, hint=error.hint) from error

    def _check_key(self, table: TableId, found: TableDefinition, fields: Fields) -> None:
        """An upsert into a table without such a key would add rows for ever, in some databases without a word."""
        if self._settings.insert_mode is not InsertMode.UPSERT or found.is_view:
            return
        keys = frozenset(found.column(field.name) or field.name for field in fields.keys)
        if keys not in found.unique:
            shown = " and ".join(f"({', '.join(sorted(one))})" for one in found.unique) or "none"
            raise TableError(
                f"An upsert into table {table} needs a primary key or unique constraint on ({', '.join(sorted(keys))}); "
                f"it has {shown}",
                hint="Make pk.fields fit the table's key, or add the constraint.",
            )
