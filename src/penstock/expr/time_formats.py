"""Date patterns with the letters that Java and Spark use."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

from penstock.errors import TopologyError

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

_LETTERS: dict[str, Callable[[datetime], str]] = {
    "yyyy": lambda at: f"{at.year:04d}",
    "yy": lambda at: f"{at.year % 100:02d}",
    "MMMM": lambda at: _MONTHS[at.month - 1],
    "MMM": lambda at: _MONTHS[at.month - 1][:3],
    "MM": lambda at: f"{at.month:02d}",
    "M": lambda at: str(at.month),
    "dd": lambda at: f"{at.day:02d}",
    "d": lambda at: str(at.day),
    "EEEE": lambda at: _DAYS[at.weekday()],
    "EEE": lambda at: _DAYS[at.weekday()][:3],
    "HH": lambda at: f"{at.hour:02d}",
    "H": lambda at: str(at.hour),
    "hh": lambda at: f"{(at.hour + 11) % 12 + 1:02d}",
    "h": lambda at: str((at.hour + 11) % 12 + 1),
    "a": lambda at: "AM" if at.hour < 12 else "PM",
    "mm": lambda at: f"{at.minute:02d}",
    "m": lambda at: str(at.minute),
    "ss": lambda at: f"{at.second:02d}",
    "s": lambda at: str(at.second),
    "SSS": lambda at: f"{at.microsecond // 1000:03d}",
}
_TOKEN = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+|'")


def formatter(pattern: Any) -> Callable[[int], str]:
    """The function that prints milliseconds by a pattern.

    >>> formatter("dd.MM.yyyy 'at' HH:mm")(0)
    '01.01.1970 at 00:00'
    """
    if not isinstance(pattern, str):
        raise TopologyError(f"the date pattern is {pattern!r}, not a text", hint='Give for example "yyyy-MM-dd".')
    parts = [_part(token[0], pattern) for token in _TOKEN.finditer(pattern)]

    def print_time(millis: int) -> str:
        at = _EPOCH + timedelta(milliseconds=millis)
        return "".join([part if isinstance(part, str) else part(at) for part in parts])

    return print_time


def _part(piece: str, pattern: str) -> str | Callable[[datetime], str]:
    if piece == "''":
        return "'"
    if piece == "'":
        raise TopologyError(f"the date pattern {pattern!r} has an open quote", hint="Close it, or double it.")
    if piece[0] == "'":
        return piece[1:-1].replace("''", "'")
    if not piece[0].isalpha():
        return piece
    if piece not in _LETTERS:
        raise TopologyError(
            f"the date pattern {pattern!r} has the unknown part {piece!r}",
            hint=f"Known parts: {' '.join(_LETTERS)}; put plain text in quotes: 'T'.",
        )
    return _LETTERS[piece]
