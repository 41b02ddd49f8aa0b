"""Which tables and columns are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.connect.config.java_regex import compile_java


class Names:
    """An include or exclude list: regexes for whole names, upper and lower case being the same."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = [re.compile(compile_java(text).pattern, re.IGNORECASE) for text in include]
        self._exclude = [re.compile(compile_java(text).pattern, re.IGNORECASE) for text in exclude]

    def __contains__(self, name: str) -> bool:
        if self._include:
            return any(pattern.fullmatch(name) for pattern in self._include)
        return not any(pattern.fullmatch(name) for pattern in self._exclude)


_OWN = Names((), ("pg_catalog", "information_schema", "pg_toast", "pg_temp_.*", "pg_toast_temp_.*"))


class TableFilter:
    """The lists of a configuration.

    Args:
        settings: Parsed settings.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        def names(kind: str) -> Names:
            return Names(settings[f"{kind}.include.list"], settings[f"{kind}.exclude.list"])

        self._schemas, self._tables, self._columns = names("schema"), names("table"), names("column")

    def has_table(self, schema: str, table: str) -> bool:
        """Whether a table is read.

        >>> lists = {
        ...     f"{kind}.{which}.list": [] for kind in ("schema", "table", "column") for which in ("include", "exclude")
        ... }
        >>> chosen = TableFilter({**lists, "table.include.list": ["public.(orders|items)"]})
        >>> chosen.has_table("public", "items"), chosen.has_table("public", "items_old")
        (True, False)
        """
        return schema in _OWN and schema in self._schemas and f"{schema}.{table}" in self._tables

    def has_column(self, schema: str, table: str, column: str) -> bool:
        """Whether a column that is not part of the key is sent."""
        return f"{schema}.{table}.{column}" in self._columns
