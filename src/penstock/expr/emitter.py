"""Writes the Python code of expressions: straight-line statements, each shared part computed once.

Every statement remembers the node it computes, so that an error can name it without any cost for records that do
not fail.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from penstock.expr.nodes import Call, Field, Input, Literal, Node
from penstock.expr.registry import FUNCTIONS, HELPERS

INPUTS = ("k", "v", "ts")
Origin: TypeAlias = "Node | tuple[str, Node]"  # what a statement computes, or a text for it and its operand
_INLINE = (bool, int, str, bytes, type(None))


@dataclass(slots=True)
class Emitter:
    """Collects statements. `atom` gives the text that stands for a node's value: a name or a constant.

    Attributes:
        lines: The statements so far, each with the node it computes.
        inputs: Which of k, v, ts the code uses.
        namespace: What the code's global names mean.
    """

    lines: list[tuple[str, Origin | None]] = field(default_factory=list)
    inputs: set[str] = field(default_factory=set)
    namespace: dict[str, object] = field(default_factory=lambda: dict(HELPERS))
    _indent: int = 0
    _names: int = 0
    _constants: int = 0
    # A branch sees what was computed before it; what it computes is not seen after it.
    _scopes: list[dict[Node, str]] = field(default_factory=lambda: [{}])

    def atom(self, node: Node) -> str:
        """The text of a node's value; emits the statements that compute it, unless that was done before."""
        if isinstance(node, Input):
            self.inputs.add(node.name)
            return node.name
        if isinstance(node, Literal):
            return self._constant(node.value)
        for scope in reversed(self._scopes):
            if node in scope:
                return scope[node]
        atom = self._compute(node)
        self._scopes[-1][node] = atom
        return atom

    def _compute(self, node: Node) -> str:
        if isinstance(node, Field):
            base = self.atom(node.base)
            fast = f"{base}.get({node.name!r}) if {base}.__class__ is dict else read_field({base}, {node.name!r})"
            return self.assign(fast, node)
        if not isinstance(node, Call):
            raise TypeError(f"not an expression node: {node!r}")
        entry = FUNCTIONS[node.function]
        if entry.emit is not None:
            return entry.emit(self, node)
        atoms = [
            self.bind(entry.constants[position](argument.value))
            if position in entry.constants and isinstance(argument, Literal)
            else self.atom(argument)
            for position, argument in enumerate(node.arguments)
        ]
        code = entry.code.format(*atoms, args=", ".join(atoms))
        if entry.propagates_null:
            nullable = [atom for atom, argument in zip(atoms, node.arguments, strict=True) if may_be_null(argument)]
            if "None" in nullable:
                return "None"
            if nullable:
                code = f"None if {' or '.join(f'{atom} is None' for atom in dict.fromkeys(nullable))} else {code}"
        return self.assign(code, node)

    def _constant(self, value: Any) -> str:
        exact = type(value) in _INLINE or (type(value) is float and math.isfinite(value))
        if not exact:
            return self.bind(value)
        text = repr(value)
        return f"({text})" if text.startswith("-") else text

    def bind(self, value: object) -> str:
        """A global name for a Python object."""
        self._constants += 1
        name = f"c{self._constants}"
        self.namespace[name] = value
        return name

    def fresh(self) -> str:
        """A local name that is not used yet."""
        self._names += 1
        return f"t{self._names}"

    def used_names(self, source: str) -> dict[str, object]:
        """Global names that a text uses, and what they mean."""
        return {word: helper for word, helper in self.namespace.items() if word in source}

    def line(self, text: str, origin: Origin | None = None) -> None:
        """Add a statement."""
        self.lines.append(("    " * self._indent + text, origin))

    def assign(self, code: str, origin: Origin) -> str:
        """Add `name = code`; gives the name."""
        name = self.fresh()
        self.line(f"{name} = {code}", origin)
        return name

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """An indented block: `if x:`, `else:`. What is computed inside is forgotten after it."""
        self.line(header)
        self._indent += 1
        self._scopes.append({})
        yield
        self._scopes.pop()
        self._indent -= 1

    def condition(self, node: Node) -> str:
        """The atom of a node that must be True, False or null; adds the check where that is not known."""
        atom = self.atom(node)
        if not is_boolean(node):
            self.line(
                f"if {atom} is not True and {atom} is not False and {atom} is not None: raise not_boolean({atom})",
                node,
            )
        return atom


def may_be_null(node: Node) -> bool:
    """False if a node is known to be never null."""
    if isinstance(node, Literal):
        return node.value is None
    if isinstance(node, Input):
        return node.name != "ts"
    return not (isinstance(node, Call) and FUNCTIONS[node.function].never_null)


def is_boolean(node: Node) -> bool:
    """True if a node is known to be True, False or null."""
    if isinstance(node, Literal):
        return node.value is None or isinstance(node.value, bool)
    return isinstance(node, Call) and FUNCTIONS[node.function].boolean
