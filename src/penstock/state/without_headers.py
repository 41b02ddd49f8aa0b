"""Stores that keep headers, as operators see them: their rows are those of any other table."""

from __future__ import annotations

from functools import cache
from typing import Any

from penstock.records import Headers, ValueAndTimestamp

_SUFFIX = "_with_headers"


def without_headers(store: Any) -> Any:
    """The same store, read without the headers beside its values; a store that keeps none as it is."""
    if not getattr(store, "kind", "").endswith(_SUFFIX):
        return store
    kind: Any = type(store)
    view = object.__new__(_reader(kind))
    view.__dict__ = store.__dict__  # one store: what is written here is seen there, in caches and listeners too
    return view


@cache
def _reader(cls: Any) -> Any:
    kind = cls.kind.removesuffix(_SUFFIX)
    give = _session if kind == "session" else _row
    return type(f"{cls.__name__}Read", (cls,), {"kind": kind, "_give": give, "__doc__": cls.__doc__})


def _row(self: Any, value: Any, timestamp: int, headers: Headers) -> ValueAndTimestamp[Any]:
    return ValueAndTimestamp(value, timestamp)


def _session(self: Any, value: Any, timestamp: int, headers: Headers) -> Any:
    return value
