"""Aggregation of a table: every row counts in the group its mapper names, and moves when the row changes.

The mapping half turns a change of a row into one or two updates of groups, which travel through the repartition topic:
one combined update if the group stays the same, else first the old group (subtract), then the new one (add). The
aggregating half applies them: subtract, then add.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.interpreter.compiler import NodeContext, builds
from penstock.interpreter.fusion import not_a_pair
from penstock.interpreter.materialize import materialize
from penstock.records import Change
from penstock.topology.operators import TableAggregate, TableReduce, TableRepartitionMap

Pair = tuple[Any, Any] | None
Apply = Callable[[Any, Any, Any], Any]  # (key, value, aggregate) -> aggregate


@builds(TableRepartitionMap)
def table_repartition_map(operator: TableRepartitionMap, node: NodeContext) -> Callable[..., None]:
    """Map both sides of a change to their groups."""
    mapper, forward = operator.mapper.bind("key", "value", "timestamp"), node.forward
    versioned = operator.versioned

    def group_of(key: Any, value: Any, timestamp: int) -> Pair:
        """Group and value of a row; None if it is in no group."""
        pair = None if value is None else mapper(key, value, timestamp)
        if pair is None:
            return None
        if pair.__class__ is not tuple:
            pair = not_a_pair(pair)
        return None if pair[0] is None or pair[1] is None else pair

    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        if versioned and not is_latest:
            return  # the table keeps that version, but no current row changes: nothing is lost, nothing counted
        added, removed = group_of(key, new, timestamp), group_of(key, old, timestamp)
        if added is not None and removed is not None and _same(added[0], removed[0]):
            forward(removed[0], Change(added[1], removed[1]), timestamp)
            return
        if removed is not None:
            forward(removed[0], Change(None, removed[1]), timestamp)
        if added is not None:
            forward(added[0], Change(added[1], None), timestamp)

    return process


def _same(one: Any, other: Any) -> bool:
    # 1, 1.0 and True are equal in Python but not as serialised keys.
    return one.__class__ is other.__class__ and bool(one == other)


@builds(TableAggregate)
def table_aggregate(operator: TableAggregate, node: NodeContext) -> Callable[..., None]:
    """Subtract the old value from the group's aggregate, add the new one to it or to the initializer's."""
    subtract = operator.subtractor.bind("key", "value", "aggregate")
    add, initialize = operator.adder.bind("key", "value", "aggregate"), operator.initializer

    def add_first(key: Any, value: Any) -> Any:
        return add(key, value, initialize())

    return _apply_changes(operator, node, subtract, add, add_first)


@builds(TableReduce)
def table_reduce(operator: TableReduce, node: NodeContext) -> Callable[..., None]:
    """As above; the first value of a group is its aggregate."""
    subtract = operator.subtractor.bind("key", "value", "aggregate")
    add = operator.adder.bind("key", "value", "aggregate")
    return _apply_changes(operator, node, subtract, add, lambda key, value: value)


def _apply_changes(
    operator: TableAggregate | TableReduce,
    node: NodeContext,
    subtract: Apply,
    add: Apply,
    add_first: Callable[[Any, Any], Any],
) -> Callable[..., None]:
    store = node.store(operator.store)
    get, keep = store.get, materialize(node, store, send_old=operator.send_old, read_old=False).keep
    # A user's function may change the object it gets: then the old value is read again to send it on intact.
    cached = store.cached
    reread = operator.send_old and store.value_serde.mutable and not cached

    def process(key: Any, change: Change[Any], timestamp: int) -> None:
        row = get(key)
        old = aggregate = None if row is None else row.value
        if change.old is not None and aggregate is not None:
            aggregate = subtract(key, change.old, aggregate)
        if change.new is not None:
            aggregate = add_first(key, change.new) if aggregate is None else add(key, change.new, aggregate)
        if reread and row is not None:
            old = get(key).value
        # A tombstone that comes out of a cache has the timestamp of its record.
        if row is not None and row.timestamp > timestamp and not (aggregate is None and cached):
            timestamp = row.timestamp
        keep(key, aggregate, old, timestamp)

    return process
