"""A stream joined with itself over one store, in place of two copies of the same records.

For a record r at t, in the order a plain join of the two sides would give: (r, o) for the others o in
[t - before, t + after], then (o, r) for those in [t - after, t + before], with (r, r) in front of the first later one.
"""

from __future__ import annotations

from typing import Any

from penstock.interpreter.compiler import NodeContext, Process, builds
from penstock.topology.operators import SelfJoin


@builds(SelfJoin)
def self_join(operator: SelfJoin, node: NodeContext) -> Process:
    """Both sides of the join; the record itself is stored by the window node above, after this."""
    windows = operator.windows
    before, after = windows.before_ms, windows.after_ms
    retention = windows.size + windows.grace
    find, forward = node.store(operator.store).find, node.forward
    join = operator.joiner.bind("key", "left", "right")
    drop_key, drop_value = node.drop("null key in a self join"), node.drop("null value in a self join")
    join_time = -1

    def process(key: Any, value: Any, timestamp: int) -> None:
        nonlocal join_time
        if key is None or value is None:
            (drop_value if value is None else drop_key)()
            return
        if timestamp > join_time:
            join_time = timestamp
        # A plain join would not find a record this late in the other side's store.
        with_itself = timestamp > join_time - retention + 1
        start, end = timestamp - before, timestamp + after
        for other_time, other in find(key, start if start > 0 else 0, end if end > 0 else 0):
            forward(key, join(key, value, other), timestamp if timestamp > other_time else other_time)
        start, end = timestamp - after, timestamp + before
        for other_time, other in find(key, start if start > 0 else 0, end if end > 0 else 0):
            if other_time > timestamp:
                if with_itself:
                    with_itself = False
                    forward(key, join(key, value, value), timestamp)
                forward(key, join(key, other, value), other_time)
            else:
                forward(key, join(key, other, value), timestamp)
        if with_itself:
            forward(key, join(key, value, value), timestamp)

    return process
