"""Date patterns of Joda-Time, which `path.format` is written in: YYYY is the year, not the year of the week."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from penstock.connect.data.date_format import DAYS, MONTHS

Write = Callable[[datetime], str]
_PART = re.compile(r"''|'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|(')")
_NUMBERS: dict[str, Callable[[datetime], int]] = {
    "y": lambda t: t.year,
    "Y": lambda t: t.year,
    "C": lambda t: t.year // 100,
    "x": lambda t: t.isocalendar()[0],
    "w": lambda t: t.isocalendar()[1],
    "e": lambda t: t.isoweekday(),
    "D": lambda t: t.timetuple().tm_yday,
    "d": lambda t: t.day,
    "H": lambda t: t.hour,
    "k": lambda t: t.hour or 24,
    "K": lambda t: t.hour % 12,
    "h": lambda t: t.hour % 12 or 12,
    "m": lambda t: t.minute,
    "s": lambda t: t.second,
}
_TEXTS = frozenset("EaGz")


class JodaPattern:
    """A compiled pattern.

    >>> from datetime import timezone
    >>> JodaPattern("'year'=YYYY/'month'=MM").format(datetime(2024, 2, 29, tzinfo=timezone.utc))
    'year=2024/month=02'

    Raises:
        ValueError: The pattern cannot be used.
    """

    def __init__(self, pattern: str) -> None:
        self._writers: list[Write] = []
        self.has_names = False
        for match in _PART.finditer(pattern):
            if match[3]:
                raise ValueError("a quote is not closed")
            self._writers.append(self._run(match) if match[2] else _literal(match))

    def _run(self, match: re.Match[str]) -> Write:
        letter, count = match[2], len(match[0])
        if letter in _TEXTS or (letter == "M" and count > 2):
            self.has_names = self.has_names or letter in "EaM"
        return _writer(letter, count)

    def format(self, moment: datetime) -> str:
        """A time as text."""
        return "".join([write(moment) for write in self._writers])


def _literal(match: re.Match[str]) -> Write:
    quoted = match[1]
    text = "'" if match[0] == "''" else match[0] if quoted is None else quoted.replace("''", "'")
    return lambda _: text


def _writer(letter: str, count: int) -> Write:
    if letter == "M":
        if count > 2:
            return lambda t: MONTHS[t.month - 1] if count > 3 else MONTHS[t.month - 1][:3]
        return lambda t: str(t.month).zfill(count)
    if letter == "S":
        return lambda t: f"{t.microsecond:06d}".ljust(count, "0")[:count]
    if letter in {"y", "Y", "x"} and count == 2:
        year = _NUMBERS[letter]
        return lambda t: str(year(t) % 100).zfill(2)
    if letter in _NUMBERS:
        number = _NUMBERS[letter]
        return lambda t: str(number(t)).zfill(count)
    if letter == "E":
        return lambda t: DAYS[t.weekday()] if count > 3 else DAYS[t.weekday()][:3]
    if letter == "a":
        return lambda t: "AM" if t.hour < 12 else "PM"
    if letter == "G":
        return lambda _: "AD"
    if letter == "z":
        return lambda t: t.tzname() or ""
    if letter == "Z":
        return _zone(count)
    raise ValueError(f"Illegal pattern component: {letter * count}")


def _zone(count: int) -> Write:
    if count > 2:
        return lambda t: str(t.tzinfo)
    return lambda t: t.strftime("%z") if count == 1 else f"{t.strftime('%z')[:3]}:{t.strftime('%z')[3:5]}"
