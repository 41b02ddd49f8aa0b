"""Many rows in one statement of MySQL, put together column by column: PyMySQL looks at each value on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

_MOST_CHARACTERS = 1_000_000  # below any server's max_allowed_packet, as PyMySQL does it
_BETWEEN = "\x1f"


class MultiRow:
    """A statement with a list of rows in it.

    Args:
        begin: The statement up to the list.
        end: What follows the list.
        single: Whether rows are single values without parentheses.
    """

    def __init__(self, begin: str, end: str, *, single: bool = False) -> None:
        self._begin = begin
        self._end = end
        self._single = single

    def run(self, cursor: Any, rows: Sequence[tuple[Any, ...]]) -> None:
        columns = [_literals(cursor.connection, column) for column in zip(*rows, strict=True)]
        texts = columns[0] if self._single else [f"({text})" for text in map(",".join, zip(*columns, strict=True))]
        for part in _parts(texts):
            cursor.execute(f"{self._begin}{','.join(part)}{self._end}")


def _parts(texts: list[str]) -> Iterator[list[str]]:
    """Rows that fit into one statement."""
    begin, size = 0, 0
    for index, text in enumerate(texts):
        size += len(text) + 1
        if size > _MOST_CHARACTERS and index > begin:
            yield texts[begin:index]
            begin, size = index, len(text)
    yield texts[begin:]


def _literals(connection: Any, values: Sequence[Any]) -> list[str]:
    """The values as a statement has them; most columns have values of one type."""
    kinds = set(map(type, values))
    if len(kinds) > 1 and None.__class__ in kinds:
        known = iter(_literals(connection, [value for value in values if value is not None]))
        return ["NULL" if value is None else next(known) for value in values]
    if kinds == {int}:
        return list(map(str, values))
    if kinds == {bool}:
        return ["1" if value else "0" for value in values]
    if kinds == {float}:
        # With an exponent: a number without is a decimal to MySQL.
        return [text if "e" in text else f"{text}e0" for text in map(repr, values)]
    escape: Callable[[Any], str] = connection.escape
    if kinds == {str}:
        # All texts of a column are escaped at once, with a character between them that stays what it is.
        texts = escape(_BETWEEN.join(values))[1:-1].split(_BETWEEN)
        if len(texts) == len(values):
            return [f"'{text}'" for text in texts]
    return list(map(escape, values))
