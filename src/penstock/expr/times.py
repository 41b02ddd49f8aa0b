"""Time functions on milliseconds since 1970, in UTC."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from difflib import get_close_matches
from typing import Any

from penstock.durations import instant_ms
from penstock.errors import TopologyError
from penstock.expr.errors import ExpressionError
from penstock.expr.expression import Expression, call
from penstock.expr.registry import FunctionEntry, define
from penstock.expr.time_formats import formatter

_DAY = 86_400_000
_ORDINAL_1970 = date(1970, 1, 1).toordinal()


def date_of(millis: int) -> date:
    """The day of an instant."""
    return date.fromordinal(_ORDINAL_1970 + millis // _DAY)


def _start_of(day: date) -> int:
    return (day.toordinal() - _ORDINAL_1970) * _DAY


# ---- parts of a date or time

define(FunctionEntry("year", "date_of({0}).year"), date_of=date_of)
define(FunctionEntry("quarter", "(date_of({0}).month + 2) // 3"))
define(FunctionEntry("month", "date_of({0}).month"))
define(FunctionEntry("day", "date_of({0}).day"))
define(FunctionEntry("day_of_week", "({0} // 86400000 + 4) % 7 + 1"))
define(FunctionEntry("day_of_year", "date_of({0}).timetuple().tm_yday"))
define(FunctionEntry("week_of_year", "date_of({0}).isocalendar()[1]"))
define(FunctionEntry("hour", "{0} // 3600000 % 24"))
define(FunctionEntry("minute", "{0} // 60000 % 60"))
define(FunctionEntry("second", "{0} // 1000 % 60"))


def year(instant: object) -> Expression:
    """The year."""
    return call("year", instant)


def quarter(instant: object) -> Expression:
    """The quarter of the year, 1 to 4."""
    return call("quarter", instant)


def month(instant: object) -> Expression:
    """The month, 1 to 12."""
    return call("month", instant)


def day(instant: object) -> Expression:
    """The day of the month, 1 to 31."""
    return call("day", instant)


def day_of_week(instant: object) -> Expression:
    """The day of the week, 1 for Sunday to 7 for Saturday."""
    return call("day_of_week", instant)


def day_of_year(instant: object) -> Expression:
    """The day of the year, 1 to 366."""
    return call("day_of_year", instant)


def week_of_year(instant: object) -> Expression:
    """The ISO week of the year, 1 to 53."""
    return call("week_of_year", instant)


def hour(instant: object) -> Expression:
    """The hour, 0 to 23."""
    return call("hour", instant)


def minute(instant: object) -> Expression:
    """The minute, 0 to 59."""
    return call("minute", instant)


def second(instant: object) -> Expression:
    """The second, 0 to 59."""
    return call("second", instant)


# ---- cutting off

_Truncate = Callable[[int], int]


def _week(millis: int) -> int:
    day_number = millis // _DAY
    return (day_number - (day_number + 3) % 7) * _DAY  # 1970 began on a Thursday


def _quarter_start(millis: int) -> int:
    day = date_of(millis)
    return _start_of(date(day.year, day.month - (day.month - 1) % 3, 1))


_UNITS: dict[str, _Truncate] = {
    "second": lambda millis: millis - millis % 1000,
    "minute": lambda millis: millis - millis % 60_000,
    "hour": lambda millis: millis - millis % 3_600_000,
    "day": lambda millis: millis - millis % _DAY,
    "week": _week,
    "month": lambda millis: _start_of(date_of(millis).replace(day=1)),
    "quarter": _quarter_start,
    "year": lambda millis: _start_of(date_of(millis).replace(month=1, day=1)),
}


def _truncate(unit: Any) -> _Truncate:
    known = _UNITS.get(unit) if isinstance(unit, str) else None
    if known is None:
        near = get_close_matches(str(unit), _UNITS, n=1)
        hint = f'Did you mean "{near[0]}"? ' if near else ""
        raise TopologyError(f"fn.date_trunc does not know {unit!r}", hint=f"{hint}Units: {', '.join(_UNITS)}.")
    return known


define(FunctionEntry("date_trunc", "{0}({1})", constants={0: _truncate}))


def date_trunc(unit: str, instant: object) -> Expression:
    """The start of the second, minute, hour, day, week (Monday), month, quarter or year of an instant."""
    return call("date_trunc", unit, instant)


# ---- text

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)


def _parse(value: Any) -> int | None:
    if isinstance(value, datetime):
        return instant_ms(value, "fn.to_timestamp")
    if not isinstance(value, str):
        raise TypeError(f"to_timestamp reads text or a datetime, not {type(value).__name__}")
    found = _ISO.fullmatch(value.strip())
    if found is None:
        return None
    fields = [int(part or 0) for part in found.groups()[:6]]
    fraction = int((found[7] or "0").ljust(3, "0")[:3])
    try:
        moment = datetime(*fields, tzinfo=timezone.utc)  # type: ignore[arg-type, misc]
    except ValueError:
        return None
    return (moment - _EPOCH) // timedelta(milliseconds=1) + fraction - _offset(found[8])


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _offset(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return (-minutes if zone[0] == "-" else minutes) * 60_000


def _parse_strictly(value: Any) -> int:
    millis = _parse(value)
    if millis is None:
        raise ExpressionError(
            f"{value!r} is no ISO 8601 date and time",
            hint='Expected text such as "2024-05-01T12:30:00Z"; fn.try_to_timestamp gives null instead.',
        )
    return millis


define(FunctionEntry("to_timestamp", "parse_time({0})"), parse_time=_parse_strictly)
define(FunctionEntry("try_to_timestamp", "try_parse_time({0})"), try_parse_time=_parse)
define(FunctionEntry("date_format", "{1}({0})", constants={1: formatter}))


def to_timestamp(text: object) -> Expression:
    """Milliseconds of an ISO 8601 text, or of a datetime; UTC where the text has no offset."""
    return call("to_timestamp", text)


def try_to_timestamp(text: object) -> Expression:
    """As `to_timestamp`, but null where the text is no date."""
    return call("try_to_timestamp", text)


def date_format(instant: object, pattern: str) -> Expression:
    """An instant as text, by a pattern of Java's letters: "yyyy-MM-dd HH:mm:ss.SSS"; plain text in quotes."""
    return call("date_format", instant, pattern)
