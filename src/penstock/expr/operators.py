"""Operators: arithmetic and comparison as in Python, nulls as in SQL."""

from __future__ import annotations

from penstock.expr.registry import FunctionEntry, define


def _infix(name: str, symbol: str, *, boolean: bool = False) -> None:
    code = f"{{0}} {symbol} {{1}}"
    define(FunctionEntry(name, code, f"({code})", boolean=boolean))


_infix("add", "+")
_infix("subtract", "-")
_infix("multiply", "*")
_infix("divide", "/")
_infix("floor_divide", "//")
_infix("modulo", "%")
define(FunctionEntry("negative", "-{0}", "(-{0})"))

_infix("eq", "==", boolean=True)
_infix("ne", "!=", boolean=True)
_infix("lt", "<", boolean=True)
_infix("le", "<=", boolean=True)
_infix("gt", ">", boolean=True)
_infix("ge", ">=", boolean=True)
define(FunctionEntry("isin", "{0} in {1}", "{0}.isin({1})", boolean=True, constants={1: frozenset}))
