"""The table of functions that expressions may use.

An entry holds all that is known of a function: its name, its Python code as a text template, how it treats nulls, how
it prints. The entries are defined beside the public functions, one file for each family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.expr.emitter import Emitter
    from penstock.expr.nodes import Call


@dataclass(frozen=True, slots=True)
class FunctionEntry:
    """One function.

    Attributes:
        name: Unique; also the name in `fn` unless `text` says otherwise.
        code: Python expression with `{0}`, `{1}`, ... for the arguments and `{args}` for all of them.
        text: How it prints, with the same placeholders; empty for `fn.name(args)`.
        propagates_null: A null argument makes the result null and the code is not run.
        boolean: The result is True, False or null.
        never_null: The result is not null, whatever the arguments are.
        constants: Arguments that must be literals, by position, each with the function that makes of the literal
            what the code uses. It is called when the expression is built, so bad literals fail there.
        emit: Writes the code instead of `code`, for functions that evaluate only some of their arguments.
    """

    name: str
    code: str = ""
    text: str = ""
    propagates_null: bool = True
    boolean: bool = False
    never_null: bool = False
    constants: Mapping[int, Callable[[Any], object]] = field(default_factory=lambda: MappingProxyType({}))
    emit: Callable[[Emitter, Call], str] | None = None


_FUNCTIONS: dict[str, FunctionEntry] = {}
_HELPERS: dict[str, object] = {}

FUNCTIONS: Mapping[str, FunctionEntry] = MappingProxyType(_FUNCTIONS)
HELPERS: Mapping[str, object] = MappingProxyType(_HELPERS)


def define(entry: FunctionEntry, **helpers: object) -> None:
    """Add a function to the table.

    Args:
        entry: The function.
        helpers: What its code calls, by the names the code uses. The names are shared by all functions.
    """
    if entry.name in _FUNCTIONS:
        raise ValueError(f"the function {entry.name} is defined twice")
    _FUNCTIONS[entry.name] = entry
    add_helpers(**helpers)


def add_helpers(**helpers: object) -> None:
    """Make Python objects known to generated code under names."""
    for name, helper in helpers.items():
        if _HELPERS.setdefault(name, helper) is not helper:
            raise ValueError(f"the helper {name} is defined twice")
