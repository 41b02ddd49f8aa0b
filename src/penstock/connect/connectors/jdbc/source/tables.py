"""Which tables of a database are read."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from typing import Any

from penstock.connect.config.java_regex import compile_java
from penstock.connect.connectors.jdbc.source import settings as keys
from penstock.connect.connectors.jdbc.source.session import Session
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.errors import ConnectError

log = logging.getLogger("penstock.connect")


class TableFilter:
    """The tables the settings select.

    Args:
        session: The connection.
        settings: The source's settings, parsed.
    """

    def __init__(self, session: Session, settings: Mapping[str, Any]) -> None:
        self._session = session
        self._catalog: str | None = settings[keys.CATALOG_PATTERN] or None
        self._schema: str | None = settings[keys.SCHEMA_PATTERN] or None
        self._types = {kind.upper() for kind in settings[keys.TABLE_TYPES]}
        self._listed = [session.database.table_id(name) for name in settings[keys.WHITELIST]]
        self._unlisted = [session.database.table_id(name) for name in settings[keys.BLACKLIST]]
        self._included = [compile_java(one) for one in settings[keys.INCLUDE]]
        self._excluded = [compile_java(one) for one in settings[keys.EXCLUDE]]
        self._missing: frozenset[TableId] = frozenset()

    def find(self, *, patiently: bool = False) -> list[TableId]:
        """The tables there are now, sorted.

        Args:
            patiently: Connect as often as the settings say.

        Raises:
            ConnectError: Two have the same name, and so the same topic, or the database cannot be asked.
        """
        with self._session.connected("looking for tables", patiently=patiently) as connection:
            known = self._session.dialect.tables(connection, self._catalog, self._schema)
        found = sorted({table for table, kind in known if kind in self._types and self._is_wanted(table)}, key=str)
        self._tell_missing(found)
        twice = [name for name, count in Counter(table.table for table in found).items() if count > 1]
        if twice:
            names = ", ".join(str(table) for table in found if table.table in twice)
            raise ConnectError(
                f"Several tables would go to the same topic, as they have the same name: {names}",
                hint=f"Choose one of each with {keys.WHITELIST}, {keys.INCLUDE} or {keys.SCHEMA_PATTERN}.",
            )
        return found

    def close(self) -> None:
        """Give the connection up."""
        self._session.close()

    def _is_wanted(self, table: TableId) -> bool:
        if self._listed:
            return any(_means(name, table) for name in self._listed)
        if any(_means(name, table) for name in self._unlisted):
            return False
        full = self._full_names(table)
        if self._included and not any(pattern.fullmatch(name) for pattern in self._included for name in full):
            return False
        return not any(pattern.fullmatch(name) for pattern in self._excluded for name in full)

    def _full_names(self, table: TableId) -> list[str]:
        """With and without the database: some of JDBC's drivers count it in."""
        database = self._session.database.engine.url.database
        return [str(table), f"{database}.{table}"] if table.schema is not None else [str(table)]

    def _tell_missing(self, found: list[TableId]) -> None:
        missing = frozenset(name for name in self._listed if not any(_means(name, table) for table in found))
        if missing - self._missing:
            names = ", ".join(sorted(map(str, missing)))
            log.warning("Tables of %s that are not there, and are waited for: %s", keys.WHITELIST, names)
        self._missing = missing


def _means(name: TableId, table: TableId) -> bool:
    """Whether a name of a list means a table: what it leaves out may be anything."""
    return (
        name.table == table.table
        and name.schema in {None, table.schema}
        and (name.catalog in {None, table.catalog} or table.catalog is None)
    )
