"""Dates and times from PostgreSQL's text to the numbers Debezium sends.

Texts are those of DateStyle ISO, IntervalStyle iso_8601 and TimeZone UTC, which every connection of the connector sets.
PostgreSQL knows more days than Python: years before Christ and up to 294276, and infinity.
"""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction

from penstock.connect.errors import DataError

DAY_MICROS = 86_400_000_000
_EPOCH_ORDINAL = 719_163
_DATE = re.compile(r"(\d+)-(\d\d)-(\d\d)")
_ZONED_TIME = re.compile(r"(.*?)([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?$")
_INTERVAL = re.compile(
    r"P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?)?$", re.ASCII
)
# The largest numbers there are stand for infinity; Debezium's own are those of its JDBC driver.
_INFINITE_DAYS = {"infinity": 2**31 - 1, "-infinity": -(2**31)}
_INFINITE_MICROS = {"infinity": 9_223_372_036_825_200_000, "-infinity": -9_223_372_036_832_400_000}


def days(text: str) -> int:
    """Days since 1970.

    >>> days("1970-01-02"), days("0044-03-15 BC"), days("12024-01-01")
    (1, -735160, 3672148)
    """
    if len(text) == 10:
        return date.fromisoformat(text).toordinal() - _EPOCH_ORDINAL
    if text in _INFINITE_DAYS:
        return _INFINITE_DAYS[text]
    found = _DATE.match(text)
    if found is None:
        raise DataError(f"{text!r} is not a date")
    year, month, day = (int(part) for part in found.groups())
    if text.endswith("BC"):
        year = 1 - year
    # Every 400 years the calendar repeats: the same day in the years 2000 to 2399.
    cycles, within = divmod(year - 2000, 400)
    return date(2000 + within, month, day).toordinal() - _EPOCH_ORDINAL + cycles * 146_097


def micros_of_day(text: str) -> int:
    """Microseconds since midnight.

    >>> micros_of_day("00:00:01.5"), micros_of_day("24:00:00") == DAY_MICROS
    (1500000, True)
    """
    seconds = int(text[:2]) * 3600 + int(text[3:5]) * 60 + int(text[6:8])
    return seconds * 1_000_000 + (int(text[9:15].ljust(6, "0")) if len(text) > 8 else 0)


def timestamp_micros(text: str) -> int:
    """Microseconds since 1970 of a timestamp without time zone.

    >>> timestamp_micros("1970-01-02 00:00:00.000001")
    86400000001
    """
    if text in _INFINITE_MICROS:
        return _INFINITE_MICROS[text]
    day, _, rest = text.partition(" ")
    time, _, era = rest.partition(" ")
    micros = days(f"{day} {era}" if era else day) * DAY_MICROS + micros_of_day(time)
    return min(micros, _INFINITE_MICROS["infinity"])  # the last years PostgreSQL knows do not fit


def zoned_timestamp(text: str) -> str:
    """A timestamp with time zone, which PostgreSQL gives in UTC, in ISO's form.

    >>> zoned_timestamp("2024-05-06 07:08:09.1+00"), zoned_timestamp("0044-03-15 00:00:00+00 BC")
    ('2024-05-06T07:08:09.1Z', '-0043-03-15T00:00:00Z')
    """
    if text in _INFINITE_MICROS:
        return text
    day, _, rest = text.partition(" ")
    time = rest.partition("+")[0]
    if rest.endswith("BC"):
        year, _, month_and_day = day.partition("-")
        before = 1 - int(year)
        day = f"{'-' if before else ''}{-before:04}-{month_and_day}"
    return f"{day}T{time}Z"


def zoned_time(text: str) -> str:
    """A time with time zone, in UTC.

    >>> zoned_time("01:30:00+02"), zoned_time("10:00:00.25-03:30")
    ('23:30:00Z', '13:30:00.25Z')
    """
    found = _ZONED_TIME.match(text)
    if found is None:
        raise DataError(f"{text!r} is not a time with a time zone")
    time, sign, hours, minutes, seconds = found.groups()
    shift = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    _, dot, fraction = time.partition(".")
    whole = micros_of_day(time) // 1_000_000 + (shift if sign == "-" else -shift)
    minute, second = divmod(whole % 86400, 60)
    return f"{minute // 60:02}:{minute % 60:02}:{second:02}{dot}{fraction}Z"


def interval_micros(text: str) -> int:
    """Microseconds of an interval, with months of 30.4375 days, as Debezium counts them.

    >>> interval_micros("P1DT2H0.5S"), interval_micros("P-1M")
    (93600500000, -2629800000000)
    """
    found = _INTERVAL.match(text)
    if found is None:
        raise DataError(f"{text!r} is not an interval")
    years, months, of_days, hours, minutes, seconds = (
        Fraction(part) if part else Fraction(0) for part in found.groups()
    )
    whole_days = (years * 12 + months) * Fraction(487, 16) + of_days
    return int((whole_days * 86400 + hours * 3600 + minutes * 60 + seconds) * 1_000_000)
