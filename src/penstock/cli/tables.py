"""Rows for a person or a program."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def print_rows(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table for a person, tab-separated lines for a program."""
    if not sys.stdout.isatty():
        for row in rows:
            print(*row, sep="\t")
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for i, title in enumerate(titles):
        numeric = bool(rows) and isinstance(rows[0][i], int)
        table.add_column(title, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(str, row))
    Console(highlight=False, markup=False).print(table)


def count(number: int, what: str) -> str:
    """A number of things.

    >>> count(1, "topic"), count(2, "topic")
    ('1 topic', '2 topics')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"
