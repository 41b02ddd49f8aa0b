"""Ways to write many rows at once that are faster than a statement for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from penstock.connect.connectors.jdbc.table_id import TableId


@dataclass(frozen=True, slots=True)
class Insert:
    """An INSERT, in parts.

    Attributes:
        table: Where to.
        keys: Columns of the primary key; they come first.
        others: The other columns.
        tail: What follows the values: what happens to rows that are there already. Empty for a plain INSERT.
    """

    table: TableId
    keys: Sequence[str]
    others: Sequence[str]
    tail: str

    @property
    def columns(self) -> list[str]:
        """All columns."""
        return [*self.keys, *self.others]


class Bulk(Protocol):
    """Writes many rows in one go. What goes wrong is the driver's error; which row it was is found without."""

    def run(self, cursor: Any, rows: Sequence[tuple[Any, ...]]) -> None:
        """Write rows."""
        ...
