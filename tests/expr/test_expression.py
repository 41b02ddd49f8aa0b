"""What an expression is: its text, its identity, and what Python must not do with it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import pytest

from penstock.errors import TopologyError
from penstock.expr import Expression, ExpressionError, compile_expression, fn, k, ts, v
from penstock.functions import MAPPER, function

NAME: Any = v.name


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (v.price > 10, "(v.price > 10)"),
        ((v.a == "x") & ~v.b, "((v.a == 'x') & (~v.b))"),
        (v["a b"].cast("long") + 1, "(v['a b'].cast('long') + 1)"),
        (v["cast"]["class"], "v['cast']['class']"),
        (fn.upper(k), "fn.upper(k)"),
        (v.x.isin("a"), "v.x.isin('a')"),
        (v.x.like("a%"), "v.x.like('a%')"),
        (-v.x, "(-v.x)"),
        (v.xs[0], "fn.get(v.xs, 0)"),
        (fn.lit(5), "fn.lit(5)"),
        (fn.lit(5) + 1, "(fn.lit(5) + 1)"),
        (fn.lit("a").is_null(), "fn.lit('a').is_null()"),
        (v.x + None, "(v.x + fn.lit(None))"),
        (fn.when(v.a, 1).when(v.b, 2).otherwise(3), "fn.when(v.a, 1).when(v.b, 2).otherwise(3)"),
        (fn.struct(a=v.x, b=ts), "fn.struct(a=v.x, b=ts)"),
        (fn.date_trunc("hour", ts), "fn.date_trunc('hour', ts)"),
    ],
)
def test_text(expression: Expression, text: str) -> None:
    assert repr(expression) == text


def test_identity_is_structural() -> None:
    assert (v.a > 1).equals(v.a > 1)
    assert hash(v.a > 1) == hash(v.a > 1)
    assert not (v.a > 1).equals(v.a > 1.0)
    assert not (v.a == True).equals(v.a == 1)  # noqa: E712
    assert not (v.a + 0.0).equals(v.a + -0.0)
    assert (v.a + float("nan")).equals(v.a + float("nan"))
    assert not v.a.isin(1).equals(v.a.isin(True))
    assert not v.equals(k)
    assert not v.equals("v")
    assert compile_expression(v.a) == compile_expression(v.a)
    assert compile_expression(v.a) != compile_expression(v.b)
    assert len({compile_expression(v.a), compile_expression(v.a)}) == 1


def test_expressions_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match=r"an expression cannot be changed: v\.x"):
        v.x = 1


def test_copies_are_equal() -> None:
    assert copy.deepcopy(v.a > 1).equals(v.a > 1)
    assert copy.copy(fn.when(v.a, 1)).when(v.b, 2).equals(fn.when(v.a, 1).when(v.b, 2))


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: bool(v.a), "v.a is neither true nor false before a record arrives. Use & | ~ instead of and, or, not"),
        (lambda: v.a > 1 and v.b, "Use & | ~ instead of and, or, not, with parentheses around comparisons"),
        (lambda: 1 < v.a < 2, ".between(a, b) instead of a < x < b"),
        (lambda: "x" in v.tags, "`in` cannot look into v.tags. Use fn.contains, fn.array_contains or x.isin(...)."),
        (lambda: list(v.a), "v.a cannot be iterated before a record arrives"),
        (lambda: len(v.a), "v.a has no length before a record arrives. Use fn.length or fn.size."),
        (lambda: v.a[1:2], "v.a cannot be sliced before a record arrives. Use fn.substring or fn.get."),
        (lambda: v.a == None, "v.a == None is never true: null equals nothing. Use v.a.is_null()."),  # noqa: E711
        (lambda: v.a != None, "v.a != None is never true: null equals nothing. Use v.a.is_not_null()."),  # noqa: E711
        (lambda: v.a > 1 & v.b, "& combines conditions, not 1. Put comparisons in parentheses: (v.a > 1) & (v.b < 2)."),
        (lambda: v.a | "x", "| combines conditions, not 'x'"),
        (lambda: fn.when(5, 1), "the condition 5 is a constant"),
        (fn.coalesce, "fn.coalesce needs at least one value"),
        (NAME.upper, "not callable"),
        (lambda: int(NAME), "int() argument must be"),
    ],
)
def test_what_python_would_do_at_once(use: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        use()
    assert message in str(caught.value)


def test_parameters_are_those_used() -> None:
    assert compile_expression(v.a).parameters == ("v",)
    assert compile_expression(fn.struct(t=ts, a=v, b=k)).parameters == ("k", "v", "ts")
    assert compile_expression(fn.lit(1)).parameters == ()
    assert compile_expression(ts + 1).function(5) == 6


def test_shared_parts_are_computed_once() -> None:
    twice = v.price * v.quantity
    source = compile_expression((twice > 10) & (twice < 20)).source
    assert source.count("t1 * t2") == 1
    assert source.count(".get('price')") == 1


@dataclass(frozen=True)
class Trade:
    ticker: str
    price: float


@pytest.mark.parametrize(
    ("expression", "value", "message"),
    [
        (
            (v.price > 10) & (v.ticker == "A"),
            {"price": "abc"},
            (
                "(v.price > 10) failed: TypeError: '>' not supported between instances of 'str' and 'int' "
                "(v.price = 'abc')"
            ),
        ),
        (v.a / v.b, {"a": 1, "b": 0}, "(v.a / v.b) failed: ZeroDivisionError: division by zero (v.a = 1, v.b = 0)"),
        (v.price, "text", "v.price failed: a str has no field 'price' (v = 'text'). Fields are read from dicts and"),
        (
            v.prise,
            Trade("A", 1.0),
            "a Trade has no field 'prise' (v = Trade(ticker='A', price=1.0)). Did you mean price? It",
        ),
        (v[0], {1: 2}.keys(), "a dict_keys has no element 0"),
        (v.flag & v.other, {"flag": 1}, "v.flag failed: a condition is the int 1, not true or false"),
        (fn.upper(v.a.b), {"a": {"b": 5}}, "(v.a.b = 5)"),
        (fn.length(v), [1], "length counts characters of text or bytes, not list; for lists use fn.size"),
        (fn.size(v), "a", "for text use fn.length"),
        (fn.array_contains(v, "a"), "a", "for text use fn.contains"),
        (fn.concat(v, "a"), 5, "expected str instance, int found"),
        (fn.substring(v, 1), 5, "expected text, got int; use .cast('string')"),
        (fn.to_timestamp(v), 5, "to_timestamp reads text or a datetime, not int"),
        (v.x.isin(1), {"x": []}, "unhashable type: 'list' (v.x = [])"),
        (fn.mod(v, 0.0), 1, "division by zero"),
        (v.x, 5, "a int has no field 'x'"),
        (v.x, (1, 2), "a tuple has no field 'x'"),
    ],
)
def test_errors_name_the_part_and_its_values(expression: Expression, value: Any, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(expression).function(value)
    assert message in str(caught.value)


def test_errors_keep_their_cause_and_cut_long_values() -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(v.a + 1).function({"a": "x" * 10_000})
    assert isinstance(caught.value.__cause__, TypeError)
    assert len(str(caught.value)) < 300


def test_deep_nesting_is_refused_with_a_word() -> None:
    deep = v.x
    for _ in range(5000):
        deep = fn.abs(deep)
    with pytest.raises(TopologyError, match="nested too deeply"):
        compile_expression(deep)


def test_a_wide_sum_compiles() -> None:
    wide = v.x
    for _ in range(60):
        wide += v.x
    assert compile_expression(wide).function({"x": 1}) == 61


def test_the_core_takes_expressions_as_functions() -> None:
    made = function(v.price * 2, MAPPER, "mapper")
    assert made.parameters == ("value",)
    assert made.call({"price": 4}) == 8
    assert made.text == "(v.price * 2)"
