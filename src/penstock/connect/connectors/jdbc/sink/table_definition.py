"""A table as the database describes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import inspect, types
from sqlalchemy.engine import Connection, Inspector
from sqlalchemy.exc import NoSuchTableError

from penstock.connect.connectors.jdbc.sink.fields import SinkField


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table.

    Attributes:
        integer: For each column whether it holds whole numbers only.
        unique: Sets of columns no two rows have the same values of; the primary key first.
        is_view: Whether it is a view.
    """

    integer: dict[str, bool]
    unique: tuple[frozenset[str], ...]
    is_view: bool

    def column(self, name: str) -> str | None:
        """The column for a field: of the same name, or else of one that differs in case only."""
        if name in self.integer:
            return name
        return next((known for known in self.integer if known.lower() == name.lower()), None)

    def is_told_by(self, keys: Iterable[str]) -> bool:
        """Whether rows with different keys cannot be in each other's way, as far as it is known."""
        told = frozenset(keys)
        return not self.is_view and all(told <= columns for columns in self.unique)

    def missing(self, fields: Iterable[SinkField]) -> list[SinkField]:
        """Fields without a column."""
        return [field for field in fields if self.column(field.name) is None]


def reflected(connection: Connection, name: str, schema: str | None) -> TableDefinition | None:
    """What SQLAlchemy finds out about a table; None if it is not there."""
    inspector: Inspector = inspect(connection)
    try:
        columns = inspector.get_columns(name, schema)
    except NoSuchTableError:
        return None
    is_view = name in inspector.get_view_names(schema)
    return TableDefinition(
        {column["name"]: isinstance(column["type"], types.Integer) for column in columns},
        () if is_view else tuple(_unique(inspector, name, schema)),
        is_view,
    )


def _unique(inspector: Inspector, name: str, schema: str | None) -> Iterable[frozenset[str]]:
    key = inspector.get_pk_constraint(name, schema)["constrained_columns"]
    if key:
        yield frozenset(key)
    for constraint in inspector.get_unique_constraints(name, schema):
        yield frozenset(constraint["column_names"])
    for index in inspector.get_indexes(name, schema):
        # Conditions are texts, or clauses of SQLAlchemy, which are neither true nor false. An expression has no column.
        options = index.get("dialect_options", {})
        partial = any(option.endswith("_where") and value is not None for option, value in options.items())
        columns = [column for column in index["column_names"] if column is not None]
        if index["unique"] and not partial and len(columns) == len(index["column_names"]):
            yield frozenset(columns)
