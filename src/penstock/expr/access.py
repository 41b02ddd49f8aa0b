"""Reading members of values: what generated code calls when its fast path for dicts does not apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from penstock.expr.errors import ExpressionError
from penstock.expr.registry import add_helpers

# An attribute of these is a method, never data.
_WITHOUT_FIELDS = (str, bytes, bytearray, int, float, complex, list, set, frozenset)


@lru_cache(maxsize=4096)
def _kind(cls: type) -> str:
    if issubclass(cls, Mapping):
        return "mapping"
    is_plain_tuple = issubclass(cls, tuple) and not hasattr(cls, "_fields")
    return "scalar" if is_plain_tuple or issubclass(cls, _WITHOUT_FIELDS) else "object"


def read_field(base: Any, name: str) -> Any:
    """A mapping's member or an object's attribute; null for a null base and for a missing member."""
    if base is None:
        return None
    kind = _kind(base.__class__)
    if kind == "mapping":
        return base.get(name)
    if kind == "object":
        try:
            return getattr(base, name)
        except AttributeError:
            raise _no_field(base, name) from None
    raise ExpressionError(
        f"a {type(base).__name__} has no field {name!r}",
        hint="Fields are read from dicts and objects; check the serde of the topic.",
    )


def read_item(base: Any, key: Any) -> Any:
    """An element of a sequence by position, or a member by name; null where there is none."""
    if base is None or key is None:
        return None
    if isinstance(base, Mapping):
        return base.get(key)
    if isinstance(key, str):
        return read_field(base, key)
    if isinstance(base, Sequence) and not isinstance(base, str | bytes) and isinstance(key, int):
        return base[key] if -len(base) <= key < len(base) else None
    raise ExpressionError(
        f"a {type(base).__name__} has no element {key!r}", hint="Elements are read from lists by position."
    )


def _no_field(base: Any, name: str) -> ExpressionError:
    known = [field for field in _field_names(type(base)) if not field.startswith("_")]
    near = get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return ExpressionError(
        f"a {type(base).__name__} has no field {name!r}", hint=f"{hint}It has: {', '.join(known) or 'no fields'}."
    )


def _field_names(cls: type) -> list[str]:
    for attribute in ("__dataclass_fields__", "__struct_fields__", "model_fields", "_fields"):
        if hasattr(cls, attribute):
            return list(getattr(cls, attribute))
    return sorted(vars(cls))


add_helpers(read_field=read_field, read_item=read_item)
