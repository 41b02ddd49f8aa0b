from __future__ import annotations

import pickle
from functools import reduce
from statistics import mean, stdev
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark import cloudpickle

from penstock.errors import TopologyError
from penstock.expr import Aggregate, ExpressionError, aggregate_all, fn, k, ts, v
from penstock.expr.aggregate import AGGREGATES

ALL = {
    "n": fn.count(),
    "some": fn.count(v.x),
    "sum": fn.sum(v.x),
    "min": fn.min(v.x),
    "max": fn.max(v.x),
    "avg": fn.avg(v.x),
    "first": fn.first(v.x),
    "last": fn.last(v.x),
    "all": fn.collect(v.x),
    "set": fn.collect_set(v.x),
    "distinct": fn.count_distinct(v.x),
    "dev": fn.stddev(v.x),
}


def fold(aggregate: Aggregate, values: list[Any], state: Any = None) -> Any:
    state = aggregate.initial() if state is None else state
    return reduce(lambda s, x: aggregate.update("key", {"x": x}, s), values, state)


def expected(values: list[Any]) -> dict[str, Any]:
    some = [x for x in values if x is not None]
    distinct = list(dict.fromkeys(some))
    return {
        "n": len(values),
        "some": len(some),
        "sum": sum(some) if some else None,
        "min": min(some, default=None),
        "max": max(some, default=None),
        "avg": mean(some) if some else None,
        "first": some[0] if some else None,
        "last": some[-1] if some else None,
        "all": some,
        "set": distinct,
        "distinct": len(distinct),
        "dev": pytest.approx(stdev(some)) if len(some) > 1 else None,
    }


values_strategy = st.lists(st.none() | st.integers(-20, 20))


@given(values_strategy)
def test_single_aggregates(values: list[Any]) -> None:
    for name, aggregate in ALL.items():
        result = aggregate.finish(fold(aggregate, values))
        assert result == pytest.approx(expected(values)[name]) if name == "avg" else expected(values)[name] == result


@given(values_strategy)
def test_all_at_once(values: list[Any]) -> None:
    together = aggregate_all(**ALL)
    result = together.finish(fold(together, values))
    assert list(result) == list(ALL)
    assert {**expected(values), "avg": pytest.approx(expected(values)["avg"])} == result


@given(values_strategy, values_strategy)
def test_merging_two_runs_is_one_run(left: list[Any], right: list[Any]) -> None:
    together = aggregate_all(**ALL)
    merged = together.finish(together.merge(fold(together, left), fold(together, right)))
    whole = together.finish(fold(together, left + right))
    assert {**whole, "dev": pytest.approx(whole["dev"])} == merged
    for aggregate in ALL.values():
        one = aggregate.finish(aggregate.merge(fold(aggregate, left), fold(aggregate, right)))
        assert one == pytest.approx(aggregate.finish(fold(aggregate, left + right)))


@given(values_strategy, st.integers())
def test_states_are_json_and_never_changed_in_place(values: list[Any], more: int) -> None:
    together = aggregate_all(**ALL)
    state = fold(together, values)
    before = orjson.dumps(state)
    following = together.update("key", {"x": more % 100}, orjson.loads(before))
    assert together.update("key", {"x": more % 100}, state) == following
    together.merge(state, state)
    together.finish(state)
    assert orjson.dumps(state) == before


def test_every_aggregate_of_the_table_is_tested() -> None:
    assert {aggregate.parts[0].function for aggregate in ALL.values()} == set(AGGREGATES)


def test_flags() -> None:
    assert {name for name, aggregate in ALL.items() if aggregate.needs_finish} == {"avg", "distinct", "dev"}
    assert {name for name, aggregate in ALL.items() if aggregate.ordered} == {"first", "last", "all", "set"}
    assert all(aggregate.associative for aggregate in ALL.values())
    assert not aggregate_all(n=fn.count(), total=fn.sum(v.x)).needs_finish
    assert aggregate_all(n=fn.count(), mean=fn.avg(v.x)).needs_finish
    assert aggregate_all(n=fn.count(), all=fn.collect(v.x)).ordered


def test_parameters() -> None:
    assert fn.sum(v.x).parameters == ("k", "v", "state")
    assert fn.max(ts).parameters == ("k", "v", "ts", "state")
    both = aggregate_all(newest=fn.max(ts), keys=fn.collect(k))
    assert both.update("a", None, 7, both.initial()) == {"newest": 7, "keys": ["a"]}


def test_a_shared_argument_is_computed_once() -> None:
    aggregate = aggregate_all(total=fn.sum(v.price * v.quantity), most=fn.max(v.price * v.quantity))
    assert aggregate.source.count(" * ") == 1
    assert "for " not in aggregate.source


def test_text_and_identity() -> None:
    aggregate = aggregate_all(n=fn.count(), total=fn.sum(v.x + 1))
    assert repr(aggregate) == "agg(n=fn.count(), total=fn.sum((v.x + 1)))"
    assert repr(fn.count(v.x)) == "fn.count(v.x)"
    assert aggregate.equals(aggregate_all(n=fn.count(), total=fn.sum(v.x + 1)))
    assert not fn.sum(v.x).equals(fn.sum(v.y))
    assert fn.sum(v.x) != aggregate_all(x=fn.sum(v.x))
    assert len({fn.sum(v.x), fn.sum(v.x)}) == 1


def test_they_travel() -> None:
    aggregate = aggregate_all(n=fn.count(), total=fn.sum(v.x))
    aggregate.update("k", {"x": 1}, aggregate.initial())
    for pickler in (pickle, cloudpickle):
        copy = pickle.loads(pickler.dumps(aggregate))
        assert copy == aggregate
        assert copy.update("k", {"x": 1}, copy.initial()) == {"n": 1, "total": 1}


def test_they_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="an aggregate cannot be changed"):
        fn.count().named = True


def test_errors() -> None:
    with pytest.raises(ExpressionError) as caught:
        fold(aggregate_all(n=fn.count(), total=fn.sum(v.x)), [1, "a"])
    assert str(caught.value) == (
        "fn.sum(v.x) failed: TypeError: unsupported operand type(s) for +: 'int' and 'str' (v.x = 'a')"
    )
    with pytest.raises(ExpressionError, match=r"fn\.count\(\) failed: KeyError: 'n'"):
        aggregate_all(n=fn.count()).update("k", {}, {})
    with pytest.raises(TopologyError, match=r"agg\(\) has no aggregate"):
        aggregate_all()
    with pytest.raises(TopologyError, match=r"agg\(n=v\.x\): that is no aggregate"):
        aggregate_all(n=v.x)  # type: ignore[arg-type]
    with pytest.raises(TopologyError, match="that is no aggregate"):
        aggregate_all(n=aggregate_all(m=fn.count()))
