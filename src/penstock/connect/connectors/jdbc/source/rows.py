"""From rows of a driver to structs. What has to be done is found out once for a result, not once for a value."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.connect.connectors.jdbc.source.column import Column, ColumnFacts
from penstock.connect.connectors.jdbc.source.fields import Convert, FieldRules, field_of
from penstock.connect.data import Field, Schema, Struct, Type
from penstock.connect.errors import DataError, shown

log = logging.getLogger("penstock.connect")


class RowReader:
    """Makes structs of the rows of one result.

    Args:
        name: Name of the schema, and of the table in messages.
        columns: The result's columns.
        facts: What the table knows of them.
        rules: What values become.
    """

    def __init__(
        self, name: str | None, columns: Sequence[Column], facts: Mapping[str, ColumnFacts], rules: FieldRules
    ) -> None:
        self._where = name or "the query"
        fields: list[Field] = []
        self._steps: list[tuple[int, str, Convert]] = []
        self._kept: list[int] = []
        for index, column in enumerate(columns):
            made = field_of(column, facts.get(column.name, ColumnFacts()), rules)
            if made is None:
                log.warning(
                    "Column %s of %s is left out of the records: there is no type for %s",
                    column.name, self._where, column.type_name,
                )  # fmt: skip
                continue
            schema, convert = made
            if any(field.name == column.name for field in fields):
                raise DataError(
                    f"{self._where} has two columns {column.name}",
                    hint="Give one another name: SELECT a.id AS other_id.",
                )
            if convert is not None:
                self._steps.append((len(fields), column.name, convert))
            self._kept.append(index)
            fields.append(Field(column.name, len(fields), schema))
        self._all = len(self._kept) == len(columns)
        self.schema = Schema(Type.STRUCT, name=name, fields=tuple(fields))

    def structs(self, rows: Sequence[Sequence[Any]]) -> list[Struct]:
        """The rows as structs."""
        if not self._all:
            kept = self._kept
            rows = [[row[index] for index in kept] for row in rows]
        if not self._steps:
            return self._made(rows)
        columns: list[Any] = list(zip(*rows, strict=True))
        for index, name, convert in self._steps:
            try:
                columns[index] = [None if value is None else convert(value) for value in columns[index]]
            except Exception as error:
                raise self._bad_value(name, convert, columns[index]) from error
        return self._made(zip(*columns, strict=True))

    def _made(self, rows: Iterable[Sequence[Any]]) -> list[Struct]:
        # What Struct.of does, without a call for each row.
        schema, new, structs = self.schema, Struct.__new__, []
        for row in rows:
            struct = new(Struct)
            struct.schema = schema
            struct.values = list(row)
            structs.append(struct)
        return structs

    def _bad_value(self, name: str, convert: Convert, values: Sequence[Any]) -> DataError:
        """Which value it was: found by trying them again."""
        for value in values:
            try:
                if value is not None:
                    convert(value)
            except Exception as error:  # noqa: BLE001 - it is the error that is looked for
                hint = getattr(error, "hint", "")
                return DataError(f"Column {name} of {self._where}: {shown(repr(value))}: {error}", hint=hint)
        return DataError(f"Column {name} of {self._where} cannot be read")
