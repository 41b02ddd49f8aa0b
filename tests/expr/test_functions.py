"""One table of cases for each family: expression, value, result. The results are those of Spark SQL (ANSI)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import pytest

from penstock.errors import TopologyError
from penstock.expr import Expression, ExpressionError, compile_expression, fn, k, ts, v
from penstock.expr.registry import FUNCTIONS
from penstock.records import Window, Windowed


def run(expression: Expression, value: Any = None, *, key: Any = None, timestamp: int = 0) -> Any:
    compiled = compile_expression(expression)
    given = {"k": key, "v": value, "ts": timestamp}
    return compiled.function(*(given[name] for name in compiled.parameters))


def check(expression: Expression, value: Any, expected: Any) -> None:
    result = run(expression, value)
    assert repr(result) == repr(expected), expression
    assert type(result) is type(expected)


FIVE: Any = 5
PATTERN: Any = v.pattern


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Trade:
    ticker: str
    price: float


class Point(NamedTuple):
    x: int
    y: int


class Order(msgspec.Struct):
    id: int


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        (v.a, {"a": 1}, 1),
        (v.a, {}, None),
        (v.a, None, None),
        (v.a.b.c, {"a": {"b": None}}, None),
        (v["a b"], {"a b": 1}, 1),
        (v["cast"], {"cast": 1}, 1),
        (v._id, {"_id": 1}, 1),
        (fn.get(v, "a b"), {"a b": 1}, 1),
        (v.ticker, Trade("A", 1.0), "A"),
        (v.x, Point(1, 2), 1),
        (v.id, Order(7), 7),
        (v.a, MappingProxyType({"a": 1}), 1),
        (v[0], [1, 2], 1),
        (v[-1], [1, 2], 2),
        (v[2], [1, 2], None),
        (v[0], None, None),
        (v[0], (5,), 5),
        (v.xs[v.i], {"xs": [1, 2], "i": 1}, 2),
        (v[v.name], {"name": "a", "a": 3}, 3),
        (v[v.name], {"name": None}, None),
        (fn.get(v, v.name), {"name": "x"}, None),
        (v, 5, 5),
    ],
)
def test_access(expression: Expression, value: Any, expected: Any) -> None:
    check(expression, value, expected)


def test_access_to_key_and_time() -> None:
    assert run(k.window.start + ts, key=Windowed("a", Window(5, 10)), timestamp=1) == 6
    assert run(k.key, key=Windowed("a", Window(5, 10))) == "a"


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        (v.x + 1, {"x": 2}, 3),
        (1 - v.x, {"x": 2}, -1),
        (v.x * 2.0, {"x": 2}, 4.0),
        (v.x / 2, {"x": 3}, 1.5),
        (7 // v.x, {"x": -2}, -4),
        (7 % v.x, {"x": -2}, -1),
        (2**v.x, {"x": 3}, 8.0),
        (-v.x, {"x": 3}, -3),
        (+v.x, {"x": 3}, 3),
        (abs(v.x), {"x": -3}, 3),
        (v.x + v.y, {"x": "a", "y": "b"}, "ab"),
        ("a" + v.x, {"x": "b"}, "ab"),
        (v.x + None, {"x": 1}, None),
        (v.x + 1, {"x": None}, None),
        (v.x == 1, {"x": 1}, True),
        (v.x == 1, {"x": "1"}, False),
        (v.x == 1, {}, None),
        (v.x != 1, {"x": 2}, True),
        (v.x < v.y, {"x": 1, "y": 2}, True),
        (v.x >= Decimal(2), {"x": Decimal(1)}, False),
        (v.x == Colour.RED, {"x": Colour.RED}, True),
        (v.x > datetime(1970, 1, 1, 0, 0, 1, tzinfo=timezone.utc), {"x": 1001}, True),
        (v.x + timedelta(seconds=1), {"x": 1}, 1001),
        (v.x - timedelta(seconds=-1), {"x": 1}, 1001),
        (v.x > float("inf"), {"x": 1}, False),
        (v.x + -1, {"x": 1}, 0),
        (v.x - -1.5, {"x": 1}, 2.5),
        (v.x.isin(1, 2), {"x": 2}, True),
        (v.x.isin([1, 2]), {"x": 3}, False),
        (v.x.isin({1, 2}), {"x": None}, None),
        (v.x.isin(), {"x": 1}, False),
        (v.x.isin(v.y, 3), {"x": 3, "y": None}, True),
        (v.x.isin(v.y, 3), {"x": 4, "y": None}, None),
        (v.x.between(1, 3), {"x": 3}, True),
        (v.x.between(v.a, 3), {"x": 4}, False),
        (v.x.between(v.a, 3), {"x": 2}, None),
        (v.x.is_null(), {}, True),
        (v.x.is_not_null(), {}, False),
        (fn.lit(1).is_null(), None, False),
        (fn.lit(None).is_null(), None, True),
        (ts.is_not_null(), None, True),
    ],
)
def test_operators(expression: Expression, value: Any, expected: Any) -> None:
    check(expression, value, expected)


T, F, N = True, False, None


@pytest.mark.parametrize(
    ("a", "b", "conjunction", "disjunction"),
    [(T, T, T, T), (T, F, F, T), (T, N, N, T), (F, F, F, F), (F, N, F, N), (N, N, N, N)],
)
def test_three_valued_logic(a: Any, b: Any, conjunction: Any, disjunction: Any) -> None:
    for left, right in ((a, b), (b, a)):
        assert run(v.a & v.b, {"a": left, "b": right}) is conjunction
        assert run(v.a | v.b, {"a": left, "b": right}) is disjunction
        assert run(~(v.a & v.b), {"a": left, "b": right}) is (None if conjunction is None else not conjunction)


def test_only_needed_parts_are_evaluated() -> None:
    ratio = v.a / v.b
    assert run((v.b != 0) & (ratio > 1), {"a": 1, "b": 0}) is False
    assert run((v.b == 0) | (ratio > 1), {"a": 1, "b": 0}) is True
    assert run(fn.when(v.b != 0, ratio).otherwise(-1), {"a": 1, "b": 0}) == -1
    assert run(fn.coalesce(v.a, ratio), {"a": 1, "b": 0}) == 1
    # what one branch computed is not known to another
    both = fn.if_(v.b != 0, ratio, 0) + fn.if_(v.b != 0, ratio, 1)
    assert run(both, {"a": 1, "b": 0}) == 1
    assert run(both, {"a": 1, "b": 2}) == 1.0


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        (fn.when(v.x > 1, "big").when(v.x > 0, "small").otherwise("none"), {"x": 1}, "small"),
        (fn.when(v.x > 1, "big"), {"x": 1}, None),
        (fn.when(v.x > 1, "big").otherwise("else"), {}, "else"),
        (fn.if_(v.x, 1, 2), {"x": None}, 2),
        (fn.if_(v.x, 1), {"x": False}, None),
        (fn.coalesce(v.x, v.y, 3), {"y": 2}, 2),
        (v.x.coalesce(0), {}, 0),
        (fn.nullif(v.x, 0), {"x": 0}, None),
        (fn.nullif(v.x, 0), {"x": 2}, 2),
    ],
)
def test_conditionals(expression: Expression, value: Any, expected: Any) -> None:
    check(expression, value, expected)


def test_a_long_chain_of_cases() -> None:
    chain = fn.when(v.x == 0, 0)
    for number in range(1, 300):
        chain = chain.when(v.x == number, number)
    assert run(chain.otherwise(-1), {"x": 299}) == 299
    assert run(chain.otherwise(-1), {"x": 300}) == -1


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


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        (fn.struct(a=v.x, b=1), {"x": 5}, {"a": 5, "b": 1}),
        (fn.array(v.x, None, "s"), {"x": 5}, [5, None, "s"]),
        (fn.lit([1, v.x]), {"x": 5}, [1, 5]),
        (fn.lit({"a": {"b": v.x}}), {"x": 5}, {"a": {"b": 5}}),
        (fn.size(v), [1, 2], 2),
        (fn.size(v), {"a": 1}, 1),
        (fn.array_contains(v, 2), [1, 2], True),
        (fn.array_contains(v, 3), None, None),
        (fn.lit("x"), None, "x"),
        (fn.struct(), None, {}),
        (fn.struct(a=v.x + 1, b=v.x + 1), {"x": 1}, {"a": 2, "b": 2}),
    ],
)
def test_structures(expression: Expression, value: Any, expected: Any) -> None:
    check(expression, value, expected)


def test_lists_and_dicts_are_new_for_each_record() -> None:
    compiled = compile_expression(fn.lit([[1], {"a": 1}]))
    first, second = compiled.function(), compiled.function()
    assert first == second
    assert first[0] is not second[0]
    assert first[1] is not second[1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: v.cast("strng"), "no cast to 'strng' is known. Did you mean \"string\"? Known types: string, int,"),
        (lambda: v.cast("float"), "no cast to 'float' is known"),
        (lambda: v.cast(list), "no cast to 'list' is known"),
        (
            lambda: fn.date_trunc("hours", v),
            "fn.date_trunc does not know 'hours'. Did you mean \"hour\"? Units: second,",
        ),
        (lambda: fn.date_format(v, "YYYY"), "the date pattern 'YYYY' has the unknown part 'YYYY'. Known parts: yyyy"),
        (lambda: fn.date_format(v, "HH 'x"), "has an open quote"),
        (lambda: fn.date_format(v, FIVE), "the date pattern is 5, not a text"),
        (lambda: fn.regexp_like(v, "("), "the pattern '(' cannot be read: missing ), unterminated subpattern"),
        (lambda: fn.regexp_like(v, FIVE), "the pattern is 5, not a text"),
        (
            lambda: fn.regexp_like(v, PATTERN),
            "argument 2 of regexp_like is the expression v.pattern. It must be a co",
        ),
        (
            lambda: fn.regexp_extract(v, "a"),
            "the pattern 'a' has 0 groups, so there is no group 1. Put the wanted part",
        ),
        (lambda: fn.regexp_replace(v, "a", "$1"), "uses group 1, but the pattern 'a' has 0"),
        (
            lambda: fn.regexp_replace(v, "a", "$"),
            "the replacement '$' has a lone $. Write \\$ for the character itself",
        ),
        (lambda: fn.regexp_replace(v, "a", FIVE), "the replacement is 5, not a text"),
        (lambda: v.like("a\\b"), "has a \\ that is not before %, _ or \\"),
        (lambda: v.like(FIVE), "the pattern of like is 5, not a text"),
        (lambda: fn.split(v, ""), "fn.split with an empty delimiter. Give the text that separates the parts."),
        (lambda: v.isin(1, None), "v.isin(...) holds None. Null equals nothing; add | x.is_null()."),
        (
            lambda: v.x + (lambda x: x),
            "Functions and expressions do not mix; write one function for the whole operator",
        ),
        (lambda: v.x + fn.sum(v.y), "cannot be part of an expression. An aggregate stands alone"),
        (lambda: v.x + {1}, "the set {1} cannot be part of an expression. Constants are None, bool, int"),
        (lambda: v.x > datetime(2024, 1, 1), "is a datetime without a time zone"),  # noqa: DTZ001
        (lambda: compile_expression(FIVE), "5 is no expression. Write one with v, k, ts and fn: v.price > 10."),
    ],
)
def test_bad_expressions_fail_where_they_are_written(make: Any, message: str) -> None:
    with pytest.raises(TopologyError) as caught:
        make()
    assert message in str(caught.value)


def test_every_function_of_the_table_is_public_or_an_operator() -> None:
    operators = {
        "add", "subtract", "multiply", "divide", "floor_divide", "modulo", "negative",
        "eq", "ne", "lt", "le", "gt", "ge", "isin", "and", "or", "not", "is_null", "is_not_null", "cast",
    }  # fmt: skip
    assert set(FUNCTIONS) - operators <= set(fn.__all__)
    assert all(hasattr(fn, name) for name in fn.__all__)
    assert sorted(fn.__all__) == fn.__all__
