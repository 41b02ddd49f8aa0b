"""INSERT .. ON CONFLICT, of PostgreSQL and SQLite."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.connect.connectors.jdbc.sink.dialects.dialect import Dialect
from penstock.connect.connectors.jdbc.table_id import TableId


class OnConflictDialect(Dialect):
    """Upserts that name the key, and leave columns alone that the record does not have."""

    def insert_new(self, table: TableId, keys: Sequence[str], others: Sequence[str]) -> str | None:
        return f"{self.insert(table, keys, others)} {self.on_conflict(keys, ())}"

    def upsert(self, table: TableId, keys: Sequence[str], others: Sequence[str]) -> str:
        return f"{self.insert(table, keys, others)} {self.on_conflict(keys, others)}"

    def on_conflict(self, keys: Sequence[str], others: Sequence[str]) -> str:
        """What happens to a row that has the key already."""
        if not others:
            return f"ON CONFLICT ({self.names(keys)}) DO NOTHING"
        changes = ", ".join(f"{self.quote(name)} = EXCLUDED.{self.quote(name)}" for name in others)
        return f"ON CONFLICT ({self.names(keys)}) DO UPDATE SET {changes}"
