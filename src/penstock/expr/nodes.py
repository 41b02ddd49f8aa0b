"""The trees behind expressions. A node knows its structure only; what a function means is in its table entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class Node:
    """One part of an expression tree. Immutable, comparable by structure, picklable."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Input(Node):
    """A part of the record: `k`, `v` or `ts`."""

    name: str


@dataclass(frozen=True, slots=True)
class Field(Node):
    """A member of a mapping, or an attribute of an object; null if the base is null."""

    base: Node
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Node):
    """A constant. 1, 1.0 and True are different constants."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[type, Any]:
        # repr tells 0.0 from -0.0 and makes NaN equal to itself; inside a tuple it tells 1 from True too
        return type(self.value), repr(self.value) if isinstance(self.value, float | tuple) else self.value


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function or operator of the table, applied to arguments."""

    function: str
    arguments: tuple[Node, ...]
