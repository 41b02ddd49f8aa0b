"""Aggregates written as expressions: `agg(n=fn.count(), total=fn.sum(v.price))`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError, TopologyError
from penstock.functions import Constant, Function
from penstock.streams.aggregating import Group, aggregate_stream
from penstock.streams.ktable import KTable
from penstock.streams.materialized import Materialized
from penstock.streams.parameters import Named
from penstock.streams.settings import gather
from penstock.topology.operators import Aggregation
from penstock.windows import Windows

if TYPE_CHECKING:
    from penstock.expr import Aggregate

_PARAMETERS = {"k": "key", "v": "value", "ts": "timestamp", "state": "aggregate"}


def aggregate_expressions(
    group: Group,
    parameters: Sequence[Any],
    aggregates: Mapping[str, Any],
    line: str | None,
    windows: Windows | None = None,
    *,
    on_close: bool = False,
) -> KTable[Any, dict[str, Any]]:
    """A table whose rows are dicts with one member for each aggregate.

    The store keeps the aggregates' states. Where a state is not its own result, such as sum and count of an average,
    a node behind the store makes the result of it.
    """
    from penstock.expr import aggregate_all

    settings = gather(
        "agg", parameters, (Materialized, Named), line, value_serde=None if _has_serde(parameters) else "json"
    )
    try:
        aggregate = aggregate_all(**aggregates)
    except PenstockError as error:
        raise TopologyError(error.message, line=line, hint=error.hint) from None
    aggregation = Aggregation(
        "expression",
        Constant(aggregate.initial()),  # states are never changed in place
        step_function(aggregate),
        Function(aggregate.merge, ("left", "right"), repr(aggregate)),
        associative=aggregate.associative and not aggregate.ordered,
        mutates=False,
    )
    table = aggregate_stream(group, aggregation, settings, windows, on_close=on_close)
    if not aggregate.needs_finish:
        return table
    return table.map_values(finish_function(aggregate), value_serde=settings.value_serde)


class _Step(Function):
    """The compiled step of an aggregate; compiled code does not travel, the aggregate does."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return (step_function, (self.expression,))


def step_function(aggregate: Aggregate) -> Function:
    """The function of (key, value, aggregate) that an aggregate stands for."""
    parameters = tuple(_PARAMETERS[p] for p in aggregate.parameters)
    return _Step(aggregate.update, parameters, repr(aggregate), aggregate)


class _Finish(Function):
    """The compiled result of an aggregate's state; travels as the step does."""

    __slots__ = ()
    copies = True

    def __reduce__(self) -> tuple[Any, ...]:
        return (finish_function, (self.expression,))


def finish_function(aggregate: Aggregate) -> Function:
    """The function of (value) that makes the result of a state."""
    return _Finish(aggregate.finisher, ("value",), repr(aggregate), aggregate)


def _has_serde(parameters: Sequence[Any]) -> bool:
    return any(isinstance(p, Materialized) and p.value_serde is not None for p in parameters)
