"""Casts, strict as in ANSI SQL: text that is no number is an error, not null."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from penstock.errors import TopologyError
from penstock.expr.errors import ExpressionError
from penstock.expr.registry import FunctionEntry, define

_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_TRUE = {"t", "true", "y", "yes", "1"}
_FALSE = {"f", "false", "n", "no", "0"}


def _fail(value: Any, kind: str, why: str = "") -> ExpressionError:
    reason = f": {why}" if why else ""
    return ExpressionError(
        f"the {type(value).__name__} {value!r} cannot be cast to {kind}{reason}",
        hint="Filter such records before, or use a function.",
    )


def _to_string(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, bytes):
        return value.decode()
    raise _fail(value, "string")


def _float_text(value: float) -> str:
    """A double as Java prints it: 1.0E10, not 10000000000.0."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    head, tail = digits[0], "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{head}.{tail}E{exponent + len(digits) - 1}"


def _to_whole(bits: int, kind: str) -> Callable[[Any], int]:
    limit = 2 ** (bits - 1)

    def cast(value: Any) -> int:
        if isinstance(value, str):
            if not _WHOLE.fullmatch(value.strip()):
                raise _fail(value, kind)
            number = int(value)
        elif isinstance(value, int | float | Decimal):  # bool is an int
            if not math.isfinite(value):
                raise _fail(value, kind)
            number = int(value)
        else:
            raise _fail(value, kind)
        if not -limit <= number < limit:
            raise _fail(value, kind, f"it does not fit into {bits} bits")
        return number

    return cast


def _to_double(value: Any) -> float:
    if isinstance(value, int | float | Decimal):
        return float(value)
    if isinstance(value, str) and _REAL.fullmatch(value.strip()):
        return float(value)
    raise _fail(value, "double")


def _to_boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | Decimal):
        return value != 0
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
    raise _fail(value, "boolean")


_CASTS: dict[str, Callable[[Any], Any]] = {
    "string": _to_string,
    "int": _to_whole(32, "int"),
    "long": _to_whole(64, "long"),
    "double": _to_double,
    "boolean": _to_boolean,
}
_ALIASES = {"integer": "int", "bigint": "long", "bool": "boolean"}


def _cast_function(kind: Any) -> Callable[[Any], Any]:
    name = _ALIASES.get(kind, kind) if isinstance(kind, str) else None
    if name in _CASTS:
        return _CASTS[name]
    near = get_close_matches(str(kind), [*_CASTS, *_ALIASES], n=1)
    hint = f'Did you mean "{near[0]}"? ' if near else ""
    raise TopologyError(f"no cast to {kind!r} is known", hint=f"{hint}Known types: {', '.join(_CASTS)}.")


define(FunctionEntry("cast", "{1}({0})", "{0}.cast({1})", constants={1: _cast_function}))
