"""A second, naive evaluator of expressions: walks the tree, written from the rules and not from the compiler."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from penstock.expr.expression import Expression, node_of
from penstock.expr.nodes import Call, Field, Input, Literal, Node


def evaluate(expression: Expression, **inputs: Any) -> Any:
    return _value(node_of(expression), inputs)


def _value(node: Node, inputs: Mapping[str, Any]) -> Any:
    if isinstance(node, Input):
        return inputs[node.name]
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Field):
        return _member(_value(node.base, inputs), node.name)
    assert isinstance(node, Call)
    if node.function in _LAZY:
        return _LAZY[node.function](node.arguments, inputs)
    arguments = [_value(argument, inputs) for argument in node.arguments]
    if node.function in _WITH_NULLS:
        return _WITH_NULLS[node.function](*arguments)
    return None if None in arguments else _STRICT[node.function](*arguments)


def _member(base: Any, name: str) -> Any:
    if base is None:
        return None
    return base.get(name) if isinstance(base, dict) else getattr(base, name)


def _boolean(value: Any) -> Any:
    if value is None or value is True or value is False:
        return value
    raise ValueError(value)


def _and(arguments: tuple[Node, ...], inputs: Mapping[str, Any]) -> Any:
    left = _boolean(_value(arguments[0], inputs))
    if left is False:
        return False
    right = _boolean(_value(arguments[1], inputs))
    if right is False:
        return False
    return None if left is None or right is None else True


def _or(arguments: tuple[Node, ...], inputs: Mapping[str, Any]) -> Any:
    left = _boolean(_value(arguments[0], inputs))
    if left is True:
        return True
    right = _boolean(_value(arguments[1], inputs))
    if right is True:
        return True
    return None if left is None or right is None else False


def _not(arguments: tuple[Node, ...], inputs: Mapping[str, Any]) -> Any:
    value = _boolean(_value(arguments[0], inputs))
    return None if value is None else not value


def _when(arguments: tuple[Node, ...], inputs: Mapping[str, Any]) -> Any:
    for position in range(0, len(arguments) - 1, 2):
        if _boolean(_value(arguments[position], inputs)):
            return _value(arguments[position + 1], inputs)
    return _value(arguments[-1], inputs)


def _coalesce(arguments: tuple[Node, ...], inputs: Mapping[str, Any]) -> Any:
    for argument in arguments:
        value = _value(argument, inputs)
        if value is not None:
            return value
    return None


def _struct(arguments: tuple[Node, ...], inputs: Mapping[str, Any]) -> Any:
    names = arguments[0]
    assert isinstance(names, Literal)
    return dict(zip(names.value, [_value(argument, inputs) for argument in arguments[1:]], strict=True))


_LAZY: dict[str, Callable[[tuple[Node, ...], Mapping[str, Any]], Any]] = {
    "and": _and,
    "or": _or,
    "not": _not,
    "when": _when,
    "coalesce": _coalesce,
    "struct": _struct,
}
_WITH_NULLS: dict[str, Callable[..., Any]] = {
    "is_null": lambda x: x is None,
    "is_not_null": lambda x: x is not None,
    "array": lambda *xs: list(xs),
    "greatest": lambda *xs: None if all(x is None for x in xs) else max(x for x in xs if x is not None),
    "least": lambda *xs: None if all(x is None for x in xs) else min(x for x in xs if x is not None),
    "concat_ws": lambda sep, *xs: None if sep is None else sep.join(x for x in xs if x is not None),
}
_STRICT: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "floor_divide": operator.floordiv,
    "modulo": operator.mod,
    "negative": operator.neg,
    "eq": lambda a, b: a == b,
    "ne": operator.ne,
    "lt": lambda a, b: b > a,
    "le": lambda a, b: b >= a,
    "gt": lambda a, b: b < a,
    "ge": lambda a, b: b <= a,
    "isin": lambda a, xs: any(a == x for x in xs),
    "abs": operator.abs,
    "upper": lambda s: s.upper(),
    "lower": lambda s: s.lower(),
    "trim": lambda s: re.sub("^ +| +$", "", s),
    "length": len,
    "concat": lambda *xs: "".join(xs),
    "contains": lambda s, part: part in s,
    "starts_with": lambda s, part: s[: len(part)] == part,
    "ends_with": lambda s, part: part == "" or s[-len(part) :] == part,
    "get": lambda xs, i: (xs[i] if -len(xs) <= i < len(xs) else None) if isinstance(xs, list) else xs.get(i),
    "size": len,
}
