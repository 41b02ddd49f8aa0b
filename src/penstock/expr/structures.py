"""Lists and dicts: making them and looking into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.expr.emitter import Emitter
from penstock.expr.expression import Expression, call, node_of
from penstock.expr.nodes import Call, Field, Literal
from penstock.expr.registry import FunctionEntry, define


def _emit_struct(emitter: Emitter, node: Call) -> str:
    names, *members = node.arguments
    assert isinstance(names, Literal)
    pairs = (f"{name!r}: {emitter.atom(member)}" for name, member in zip(names.value, members, strict=True))
    return emitter.assign(f"{{{', '.join(pairs)}}}", node)


def _size(value: Any) -> int:
    if isinstance(value, Mapping | set | frozenset) or (isinstance(value, Sequence) and not isinstance(value, str)):
        return len(value)
    raise TypeError(f"size counts the elements of lists and dicts, not {type(value).__name__}; for text use fn.length")


def _array_contains(array: Any, value: Any) -> bool:
    if isinstance(array, str | bytes):
        raise TypeError(f"expected a list, got {type(array).__name__}; for text use fn.contains")
    return value in array


define(FunctionEntry("struct", never_null=True, emit=_emit_struct))
define(FunctionEntry("array", "[{args}]", propagates_null=False, never_null=True))
define(FunctionEntry("get", "read_item({0}, {1})"))
define(FunctionEntry("size", "array_size({0})"), array_size=_size)
define(FunctionEntry("array_contains", "array_contains({0}, {1})", boolean=True), array_contains=_array_contains)


def lit(value: object) -> Expression:
    """A constant as an expression, where Python would otherwise get none: `map_values(fn.lit(1))`."""
    return Expression(node_of(value))


def struct(**members: object) -> Expression:
    """A dict with these members.

    >>> from penstock.expr import fn, v
    >>> fn.struct(id=v.id, total=v.price * v.quantity)
    fn.struct(id=v.id, total=(v.price * v.quantity))
    """
    return Expression(Call("struct", (Literal(tuple(members)), *(node_of(member) for member in members.values()))))


def array(*elements: object) -> Expression:
    """A list of these elements."""
    return call("array", *elements)


def get(base: object, key: object) -> Expression:
    """A member by name or an element by position, from 0, negative from the end; null where there is none."""
    if isinstance(key, str):
        return Expression(Field(node_of(base), key))
    return call("get", base, key)


def size(value: object) -> Expression:
    """The number of elements of a list or members of a dict."""
    return call("size", value)


def array_contains(array: object, value: object) -> Expression:
    """True where the list holds the value."""
    return call("array_contains", array, value)
