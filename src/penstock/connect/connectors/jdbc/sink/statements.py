"""The statements for one table and one pair of schemas."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.connect.connectors.jdbc.sink.batches import Batch
from penstock.connect.connectors.jdbc.sink.bulk import Bulk, Insert
from penstock.connect.connectors.jdbc.sink.dialects import Dialect
from penstock.connect.connectors.jdbc.sink.fields import SinkField
from penstock.connect.connectors.jdbc.sink.rows import RowReader
from penstock.connect.connectors.jdbc.sink.settings import InsertMode, PkMode, SinkSettings
from penstock.connect.connectors.jdbc.sink.table_definition import TableDefinition
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.errors import DataError

log = logging.getLogger("penstock.connect")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, and what reads its rows from records.

    Attributes:
        sql: The statement, for one row.
        reader: Reads rows.
        bulk: A faster way to run it for many rows.
        finds_rows: Whether each row is expected to change one that is there.
    """

    sql: str
    reader: RowReader
    bulk: Bulk | None = None
    finds_rows: bool = False


class Statements:
    """Makes statements.

    Args:
        dialect: What the database speaks.
        settings: The sink's settings.
    """

    def __init__(self, dialect: Dialect, settings: SinkSettings) -> None:
        self._dialect = dialect
        self._settings = settings
        self._left_out: set[tuple[TableId, str]] = set()

    def write(self, batch: Batch, table: TableDefinition) -> Statement:
        """The statement that writes records.

        Raises:
            DataError: The records have nothing to write.
        """
        keys, others = batch.fields.keys, self._others(batch, table)
        key_names, other_names = _names(keys, table), _names(others, table)
        mode = self._settings.insert_mode
        if mode is InsertMode.UPDATE:
            if not others:
                raise DataError(f"An update of table {batch.table} needs fields besides those of the primary key")
            sql = self._dialect.update(batch.table, key_names, other_names)
            return self._statement(sql, (*others, *keys), table, finds_rows=True)
        insert = self._dialect.insert(batch.table, key_names, other_names)
        if mode is InsertMode.UPSERT:
            sql = self._dialect.upsert(batch.table, key_names, other_names)
        else:
            sql = self._insert_new(batch, table, key_names, other_names) or insert
        bulk = None
        if sql.startswith(insert) and not table.is_view and all(field.schema.type.is_primitive for field in keys):
            bulk = self._dialect.bulk_insert(Insert(batch.table, key_names, other_names, sql[len(insert) :].strip()))
        return self._statement(sql, (*keys, *others), table, bulk=bulk)

    def _others(self, batch: Batch, table: TableDefinition) -> tuple[SinkField, ...]:
        """The fields besides the key, each with a column of its own: of two that differ in case the column's own name counts.

        Raises:
            DataError: None of them has it, or the table could have a column for each.
        """
        keys, others = batch.fields.keys, batch.fields.others
        names = _names((*keys, *others), table)
        if len(set(names)) == len(names):
            return others
        columns = dict(zip(names, keys, strict=False))
        for field in sorted(others, key=lambda field: field.name not in table.integer):
            (column,) = _names([field], table)
            other = columns.setdefault(column, field)
            if other is field:
                continue
            if not self._dialect.IGNORES_CASE or other.name != column:
                raise DataError(
                    f"The fields {other.name} and {field.name} both belong to column {column} of table {batch.table}",
                    hint="Rename one, leave it out with fields.whitelist, or add a column of just its name.",
                )
            if (batch.table, field.name) not in self._left_out:
                self._left_out.add((batch.table, field.name))
                log.warning("Table %s: field %s is not written, column %s is of field %s", batch.table, field.name, column, column)  # fmt: skip
        kept = {id(field) for field in columns.values()}
        return tuple(field for field in others if id(field) in kept)

    def _insert_new(
        self, batch: Batch, table: TableDefinition, keys: Sequence[str], others: Sequence[str]
    ) -> str | None:
        # Records are known by topic, partition and offset: one that is there already was written before.
        if self._settings.pk_mode is PkMode.KAFKA and set(table.unique) == {frozenset(keys)}:
            return self._dialect.insert_new(batch.table, keys, others)
        return None

    def delete(self, batch: Batch, table: TableDefinition) -> Statement:
        """The statement that deletes the rows of keys."""
        keys = batch.fields.keys
        names = _names(keys, table)
        bulk = self._dialect.bulk_delete(batch.table, names)
        return self._statement(self._dialect.delete(batch.table, names), keys, table, bulk=bulk)

    def _statement(
        self,
        sql: str,
        fields: Sequence[SinkField],
        table: TableDefinition,
        *,
        bulk: Bulk | None = None,
        finds_rows: bool = False,
    ) -> Statement:
        columns = _names(fields, table)
        converters = [
            self._dialect.converter(field, column, integer_column=table.integer[column])
            for field, column in zip(fields, columns, strict=True)
        ]
        reader = RowReader(fields, converters, replace_null=self._settings.replace_null)
        return Statement(self._dialect.finished(sql), reader, bulk, finds_rows)


def _names(fields: Sequence[SinkField], table: TableDefinition) -> list[str]:
    return [table.column(field.name) or field.name for field in fields]
