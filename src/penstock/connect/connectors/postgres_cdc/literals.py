"""Values with parts in PostgreSQL's text: arrays and hstore."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from penstock.connect.errors import DataError

_ELEMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([^",{}\\]+(?:\\.[^",{}\\]*)*)', re.DOTALL)
_PAIR = re.compile(r'"((?:[^"\\]|\\.)*)"=>(?:"((?:[^"\\]|\\.)*)"|(NULL))(?:, )?', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def array(text: str, element: Callable[[str], Any]) -> list[Any]:
    r"""The elements of an array of one dimension.

    >>> array("{1,NULL,3}", int), array(r'{a,"b, \"c\"","NULL"}', str), array("[0:1]={1,2}", int), array("{}", int)
    ([1, None, 3], ['a', 'b, "c"', 'NULL'], [1, 2], [])

    Raises:
        DataError: It has several dimensions, for which Connect has no type.
    """
    if text.startswith("["):  # its indexes do not begin with 1
        text = text.partition("=")[2]
    if text.startswith("{{"):
        raise DataError("An array has several dimensions, and a column's type does not say how many")
    found: list[Any] = []
    at = 1
    while at < len(text) - 1:
        match = _ELEMENT.match(text, at)
        if match is None:
            raise DataError(f"{text[:80]!r} is not an array: at character {at}")
        quoted, plain = match.groups()
        if quoted is not None:
            found.append(element(_ESCAPE.sub(r"\1", quoted)))
        else:
            found.append(None if plain == "NULL" else element(_ESCAPE.sub(r"\1", plain)))
        at = match.end() + 1
    return found


def hstore(text: str) -> dict[str, str | None]:
    r"""The pairs of an hstore.

    >>> hstore('"a"=>"1", "b"=>NULL, "c \\"d"=>""')
    {'a': '1', 'b': None, 'c "d': ''}
    """
    pairs: dict[str, str | None] = {}
    at = 0
    while at < len(text):
        match = _PAIR.match(text, at)
        if match is None:
            raise DataError(f"{text[:80]!r} is not an hstore: at character {at}")
        key, value, null = match.groups()
        pairs[_ESCAPE.sub(r"\1", key)] = None if null else _ESCAPE.sub(r"\1", value)
        at = match.end()
    return pairs
