"""Durations and instants as users write them, turned into int milliseconds."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from penstock.errors import TopologyError

Duration = timedelta | str | int
Instant = datetime | int

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_PART = re.compile(r"(\d+)\s*(ms|s|m|h|d|w)\s*")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MAX_LONG = 2**63 - 1


def duration_ms(value: Duration, what: str = "duration", *, negative: bool = False) -> int:
    """Milliseconds of a duration: `timedelta`, text such as `"1h30m"`, or int milliseconds.

    >>> duration_ms("1h30m"), duration_ms(250), duration_ms(timedelta(seconds=2))
    (5400000, 250, 2000)
    """
    if isinstance(value, timedelta):
        millis = value // timedelta(milliseconds=1)
    elif isinstance(value, str):
        millis = _parse(value, what)
    elif isinstance(value, bool) or not isinstance(value, int):
        raise TopologyError(
            f"{what} is {value!r}, which is a {type(value).__name__}",
            hint='Give a timedelta, text such as "5m" or "250ms", or int milliseconds.',
        )
    else:
        millis = value
    if millis < 0 and not negative:
        raise TopologyError(f"{what} is negative: {value!r}", hint="Give a duration of zero or more.")
    return millis


def _parse(text: str, what: str) -> int:
    sign, body = (-1, text.strip()[1:]) if text.strip().startswith("-") else (1, text.strip())
    position, total = 0, 0
    while position < len(body):
        match = _PART.match(body, position)
        if match is None:
            break
        total += int(match[1]) * _UNITS[match[2]]
        position = match.end()
    if not body or position < len(body):
        raise TopologyError(
            f"{what} {text!r} is not a duration",
            hint='Write numbers with the units ms, s, m, h, d or w, for example "1h30m".',
        )
    return sign * total


def instant_ms(value: Instant, what: str = "instant") -> int:
    """Milliseconds since the epoch of an aware `datetime` or an int."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise TopologyError(
                f"{what} is a datetime without a time zone: {value!r}",
                hint="Add one, for example value.replace(tzinfo=timezone.utc).",
            )
        return (value - _EPOCH) // timedelta(milliseconds=1)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TopologyError(f"{what} is {value!r}", hint="Give an aware datetime or int milliseconds since the epoch.")
    return value


def to_datetime(millis: int) -> datetime:
    """The aware UTC datetime of an epoch timestamp; clipped to what datetime can hold."""
    try:
        return _EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        return datetime.max.replace(tzinfo=timezone.utc)
