"""What the server's catalog says about tables and types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from penstock.connect.connectors.postgres_cdc.column_types import PgType
from penstock.connect.connectors.postgres_cdc.connections import Database

if TYPE_CHECKING:
    import psycopg

_TYPE = """
    SELECT t.typname, t.typtype, t.typbasetype, t.typtypmod,
           CASE WHEN t.typcategory = 'A' AND t.typsubscript = 'array_subscript_handler'::regproc THEN t.typelem ELSE 0 END,
           ARRAY(SELECT enumlabel::text FROM pg_enum WHERE enumtypid = t.oid ORDER BY enumsortorder)
    FROM pg_type t WHERE t.oid = %s
"""
_COLUMNS = """
    SELECT a.attname, a.attnotnull, coalesce(array_position(i.indkey::int2[], a.attnum), -1)
    FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
    WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped
"""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What messages do not say about a table.

    Attributes:
        required: Columns that cannot be null.
        primary_key: Columns of the primary key, in its order.
    """

    required: frozenset[str]
    primary_key: tuple[str, ...]


class Catalog:
    """Looks things up, types only once.

    Args:
        database: Where.
        connection: Gives a connection to ask on.
    """

    def __init__(self, database: Database, connection: Callable[[], psycopg.Connection[tuple[Any, ...]]]) -> None:
        self._database = database
        self._connection = connection
        self._types: dict[int, PgType | None] = {}

    def table(self, oid: int) -> TableFacts:
        """What is known about a table now; nothing if it is gone."""
        with self._database.errors("reading the catalog"):
            rows = self._connection().execute(_COLUMNS, (oid,)).fetchall()
        key = sorted((place, name) for name, _, place in rows if place >= 0)
        return TableFacts(frozenset(name for name, required, _ in rows if required), tuple(name for _, name in key))

    def type(self, oid: int) -> PgType | None:
        """A type by its number; None if it is gone."""
        if oid not in self._types:
            self._types[oid] = self._look_up(oid)
        return self._types[oid]

    def _look_up(self, oid: int) -> PgType | None:
        with self._database.errors("reading the catalog"):
            row = self._connection().execute(_TYPE, (oid,)).fetchone()
        if row is None:
            return None
        name, kind, base, typmod, element, labels = row
        if kind == "d":
            below = self.type(base)
            return None if below is None else replace(below, typmod=typmod)
        if element:
            of = self.type(element)
            return None if of is None else PgType(name, kind, element=of)
        return PgType(name, kind, labels=tuple(labels))

    def forget(self) -> None:
        """Look everything up again: an enum may have new labels."""
        self._types.clear()
