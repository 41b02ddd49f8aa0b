"""The store of a table that is computed from another table: how a result is kept and goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.interpreter.compiler import NodeContext
from penstock.interpreter.table_source import NOT_PUT


class Materialized(NamedTuple):
    """A computed table with a store of its own.

    Attributes:
        old: The value of a key before the change; None where nobody needs it.
        keep: Keeps a new value and forwards the change: (key, new, old, timestamp).
    """

    old: Callable[[Any], Any]
    keep: Callable[[Any, Any, Any, int], None]


def materialize(node: NodeContext, store: Any, *, send_old: bool, read_old: bool) -> Materialized:
    """How to work with a computed table's store.

    A versioned store says whether the change is its latest; what it does not take because it is older than the history
    is not forwarded either. In any other store the change that arrives last is the latest.
    """
    forward_result = node.table_forwarder(store, send_old)
    old = _value_of(store.get) if read_old else _nothing
    if store.kind == "versioned":
        put = store.put

        def keep_version(key: Any, new: Any, old: Any, timestamp: int) -> None:
            valid_to = put(key, new, timestamp)
            if valid_to != NOT_PUT:
                forward_result(key, new, old, timestamp, valid_to == -1)

        return Materialized(old, keep_version)
    write = store.write

    def keep(key: Any, new: Any, old: Any, timestamp: int) -> None:
        write(key, new, timestamp)
        forward_result(key, new, old, timestamp, True)

    return Materialized(old, keep)


def _value_of(get: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def value_of(key: Any) -> Any:
        row = get(key)
        return None if row is None else row.value

    return value_of


def _nothing(key: Any) -> None:
    return None
