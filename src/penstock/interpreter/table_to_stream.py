"""A table as a stream: the new value of every change, tombstones included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.interpreter.compiler import NodeContext, builds
from penstock.topology.operators import TableToStream


@builds(TableToStream)
def table_to_stream(operator: TableToStream, node: NodeContext) -> Callable[..., None]:
    """Forget the old value."""
    forward = node.forward

    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        forward(key, new, timestamp)

    return process
