"""One table of cases for each family: expression, value, result. The results are those of Spark SQL (ANSI)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import pytest

from penstock.errors import TopologyError
from penstock.expr import Expression, compile_expression, fn, k, ts, v
from penstock.expr.registry import FUNCTIONS
from penstock.records import Window, Windowed
from tests.expr.evaluating import check, run

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
