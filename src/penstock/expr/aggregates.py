"""The aggregate functions of `fn`. Nulls are left out, as in SQL; of nothing, count is 0 and most others are null."""

from __future__ import annotations

import math
from typing import Any

from penstock.expr.aggregate import Aggregate, AggregateEntry, Part, define_aggregate
from penstock.expr.expression import node_of


def _aggregate(function: str, argument: object) -> Aggregate:
    return Aggregate((Part("", function, node_of(argument)),))


def _none() -> None:
    return None


def _add(left: Any, right: Any) -> Any:
    return right if left is None else left if right is None else left + right


def _smaller(left: Any, right: Any) -> Any:
    return right if left is None or (right is not None and right < left) else left


def _greater(left: Any, right: Any) -> Any:
    return right if left is None or (right is not None and right > left) else left


def _first(left: Any, right: Any) -> Any:
    return right if left is None else left


def _last(left: Any, right: Any) -> Any:
    return left if right is None else right


def _union(left: list[Any], right: list[Any]) -> list[Any]:
    return [*left, *(value for value in right if value not in left)]


def _zero() -> int:
    return 0


def _add_numbers(left: int, right: int) -> int:
    return left + right


def _concatenate(left: list[Any], right: list[Any]) -> list[Any]:
    return [*left, *right]


define_aggregate(AggregateEntry("count_records", "{state} + 1", _zero, _add_numbers))
define_aggregate(AggregateEntry("count", "{state} if {0} is None else {state} + 1", _zero, _add_numbers))
_SUM = "{state} if {0} is None else {0} if {state} is None else {state} + {0}"
define_aggregate(AggregateEntry("sum", _SUM, _none, _add))
_MIN = "{0} if {state} is None or ({0} is not None and {0} < {state}) else {state}"
define_aggregate(AggregateEntry("min", _MIN, _none, _smaller))
define_aggregate(AggregateEntry("max", _MIN.replace("<", ">"), _none, _greater))
define_aggregate(AggregateEntry("first", "{0} if {state} is None else {state}", _none, _first, ordered=True))
define_aggregate(AggregateEntry("last", "{state} if {0} is None else {0}", _none, _last, ordered=True))
define_aggregate(
    AggregateEntry("collect", "{state} if {0} is None else [*{state}, {0}]", list, _concatenate, ordered=True)
)
_DISTINCT = "{state} if {0} is None or {0} in {state} else [*{state}, {0}]"
define_aggregate(AggregateEntry("collect_set", _DISTINCT, list, _union, ordered=True))
define_aggregate(AggregateEntry("count_distinct", _DISTINCT, list, _union, len))


def _average(state: list[Any]) -> Any:
    total, number = state
    return total / number if number else None


def _merge_sums(left: list[Any], right: list[Any]) -> list[Any]:
    return [left[0] + right[0], left[1] + right[1]]


define_aggregate(
    AggregateEntry(
        "avg",
        "{state} if {0} is None else [{state}[0] + {0}, {state}[1] + 1]",
        lambda: [0, 0],
        _merge_sums,
        _average,
    )
)


def _moments(state: list[Any], value: Any) -> list[Any]:
    """Welford's method: number, mean, and sum of squared distances from the mean; stable where sums of squares are not."""
    if value is None:
        return state
    number, mean, squares = state[0] + 1, state[1], state[2]
    distance = value - mean
    mean += distance / number
    return [number, mean, squares + distance * (value - mean)]


def _merge_moments(left: list[Any], right: list[Any]) -> list[Any]:
    number = left[0] + right[0]
    if not left[0] or not right[0]:
        return right if not left[0] else left
    distance = right[1] - left[1]
    mean = left[1] + distance * right[0] / number
    return [number, mean, left[2] + right[2] + distance * distance * left[0] * right[0] / number]


def _deviation(state: list[Any]) -> float | None:
    return math.sqrt(state[2] / (state[0] - 1)) if state[0] > 1 else None


define_aggregate(
    AggregateEntry("stddev", "moments_of({state}, {0})", lambda: [0, 0.0, 0.0], _merge_moments, _deviation),
    moments_of=_moments,
)
_EVERY_RECORD: Any = object()


def count(value: object = _EVERY_RECORD) -> Aggregate:
    """The number of records, or of those where the value is not null."""
    return _aggregate("count_records", None) if value is _EVERY_RECORD else _aggregate("count", value)


def sum_(value: object) -> Aggregate:
    """The sum; null of nothing."""
    return _aggregate("sum", value)


def min_(value: object) -> Aggregate:
    """The least value."""
    return _aggregate("min", value)


def max_(value: object) -> Aggregate:
    """The greatest value."""
    return _aggregate("max", value)


def avg(value: object) -> Aggregate:
    """The mean."""
    return _aggregate("avg", value)


def first(value: object) -> Aggregate:
    """The first value that is not null."""
    return _aggregate("first", value)


def last(value: object) -> Aggregate:
    """The last value that is not null."""
    return _aggregate("last", value)


def collect(value: object) -> Aggregate:
    """All values in a list, in the order of the records. The list grows with the records of a key."""
    return _aggregate("collect", value)


def collect_set(value: object) -> Aggregate:
    """The different values in a list, in the order they first came. Meant for few different values."""
    return _aggregate("collect_set", value)


def count_distinct(value: object) -> Aggregate:
    """The number of different values. It keeps them all: meant for few different values."""
    return _aggregate("count_distinct", value)


def stddev(value: object) -> Aggregate:
    """The standard deviation of a sample; null of fewer than two values."""
    return _aggregate("stddev", value)
