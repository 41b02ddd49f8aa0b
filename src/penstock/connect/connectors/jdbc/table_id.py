"""Names of tables: catalog, schema and table, with and without quotes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from penstock.connect.errors import ConfigError

# A part is quoted, with the quote doubled inside, or goes up to the next dot.
_PART = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[([^\]]*)\]|([^."`\[\]]+)')


@dataclass(frozen=True, slots=True, order=True)
class TableId:
    """A table's full name.

    Attributes:
        catalog: The database it is in, for systems where statements can name one (MySQL).
        schema: The schema it is in, for systems that have them (PostgreSQL).
        table: Its own name.
    """

    catalog: str | None
    schema: str | None
    table: str

    @staticmethod
    def parse(text: str, *, has_schemas: bool = True) -> TableId:
        """A name as users write it.

        >>> TableId.parse('public."odd.name"')
        TableId(catalog=None, schema='public', table='odd.name')
        >>> TableId.parse("shop.orders", has_schemas=False)
        TableId(catalog='shop', schema=None, table='orders')

        Args:
            text: The name, its parts separated by dots, quoted or not.
            has_schemas: Whether what stands before the table is a schema; else it is a catalog, as in MySQL.

        Raises:
            ConfigError: It is not a name.
        """
        parts: list[str] = []
        at, text = 0, text.strip()
        while at < len(text) or not parts:
            found = _PART.match(text, at)
            if found is None or (found.end() < len(text) and text[found.end()] != "."):
                raise ConfigError(f"{text!r} is not the name of a table", hint="Write catalog.schema.table.")
            double, back, bracket, plain = found.groups()
            parts.append(
                double.replace('""', '"') if double is not None
                else back.replace("``", "`") if back is not None
                else bracket if bracket is not None
                else plain
            )  # fmt: skip
            at = found.end() + 1
        if text.endswith(".") or len(parts) > (3 if has_schemas else 2):
            raise ConfigError(f"{text!r} is not the name of a table", hint="Write catalog.schema.table.")
        *before, table = parts
        if has_schemas:
            return TableId(before[-2] if len(before) > 1 else None, before[-1] if before else None, table)
        return TableId(before[-1] if before else None, None, table)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that are there, from catalog to table."""
        return tuple(part for part in (self.catalog, self.schema, self.table) if part is not None)

    @property
    def namespace(self) -> str | None:
        """What SQLAlchemy calls the schema of the table: the schema, or in MySQL the catalog."""
        return self.schema if self.schema is not None else self.catalog

    def sql(self, quote: Callable[[str], str]) -> str:
        """The name for a statement, each part quoted."""
        return ".".join(quote(part) for part in self.parts)

    def __str__(self) -> str:
        return ".".join(self.parts)
