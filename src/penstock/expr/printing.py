"""Expressions as text, close to how users write them."""

from __future__ import annotations

from functools import lru_cache
from keyword import iskeyword
from typing import Any

from penstock.expr.nodes import Call, Field, Input, Literal, Node
from penstock.expr.registry import FUNCTIONS

_NULL = Literal(None)


def text_of(node: Node) -> str:
    """The text of a node, for repr, describe() and messages."""
    if isinstance(node, Input):
        return node.name
    if isinstance(node, Literal):
        return ", ".join(map(repr, node.value)) if isinstance(node.value, tuple) else repr(node.value)
    if isinstance(node, Field):
        base = _receiver(node.base)
        plain = node.name.isidentifier() and not iskeyword(node.name) and node.name not in reserved_names()
        return f"{base}.{node.name}" if plain else f"{base}[{node.name!r}]"
    if isinstance(node, Call):
        return _call_text(node)
    raise TypeError(f"not an expression node: {node!r}")


def _call_text(node: Call) -> str:
    if node.function == "struct":
        names: Any = node.arguments[0]
        members = zip(names.value, node.arguments[1:], strict=True)
        return f"fn.struct({', '.join(f'{name}={text_of(member)}' for name, member in members)})"
    if node.function == "when":
        *branches, default = map(text_of, node.arguments)
        cases = ".".join(f"when({branches[i]}, {branches[i + 1]})" for i in range(0, len(branches), 2))
        return f"fn.{cases}.otherwise({default})"
    template = FUNCTIONS[node.function].text
    if not template:
        return f"fn.{node.function}({', '.join(map(text_of, node.arguments))})"
    texts = [_receiver(argument) if argument == _NULL else text_of(argument) for argument in node.arguments]
    # Operators and methods of a plain constant would be Python's own.
    if template.startswith("{0}.") or all(isinstance(argument, Literal) for argument in node.arguments):
        texts[0] = _receiver(node.arguments[0])
    return template.format(*texts)


def _receiver(node: Node) -> str:
    return f"fn.lit({text_of(node)})" if isinstance(node, Literal) else text_of(node)


@lru_cache(maxsize=1)
def reserved_names() -> frozenset[str]:
    """Names that are methods of an expression, so that a field of that name needs `v["name"]`."""
    from penstock.expr.expression import Expression

    return frozenset(name for name in vars(Expression) if not name.startswith("_"))
