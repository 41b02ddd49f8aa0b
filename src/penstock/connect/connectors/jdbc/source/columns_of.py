"""Which columns tell what is new in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.connect.config.java_regex import compile_java
from penstock.connect.connectors.jdbc.source.column import Column, ColumnFacts, Kind
from penstock.connect.connectors.jdbc.source.dialects import is_time
from penstock.connect.connectors.jdbc.source.selection import Selection
from penstock.connect.connectors.jdbc.source.settings import (
    INCREMENTING_COLUMN,
    INCREMENTING_MAPPING,
    TIMESTAMP_COLUMNS,
    TIMESTAMP_MAPPING,
    VALIDATE_NON_NULL,
    mapping_of,
)
from penstock.connect.errors import ConnectError

_NUMBERS = {Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64}


class CriteriaColumns:
    """Finds the columns the settings name.

    Args:
        settings: The source's settings, parsed.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._number: str = settings[INCREMENTING_COLUMN]
        self._times: list[str] = settings[TIMESTAMP_COLUMNS]
        self._number_mapping = _compiled(INCREMENTING_MAPPING, settings)
        self._times_mapping = _compiled(TIMESTAMP_MAPPING, settings)
        self._checks_nulls: bool = settings[VALIDATE_NON_NULL]

    def number(self, selection: Selection, columns: Sequence[Column], facts: Mapping[str, ColumnFacts]) -> Column:
        """The incrementing column.

        Raises:
            ConnectError: There is none, or it cannot be one.
        """
        (name,) = _mapped(self._number_mapping, selection) or [self._number]
        if not name:
            numbered = [one for one in columns if one.auto_increment or facts.get(one.name, _NOTHING).auto_increment]
            if len(numbered) != 1:
                raise ConnectError(
                    f"No single column of {selection.name} is numbered by the database",
                    hint=f"Name the column in {INCREMENTING_COLUMN}.",
                )
            name = numbered[0].name
        column = _find(name, selection, columns, INCREMENTING_COLUMN)
        whole = column.kind is Kind.DECIMAL and column.scale in {0, None} and (column.precision or 0) <= 19
        if column.kind not in _NUMBERS and not whole:
            raise ConnectError(
                f"The incrementing column {name} of {selection.name} has the type {column.type_name}",
                hint="It must be a whole number of up to 64 bits.",
            )
        if self._checks_nulls and facts.get(column.name, _NOT_NULL).nullable:
            raise _nullable(selection, f"incrementing column {name}", "this column is nullable")
        return column

    def times(self, selection: Selection, columns: Sequence[Column], facts: Mapping[str, ColumnFacts]) -> list[Column]:
        """The time columns.

        Raises:
            ConnectError: There are none, or they cannot be such.
        """
        names = _mapped(self._times_mapping, selection) or self._times
        if not names:
            hint = f"Name them in {TIMESTAMP_COLUMNS} or {TIMESTAMP_MAPPING}."
            raise ConnectError(f"No time columns are set for {selection.name}", hint=hint)
        found = [_find(name, selection, columns, TIMESTAMP_COLUMNS) for name in names]
        for column in found:
            # Columns of queries on SQLite have no type; texts are taken for times there.
            if not is_time(column) and not (column.kind is Kind.STRING and column.type_name == "no declared type"):
                raise ConnectError(
                    f"The time column {column.name} of {selection.name} has the type {column.type_name}",
                    hint="It must be a timestamp, a datetime or a date.",
                )
        if self._checks_nulls and all(facts.get(column.name, _NOT_NULL).nullable for column in found):
            raise _nullable(selection, f"timestamp columns {', '.join(names)}", "all of them are nullable")
        return found


_NOTHING, _NOT_NULL = ColumnFacts(), ColumnFacts(nullable=False)


def _compiled(key: str, settings: Mapping[str, Any]) -> list[tuple[Any, list[str]]]:
    return [(compile_java(table), names) for table, names in mapping_of(key, settings[key])]


def _mapped(mapping: list[tuple[Any, list[str]]], selection: Selection) -> list[str]:
    if selection.table is None:
        return []
    full = str(selection.table)
    return next((names for pattern, names in mapping if pattern.fullmatch(full)), [])


def _find(name: str, selection: Selection, columns: Sequence[Column], key: str) -> Column:
    exact = [column for column in columns if column.name == name]
    for column in exact or [column for column in columns if column.name.lower() == name.lower()]:
        return column
    known = ", ".join(column.name for column in columns)
    raise ConnectError(f"{selection.name} has no column {name} ({key})", hint=f"Its columns: {known}.")


def _nullable(selection: Selection, what: str, why: str) -> ConnectError:
    return ConnectError(
        f"Cannot make incremental queries using {what} on {selection.name} because {why}",
        hint=f"Declare it NOT NULL, or set {VALIDATE_NON_NULL}=false: rows with null are not read then.",
    )
