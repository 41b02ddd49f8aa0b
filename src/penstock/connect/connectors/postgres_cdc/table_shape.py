"""A table as records show it: which columns, in which schemas, with which key."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from penstock.connect.connectors.postgres_cdc.catalog import Catalog
from penstock.connect.connectors.postgres_cdc.column_types import ColumnType, column_type, optional
from penstock.connect.connectors.postgres_cdc.envelope import envelope_schema
from penstock.connect.connectors.postgres_cdc.pgoutput import UNCHANGED, Relation, Row
from penstock.connect.connectors.postgres_cdc.source_settings import SourceSettings
from penstock.connect.data import Schema, Struct, Type
from penstock.connect.data.schema import Field
from penstock.connect.errors import DataError

log = logging.getLogger("penstock.connect")


class TableShape:
    """A table at some time.

    Args:
        relation: What PostgreSQL says about it.
        catalog: Knows the rest.
        settings: The connector's.

    Attributes:
        relation: The table.
        topic: Where its changes go.
        key_schema: Schema of keys; None if it has no key.
        value_schema: Schema of rows.
        envelope: Schema of values.
    """

    def __init__(self, relation: Relation, catalog: Catalog, settings: SourceSettings) -> None:
        self.relation = relation
        self.topic = settings.topic(relation.schema, relation.table)
        self._unavailable = settings.handling.unavailable
        facts = catalog.table(relation.oid)
        names = [column.name for column in relation.columns]
        key = settings.key_columns(relation.schema, relation.table)
        if key is None:
            key = facts.primary_key
            if relation.identity == "d" or (relation.identity == "i" and not key):
                # These messages say what the key was at the time of the change.
                then = tuple(column.name for column in relation.columns if column.in_identity)
                key = key if set(key) == set(then) else then
        missing = [name for name in key if name not in names]
        if missing:
            raise DataError(
                f"The table {self} has no column {missing[0]}",
                hint=f"Its columns: {', '.join(names)}. Set message.key.columns.",
            )
        identity = {column.name for column in relation.columns if column.in_identity}
        if relation.identity != "f" and identity and not identity.issuperset(key):
            raise DataError(
                f"The key of {self} has columns that PostgreSQL does not send of deleted rows: {', '.join(key)}",
                hint=f"Change message.key.columns, or: ALTER TABLE {self} REPLICA IDENTITY FULL",
            )
        self._columns: list[tuple[int, str, ColumnType]] = []
        for place, column in enumerate(relation.columns):
            in_key = column.name in key
            if not in_key and not settings.tables.has_column(relation.schema, relation.table, column.name):
                continue
            pg = catalog.type(column.type_oid)
            of = None if pg is None else column_type(pg, column.typmod, settings.handling)
            if of is None:
                log.warning(
                    "%s: the column %s of %s is left out: there is nothing to send its type %s as",
                    settings.prefix,
                    column.name,
                    self,
                    pg.name if pg else column.type_oid,
                )
                continue
            required = column.name in facts.required
            self._columns.append((place, column.name, of if required else optional(of)))
        self._make_schemas(key)

    def _make_schemas(self, key: Sequence[str]) -> None:
        by_name = {name: (place, name, of) for place, name, of in self._columns}
        self._key = [by_name[name] for name in key if name in by_name]
        self.key_schema = _struct(f"{self.topic}.Key", self._key) if self._key else None
        self.value_schema = _struct(f"{self.topic}.Value", self._columns, is_optional=True)
        self.envelope = envelope_schema(self.topic, self.value_schema)

    def __str__(self) -> str:
        return f"{self.relation.schema}.{self.relation.table}"

    def key(self, row: Row) -> Struct | None:
        """The key of a row; None if the table has none."""
        if self.key_schema is None:
            return None
        return Struct.of(self.key_schema, [self._value(row, *column) for column in self._key])

    def value(self, row: Row) -> Struct:
        """A row."""
        return Struct.of(self.value_schema, [self._value(row, *column) for column in self._columns])

    def _value(self, row: Row, place: int, name: str, of: ColumnType) -> Any:
        text = row[place]
        if text is None:
            return of.fallback
        if text is UNCHANGED:
            return of.fallback if of.unavailable is None else of.unavailable
        try:
            return of.convert(text)
        except (DataError, ValueError, ArithmeticError) as error:
            what = error.message if isinstance(error, DataError) else f"cannot read {text[:80]!r}"
            hint = getattr(error, "hint", "") or "Leave the column out with column.exclude.list."
            raise DataError(f"Column {name} of {self}: {what}", hint=hint) from error


def _struct(name: str, columns: Sequence[tuple[int, str, ColumnType]], *, is_optional: bool = False) -> Schema:
    fields = tuple(Field(column, place, of.schema) for place, (_, column, of) in enumerate(columns))
    return Schema(Type.STRUCT, name=name, optional=is_optional, fields=fields)
