"""A stream that looks up the table row of its key.

Only stream records emit. An unversioned table gives the row current by arrival, a versioned one the row valid at the
record's timestamp. With a grace period, stream records wait in a buffer, so that table updates that arrive late are
seen too, and leave it in (timestamp, key bytes, arrival) order.
"""

from __future__ import annotations

from typing import Any

from penstock.interpreter.compiler import NodeContext, Process, builds
from penstock.topology.operators import StreamTableJoin


@builds(StreamTableJoin)
def stream_table_join(operator: StreamTableJoin, node: NodeContext) -> Process:
    """Look up at once, or buffer first."""
    incomplete = _incomplete(operator, node)
    join_now = _lookup(operator, node, incomplete)
    return join_now if operator.grace is None else _buffered(operator, node, join_now, incomplete)


def _incomplete(operator: StreamTableJoin, node: NodeContext) -> Process:
    """What happens to records without key or value: a left join keeps those without a key, which have no row."""
    join, forward, left = operator.joiner.bind("key", "left", "right"), node.forward, operator.left
    drop_key, drop_value = node.drop("null key in a table lookup"), node.drop("null value in a table lookup")

    def process(key: Any, value: Any, timestamp: int) -> None:
        if value is None:
            drop_value()
        elif left:
            forward(key, join(key, value, None), timestamp)
        else:
            drop_key()

    return process


def _lookup(operator: StreamTableJoin, node: NodeContext, incomplete: Process) -> Process:
    """Join a record with its row, if there is one or the join is a left join."""
    join, forward, left = operator.joiner.bind("key", "left", "right"), node.forward, operator.left
    get, get_as_of = node.view(operator.table)
    if get_as_of is None:

        def join_current(key: Any, value: Any, timestamp: int) -> None:
            if key is None or value is None:
                incomplete(key, value, timestamp)
                return
            row = get(key)
            right = None if row is None else row[0]
            if left or right is not None:
                forward(key, join(key, value, right), timestamp)

        return join_current

    def join_version(key: Any, value: Any, timestamp: int) -> None:
        if key is None or value is None:
            incomplete(key, value, timestamp)
            return
        row = get_as_of(key, timestamp)
        right = None if row is None else row[0]
        if left or right is not None:
            forward(key, join(key, value, right), timestamp)

    return join_version


def _buffered(operator: StreamTableJoin, node: NodeContext, join_now: Process, incomplete: Process) -> Process:
    """Put records in order of time first; only what is buffered moves the buffer's clock and releases others."""
    assert operator.buffer_store is not None
    assert operator.grace is not None
    buffer, grace, context = node.store(operator.buffer_store), operator.grace, node.context
    put, pop_until = buffer.put, buffer.pop_until
    observed = -1

    def process(key: Any, value: Any, timestamp: int) -> None:
        nonlocal observed
        if key is None or value is None:
            incomplete(key, value, timestamp)
            return
        if timestamp > observed:
            observed = timestamp
        elif timestamp < observed - grace:
            join_now(key, value, timestamp)
            return
        headers = context.headers
        put(key, value, timestamp, headers)
        due = observed - grace
        if buffer.min_time > due:
            return
        try:
            for waited_key, waited_value, waited_timestamp, waited_headers in pop_until(due):
                context.headers = waited_headers
                join_now(waited_key, waited_value, waited_timestamp)
        finally:
            context.headers = headers

    return process
