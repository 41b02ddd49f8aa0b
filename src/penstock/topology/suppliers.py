"""Suppliers of user processors: a class, a function that makes one, or a generator function."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from penstock.errors import TopologyError

if TYPE_CHECKING:
    from penstock.state.builders import StoreBuilder


def check_supplier(supplier: Any, node: str, line: str | None) -> Any:
    """The supplier, if it can give a new processor to every task."""
    if inspect.iscoroutinefunction(supplier) or inspect.isasyncgenfunction(supplier):
        raise TopologyError(
            f"the processor {node} is a coroutine function",
            node=node,
            line=line,
            hint="Records are processed one after the other; give an ordinary class or function.",
        )
    get = getattr(supplier, "get", None)
    if callable(supplier) or callable(get):
        if inspect.isclass(supplier) or inspect.isgeneratorfunction(supplier):
            return supplier
        make = get if callable(get) else supplier
        _check_takes_nothing(make, node, line)
        if make() is make():
            raise TopologyError(
                f"the supplier of {node} gives the same processor twice",
                node=node,
                line=line,
                hint="Every task needs its own: make a new one in each call.",
            )
        return supplier
    raise TopologyError(
        f"the processor of {node} is {supplier!r}, which makes no processors",
        node=node,
        line=line,
        hint="Give a Processor class, a function that returns a new processor, or a generator function of (record, context).",
    )


def _check_takes_nothing(make: Any, node: str, line: str | None) -> None:
    try:
        inspect.signature(make).bind()
    except TypeError:
        raise TopologyError(
            f"the processor of {node} is a function that takes arguments but yields nothing",
            node=node,
            line=line,
            hint="A function of (record, context) must yield the records to forward; "
            "one without arguments must return a new processor.",
        ) from None
    except ValueError:  # some builtins have no signature: the call below tells
        return


def stores_of(supplier: Any) -> tuple[StoreBuilder, ...]:
    """Stores that a supplier brings along: `stores()` of the supplier, or of the class if it is static there."""
    listed = getattr(supplier, "stores", None)
    if not callable(listed):
        return ()
    if inspect.isclass(supplier) and not _callable_on_class(supplier):
        return ()
    return tuple(listed() or ())


def _callable_on_class(supplier: type) -> bool:
    return isinstance(inspect.getattr_static(supplier, "stores"), (staticmethod, classmethod))
