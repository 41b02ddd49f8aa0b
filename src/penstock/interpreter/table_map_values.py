"""New values for a table's rows. Tombstones stay tombstones and the mapper does not see them.

Nothing is compared: an update that maps to the same value is forwarded too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.interpreter.compiler import NodeContext, builds
from penstock.interpreter.materialize import materialize
from penstock.topology.operators import TableMapValues


@builds(TableMapValues)
def table_map_values(operator: TableMapValues, node: NodeContext) -> Callable[..., None]:
    """Map new and old value, or take the old one from the table's own store."""
    mapper, send_old = operator.mapper.bind("key", "value", "timestamp"), operator.send_old
    if operator.store is not None:
        store = node.store(operator.store)
        old_row, keep = materialize(node, store, send_old=send_old, read_old=send_old and not store.cached)

        def process_kept(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
            keep(key, None if new is None else mapper(key, new, timestamp), old_row(key), timestamp)

        return process_kept
    forward = node.forward

    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        if new is not None:
            new = mapper(key, new, timestamp)
        old = mapper(key, old, timestamp) if send_old and old is not None else None
        forward(key, new, old, timestamp, is_latest)

    return process
