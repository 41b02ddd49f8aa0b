"""Filter of a table: a row for which the predicate does not hold is a tombstone.

Without old values that tombstone is forwarded every time, even if the key was never there. With them, a change from
nothing to nothing is not forwarded, unless the parent is versioned: then each change is a version of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.interpreter.compiler import NodeContext, builds
from penstock.interpreter.materialize import materialize
from penstock.topology.operators import TableFilter


@builds(TableFilter)
def table_filter(operator: TableFilter, node: NodeContext) -> Callable[..., None]:
    """Test new and old value."""
    test, negate, send_old = operator.predicate.bind("key", "value", "timestamp"), operator.negate, operator.send_old
    skip_nothing = send_old and not operator.versioned

    def keep_if(key: Any, value: Any, timestamp: int) -> Any:
        return value if value is not None and bool(test(key, value, timestamp)) != negate else None

    if operator.store is not None:
        # The store is read even if it is cached: what is in it decides whether anything is forwarded.
        old_row, keep = materialize(node, node.store(operator.store), send_old=send_old, read_old=send_old)

        def process_kept(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
            new = keep_if(key, new, timestamp)
            before = old_row(key)
            if not (skip_nothing and new is None and before is None):
                keep(key, new, before, timestamp)

        return process_kept
    forward = node.forward

    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        new = keep_if(key, new, timestamp)
        old = keep_if(key, old, timestamp) if send_old else None
        if not (skip_nothing and new is None and old is None):
            forward(key, new, old, timestamp, is_latest)

    return process
