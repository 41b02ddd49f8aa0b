"""Random expressions: the compiled function and the naive evaluator must agree, on values and on failures."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark import cloudpickle

from penstock.expr import Expression, ExpressionError, compile_expression, fn, k, ts, v
from tests.expr.reference import evaluate

integers = st.integers(-5, 5)
numbers = st.one_of(st.none(), integers, st.sampled_from([0.0, 0.5, -1.5, 2.0]))
texts = st.one_of(st.none(), st.sampled_from(["", "a", "ab", " B ", "b"]))
booleans = st.one_of(st.none(), st.booleans())

values = st.fixed_dictionaries(
    {},
    optional={
        "x": numbers,
        "y": numbers,
        "s": texts,
        "p": booleans,
        "o": st.one_of(st.none(), st.fixed_dictionaries({}, optional={"x": numbers, "s": texts})),
        "xs": st.one_of(st.none(), st.lists(numbers, max_size=3)),
    },
)
records = st.fixed_dictionaries({"k": texts, "v": st.one_of(st.none(), values), "ts": st.integers(0, 10)})


def _numeric(numeric: Any, text: Any, boolean: Any) -> Any:
    pair = st.tuples(numeric, numeric)
    return st.one_of(
        pair.map(lambda p: p[0] + p[1]),
        pair.map(lambda p: p[0] - p[1]),
        pair.map(lambda p: p[0] * p[1]),
        pair.map(lambda p: p[0] / p[1]),
        st.tuples(numeric, integers).map(lambda p: p[0] // p[1]),
        st.tuples(numeric, integers).map(lambda p: p[0] % p[1]),
        numeric.map(lambda x: -x),
        numeric.map(fn.abs),
        text.map(fn.length),
        pair.map(lambda p: fn.greatest(*p)),
        pair.map(lambda p: fn.least(*p)),
        pair.map(lambda p: fn.coalesce(*p)),
        st.tuples(boolean, numeric, boolean, numeric, numeric).map(
            lambda p: fn.when(p[0], p[1]).when(p[2], p[3]).otherwise(p[4])
        ),
        st.tuples(boolean, numeric).map(lambda p: fn.when(*p)),
    )


def _textual(text: Any, boolean: Any) -> Any:
    return st.one_of(
        text.map(fn.upper),
        text.map(fn.lower),
        text.map(fn.trim),
        st.tuples(text, text).map(lambda p: fn.concat(*p)),
        st.tuples(text, text, text).map(lambda p: fn.concat_ws(*p)),
        st.tuples(boolean, text, text).map(lambda p: fn.if_(*p)),
    )


def _conditional(numeric: Any, text: Any, boolean: Any) -> Any:
    pair = st.tuples(numeric, numeric)
    conditions = st.tuples(boolean, boolean)
    return st.one_of(
        pair.map(lambda p: p[0] < p[1]),
        pair.map(lambda p: p[0] <= p[1]),
        pair.map(lambda p: p[0] > p[1]),
        pair.map(lambda p: p[0] >= p[1]),
        pair.map(lambda p: p[0] == p[1]),
        pair.map(lambda p: p[0] != p[1]),
        st.tuples(numeric, numeric, numeric).map(lambda p: p[0].between(p[1], p[2])),
        st.tuples(numeric, st.lists(integers)).map(lambda p: p[0].isin(*p[1])),
        numeric.map(lambda x: x.isin(v.y, 2, v.o.x)),
        st.tuples(text, text).map(lambda p: p[0] == p[1]),
        st.tuples(text, text).map(lambda p: fn.contains(*p)),
        st.tuples(text, text).map(lambda p: fn.starts_with(*p)),
        st.tuples(text, text).map(lambda p: fn.ends_with(*p)),
        st.one_of(numeric, text, boolean).map(lambda x: x.is_null()),
        st.one_of(numeric, text, boolean).map(lambda x: x.is_not_null()),
        conditions.map(lambda p: p[0] & p[1]),
        conditions.map(lambda p: p[0] | p[1]),
        boolean.map(lambda p: ~p),
    )


NUMERIC_LEAVES = st.one_of(
    st.sampled_from([v.x, v.y, v.o.x, v["x"], ts, v.xs[0], v.xs[-1], v.nothing.at_all]), numbers.map(fn.lit)
)
TEXT_LEAVES = st.one_of(st.sampled_from([v.s, v.o.s, k]), texts.map(fn.lit))
BOOLEAN_LEAVES = st.one_of(st.just(v.p), booleans.map(fn.lit))

NUMERIC: Any = st.deferred(lambda: st.one_of(NUMERIC_LEAVES, _numeric(NUMERIC, TEXT, BOOLEAN)))
TEXT: Any = st.deferred(lambda: st.one_of(TEXT_LEAVES, _textual(TEXT, BOOLEAN)))
BOOLEAN: Any = st.deferred(lambda: st.one_of(BOOLEAN_LEAVES, _conditional(NUMERIC, TEXT, BOOLEAN)))
STRUCT = st.tuples(NUMERIC, TEXT, BOOLEAN).map(lambda p: fn.struct(n=p[0], s=fn.array(p[1], p[2])))
EXPRESSIONS = st.one_of(NUMERIC, TEXT, BOOLEAN, STRUCT)


def run(expression: Expression, record: dict[str, Any]) -> Any:
    compiled = compile_expression(expression)
    return compiled.function(*(record[name] for name in compiled.parameters))


def outcome(compute: Any) -> tuple[str, Any]:
    """The value with its type, or the fact of a failure."""
    try:
        value = compute()
    except (ExpressionError, ArithmeticError, TypeError, ValueError, AttributeError):
        return "failed", None
    return type(value).__name__, repr(value)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@given(EXPRESSIONS, records)
def test_compiled_equals_naive(expression: Expression, record: dict[str, Any]) -> None:
    assert outcome(lambda: run(expression, record)) == outcome(lambda: evaluate(expression, **record))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(EXPRESSIONS, records)
def test_expressions_travel(expression: Expression, record: dict[str, Any]) -> None:
    for pickler in (pickle, cloudpickle):
        copy = pickle.loads(pickler.dumps(expression))
        assert copy.equals(expression)
        assert hash(copy) == hash(expression)
        assert repr(copy) == repr(expression)
        compiled = pickle.loads(pickler.dumps(compile_expression(expression)))
        assert compiled == compile_expression(expression)
        result = outcome(lambda: compiled.function(*(record[name] for name in compiled.parameters)))  # noqa: B023
        assert result == outcome(lambda: run(expression, record))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS, records)
def test_the_text_of_an_expression_is_python_for_it(expression: Expression, record: dict[str, Any]) -> None:
    names = {"fn": fn, "v": v, "k": k, "ts": ts}
    written = eval(repr(expression), names)
    assert outcome(lambda: run(written, record)) == outcome(lambda: run(expression, record))
    assert eval(repr(written), names).equals(written)
