"""A topic or a stream as a table: the last value of each key."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from penstock.interpreter.compiler import NodeContext, builds
from penstock.topology.operators import GlobalTableSource, TableSource

log = logging.getLogger("penstock.task")
NOT_PUT = -(1 << 63)  # a versioned store refuses a version older than its history


@builds(TableSource)
def table_source(operator: TableSource, node: NodeContext) -> Callable[..., None]:
    """Keep the row if the table is materialised, and forward the change."""
    drop = node.drop("null key in a table")
    if operator.store is None:
        return _unmaterialised(node, drop)
    store = node.store(operator.store)
    if store.kind == "versioned":
        return _versioned(operator, node, store, drop)
    forward_result = node.table_forwarder(store, operator.send_old)
    get, write = store.get, store.write
    needs_old = operator.send_old or not getattr(store, "cached", False)
    context = node.context

    def process(key: Any, value: Any, timestamp: int) -> None:
        if key is None:
            drop()
            return
        old = None
        if needs_old:
            row = get(key)
            if row is not None:
                old = row[0]
                if timestamp < row[1]:
                    # The update that arrives last wins, whatever its timestamp; users of time should know.
                    log.warning(
                        "out-of-order update of table store %s: timestamp %d after %d (offset %s of %s-%s)",
                        operator.store, timestamp, row[1], context.offset, context.topic, context.partition,
                    )  # fmt: skip
        write(key, value, timestamp)
        forward_result(key, value, old, timestamp, True)

    return process


def _unmaterialised(node: NodeContext, drop: Callable[[], None]) -> Callable[..., None]:
    forward = node.forward

    def process(key: Any, value: Any, timestamp: int) -> None:
        if key is None:
            drop()
        else:
            forward(key, value, None, timestamp, True)

    return process


def _versioned(operator: TableSource, node: NodeContext, store: Any, drop: Callable[[], None]) -> Callable[..., None]:
    """A version is forwarded with whether it is the latest; one older than the history is not kept and not forwarded."""
    forward_result = node.table_forwarder(store, operator.send_old)
    get, put = store.get, store.put

    def process(key: Any, value: Any, timestamp: int) -> None:
        if key is None:
            drop()
            return
        row = get(key)
        old = None if row is None else row.value
        valid_to = put(key, value, timestamp)
        if valid_to == NOT_PUT:
            return  # the store counted it
        forward_result(key, value, old, timestamp, valid_to == -1)

    return process


@builds(GlobalTableSource)
def global_table_source(operator: GlobalTableSource, node: NodeContext) -> Callable[..., None]:
    """Keep the row of a global table."""
    drop = node.drop("null key in a global table")
    write = node.store(operator.store).write

    def process(key: Any, value: Any, timestamp: int) -> None:
        if key is None:
            drop()
        else:
            write(key, value, timestamp)

    return process
