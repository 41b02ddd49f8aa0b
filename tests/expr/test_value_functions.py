"""Functions of texts, numbers and times. One table of cases for each family: expression, value, result, which is that of Spark SQL (ANSI)."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from penstock.expr import Expression, ExpressionError, fn, v
from tests.expr.evaluating import check, run


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        (fn.upper(v), "aß", "ASS"),
        (fn.lower(v), "AB", "ab"),
        (fn.trim(v), " \ta ", "\ta"),
        (fn.ltrim(v), "  a ", "a "),
        (fn.rtrim(v), " a  ", " a"),
        (fn.length(v), "ü🎉", 2),
        (fn.length(v), b"ab", 2),
        (fn.length(v), None, None),
        (fn.substring(v, 1, 2), "hello", "he"),
        (fn.substring(v, 0, 2), "hello", "he"),
        (fn.substring(v, 2), "hello", "ello"),
        (fn.substring(v, -3, 2), "hello", "ll"),
        (fn.substring(v, -7, 4), "hello", "he"),
        (fn.substring(v, 9, 1), "hello", ""),
        (fn.substring(v, 2, 0), "hello", ""),
        (fn.substring(v, 2, -1), "hello", ""),
        (fn.concat(v.a, "-", v.b), {"a": "x", "b": "y"}, "x-y"),
        (fn.concat(v.a, v.b), {"a": "x"}, None),
        (fn.concat_ws("-", v.a, v.b, "z"), {"a": "x"}, "x-z"),
        (fn.concat_ws(v.sep, "a"), {}, None),
        (fn.split(v, ","), "a,,b,", ["a", "", "b", ""]),
        (fn.split(v, "."), "a.b", ["a", "b"]),
        (fn.replace(v, "a", "b"), "aca", "bcb"),
        (fn.replace(v, "a"), "aca", "c"),
        (fn.replace(v, "", "x"), "ab", "ab"),
        (fn.contains(v, "b"), "abc", True),
        (fn.starts_with(v, "b"), "abc", False),
        (fn.ends_with(v, "bc"), "abc", True),
        (fn.lpad(v, 5, "xy"), "abc", "xyabc"),
        (fn.lpad(v, 2, "xy"), "abc", "ab"),
        (fn.rpad(v, 6, "xy"), "abc", "abcxyx"),
        (fn.rpad(v, 5), "abc", "abc  "),
        (fn.lpad(v, 5, ""), "abc", "abc"),
        (fn.lpad(v, -1), "abc", ""),
        (fn.reverse(v), "abc", "cba"),
        (v.like("a%c"), "a\nbc", True),
        (v.like("a_c"), "abc", True),
        (v.like("a_c"), "abbc", False),
        (v.like(r"100\%"), "100%", True),
        (v.like(r"100\%"), "1000", False),
        (fn.like(v, "a.c"), "abc", False),
        (fn.regexp_like(v, r"^\d+$"), "123", True),
        (fn.regexp_like(v, r"^\d$"), "\u0663", False),
        (fn.regexp_extract(v, r"(\w+)@(\w+)"), "me@home", "me"),
        (fn.regexp_extract(v, r"(\w+)@(\w+)", 2), "me@home", "home"),
        (fn.regexp_extract(v, r"\w+", 0), "me@home", "me"),
        (fn.regexp_extract(v, r"(x)?me"), "me", ""),
        (fn.regexp_extract(v, "(x)"), "me", ""),
        (fn.regexp_replace(v, r"(\d)(\d)", "$2$1"), "12 34", "21 43"),
        (fn.regexp_replace(v, "a", r"\$1\\"), "a", "$1\\"),
        (fn.regexp_replace(v, "a", ""), None, None),
    ],
)
def test_text(expression: Expression, value: Any, expected: Any) -> None:
    check(expression, value, expected)


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        (fn.abs(v), -2.5, 2.5),
        (fn.round(v), 2.5, 3.0),
        (fn.round(v), -2.5, -3.0),
        (fn.round(v, 2), 1.005, 1.01),
        (fn.round(v, 1), 1e300, 1e300),
        (fn.round(v, 3), 5e-324, 0.0),
        (fn.round(v), 7, 7),
        (fn.round(v, -1), 15, 20),
        (fn.round(v, -1), 25.0, 30.0),
        (fn.round(v, 1), Decimal("0.25"), Decimal("0.3")),
        (fn.round(v), math.inf, math.inf),
        (fn.floor(v), -1.5, -2),
        (fn.ceil(v), -1.5, -1),
        (fn.sqrt(v), 9, 3.0),
        (fn.sqrt(v), -1, math.nan),
        (fn.pow(v, 2), 3, 9.0),
        (fn.pow(v, 0.5), -1, math.nan),
        (fn.pow(v, -1), 0, math.inf),
        (fn.pow(v, 1000), 10, math.inf),
        (fn.pow(v, 1001), -10, -math.inf),
        (fn.pow(v, -1), -0.0, -math.inf),
        (fn.mod(v, 3), -7, -1),
        (fn.mod(v, -3), 7, 1),
        (fn.mod(v, 3), -7.5, -1.5),
        (fn.sign(v), -3, -1.0),
        (fn.sign(v), 0, 0.0),
        (fn.sign(v), math.nan, math.nan),
        (fn.log(v), 1, 0.0),
        (fn.log(v), 0, None),
        (fn.log(v), -1, None),
        (fn.exp(v), 0, 1.0),
        (fn.exp(v), 1000, math.inf),
        (fn.greatest(v.a, v.b, 0), {"a": 1, "b": None}, 1),
        (fn.least(v.a, v.b), {"a": 1, "b": -1}, -1),
        (fn.least(v.a, v.b), {}, None),
    ],
)
def test_numbers(expression: Expression, value: Any, expected: Any) -> None:
    check(expression, value, expected)


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        (v.cast("string"), 1, "1"),
        (v.cast(str), True, "true"),
        (v.cast("string"), 1.5, "1.5"),
        (v.cast("string"), 1e10, "1.0E10"),
        (v.cast("string"), -1.25e-7, "-1.25E-7"),
        (v.cast("string"), 9999999.0, "9999999.0"),
        (v.cast("string"), math.nan, "NaN"),
        (v.cast("string"), -math.inf, "-Infinity"),
        (v.cast("string"), b"ab", "ab"),
        (v.cast("string"), Decimal("1.10"), "1.10"),
        (v.cast("string"), "a", "a"),
        (v.cast("int"), " 12 ", 12),
        (v.cast("long"), "-12", -12),
        (v.cast(int), 1.9, 1),
        (v.cast(int), -1.9, -1),
        (v.cast("int"), True, 1),
        (v.cast("double"), "1e3", 1000.0),
        (v.cast(float), ".5", 0.5),
        (v.cast(float), 2, 2.0),
        (v.cast("boolean"), "YES", True),
        (v.cast(bool), "f", False),
        (v.cast(bool), 0, False),
        (v.cast(bool), 0.5, True),
        (v.cast(bool), None, None),
    ],
)
def test_casts(expression: Expression, value: Any, expected: Any) -> None:
    check(expression, value, expected)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", "1.5"),
        ("int", "1_0"),
        ("int", 2**31),
        ("long", 2**63),
        ("int", math.nan),
        ("double", "1d"),
        ("int", []),
        ("boolean", "maybe"),
        ("string", {}),
        ("double", []),
        ("boolean", []),
    ],
)
def test_casts_that_fail(kind: str, value: Any) -> None:
    with pytest.raises(ExpressionError, match=f"cannot be cast to {kind}"):
        run(v.cast(kind), value)


AT = int(datetime(2024, 2, 29, 13, 45, 6, 789000, tzinfo=timezone.utc).timestamp() * 1000)


def _at(*fields: int) -> int:
    return int(datetime(*fields, tzinfo=timezone.utc).timestamp() * 1000)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (fn.year(v), 2024),
        (fn.quarter(v), 1),
        (fn.month(v), 2),
        (fn.day(v), 29),
        (fn.day_of_week(v), 5),
        (fn.day_of_year(v), 60),
        (fn.week_of_year(v), 9),
        (fn.hour(v), 13),
        (fn.minute(v), 45),
        (fn.second(v), 6),
        (fn.date_trunc("second", v), _at(2024, 2, 29, 13, 45, 6)),
        (fn.date_trunc("minute", v), _at(2024, 2, 29, 13, 45)),
        (fn.date_trunc("hour", v), _at(2024, 2, 29, 13)),
        (fn.date_trunc("day", v), _at(2024, 2, 29)),
        (fn.date_trunc("week", v), _at(2024, 2, 26)),
        (fn.date_trunc("month", v), _at(2024, 2, 1)),
        (fn.date_trunc("quarter", v), _at(2024, 1, 1)),
        (fn.date_trunc("year", v), _at(2024, 1, 1)),
        (fn.date_format(v, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"), "2024-02-29T13:45:06.789Z"),
        (fn.date_format(v, "EEE d MMM yy, h:m:s a"), "Thu 29 Feb 24, 1:45:6 PM"),
        (fn.date_format(v, "EEEE M MMMM hh H"), "Thursday 2 February 01 13"),
        (fn.date_format(v, "HH 'o''clock' ''"), "13 o'clock '"),
    ],
)
def test_times(expression: Expression, expected: Any) -> None:
    check(expression, AT, expected)


def test_times_before_1970() -> None:
    before = _at(1969, 12, 31, 23, 59, 59)
    assert run(fn.struct(y=fn.year(v), h=fn.hour(v), w=fn.day_of_week(v)), before) == {"y": 1969, "h": 23, "w": 4}
    assert run(fn.date_trunc("week", v), before) == _at(1969, 12, 29)
    assert run(fn.date_trunc("minute", v), before) == _at(1969, 12, 31, 23, 59)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-02-29", _at(2024, 2, 29)),
        ("2024-02-29T13:45", _at(2024, 2, 29, 13, 45)),
        ("2024-02-29 13:45:06", _at(2024, 2, 29, 13, 45, 6)),
        ("2024-02-29T13:45:06.789Z", AT),
        ("2024-02-29T13:45:06.789999", AT),
        ("2024-02-29T15:45:06.789+02:00", AT),
        ("2024-02-29T08:15:06.789-0530", AT),
        (datetime(2024, 2, 29, 13, 45, 6, 789000, tzinfo=timezone.utc), AT),
        ("2023-02-29", None),
        ("yesterday", None),
    ],
)
def test_reading_times(text: Any, expected: int | None) -> None:
    assert run(fn.try_to_timestamp(v), text) == expected
    if expected is None:
        with pytest.raises(ExpressionError, match="is no ISO 8601 date and time"):
            run(fn.to_timestamp(v), text)
    else:
        assert run(fn.to_timestamp(v), text) == expected
