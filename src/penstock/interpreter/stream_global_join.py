"""A stream that looks rows up in a global table, by a key that a function selects.

The row of that moment is used: nothing is repartitioned and no time is compared.
"""

from __future__ import annotations

from typing import Any

from penstock.interpreter.compiler import NodeContext, Process, builds
from penstock.topology.operators import StreamGlobalJoin


@builds(StreamGlobalJoin)
def stream_global_join(operator: StreamGlobalJoin, node: NodeContext) -> Process:
    """Select the key, read the row, join."""
    select = operator.selector.bind("key", "value")
    join = operator.joiner.bind("stream_key", "key", "left", "right")
    get, forward, left = node.view(operator.table).get, node.forward, operator.left
    drop_key = node.drop("null lookup key in a global table join")
    drop_value = node.drop("null value in a global table join")

    def process(key: Any, value: Any, timestamp: int) -> None:
        if value is None:
            drop_value()
            return
        lookup = select(key, value)
        row = None
        if lookup is not None:
            row = get(lookup)
        elif not left:
            drop_key()
            return
        right = None if row is None else row[0]
        if left or right is not None:
            forward(key, join(key, lookup, value, right), timestamp)

    return process
