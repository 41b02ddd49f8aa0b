"""What an expression gives for a record."""

from __future__ import annotations

from typing import Any

from penstock.expr import Expression, compile_expression


def run(expression: Expression, value: Any = None, *, key: Any = None, timestamp: int = 0) -> Any:
    compiled = compile_expression(expression)
    given = {"k": key, "v": value, "ts": timestamp}
    return compiled.function(*(given[name] for name in compiled.parameters))


def check(expression: Expression, value: Any, expected: Any) -> None:
    result = run(expression, value)
    assert repr(result) == repr(expected), expression
    assert type(result) is type(expected)
