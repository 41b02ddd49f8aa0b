"""Deferred expressions: what users write with `v`, `k` and `ts`."""

from __future__ import annotations

from typing import Any, NoReturn, cast

from penstock.errors import TopologyError
from penstock.expr.literals import literal_node
from penstock.expr.nodes import Call, Field, Input, Literal, Node
from penstock.expr.printing import text_of
from penstock.expr.registry import FUNCTIONS

_TYPE_NAMES: dict[type, str] = {str: "string", int: "long", float: "double", bool: "boolean"}


class Expression:
    """A computation on one record, written now and run later. Immutable and picklable.

    `v.price` reads the member `price` of a dict or the attribute of an object; null stays null. Operators and
    functions build larger expressions. A field whose name is also a method of this class is read as `v["cast"]`.

    >>> from penstock.expr import v
    >>> (v.price > 10) & v.ticker.isin("A", "B")
    ((v.price > 10) & v.ticker.isin('A', 'B'))
    """

    __slots__ = ("__node",)
    __penstock_expression__ = True

    def __init__(self, node: Node) -> None:
        object.__setattr__(self, "_Expression__node", node)

    # ---- access

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)  # Python's own protocols ask for these
        return Expression(Field(node_of(self), name))

    def __getitem__(self, key: object) -> Expression:
        if isinstance(key, str):
            return Expression(Field(node_of(self), key))
        if isinstance(key, slice):
            raise TypeError(f"{self!r} cannot be sliced before a record arrives. Use fn.substring or fn.get.")
        return call("get", self, key)

    # ---- methods

    def is_null(self) -> Expression:
        """True where the value is null."""
        return call("is_null", self)

    def is_not_null(self) -> Expression:
        """True where the value is not null."""
        return call("is_not_null", self)

    def coalesce(self, *others: object) -> Expression:
        """This value, or the first of the others that is not null."""
        return call("coalesce", self, *others)

    def isin(self, *values: object) -> Expression:
        """True where the value equals one of those given, as arguments or as one list, tuple or set."""
        given = values[0] if len(values) == 1 and isinstance(values[0], list | tuple | set | frozenset) else values
        members = [node_of(value) for value in cast("tuple[object, ...]", given)]
        if any(isinstance(member, Literal) and member.value is None for member in members):
            raise TopologyError(f"{self!r}.isin(...) holds None", hint="Null equals nothing; add | x.is_null().")
        if all(isinstance(member, Literal) for member in members):
            constants = tuple(cast("Literal", member).value for member in members)
            return Expression(checked(Call("isin", (node_of(self), Literal(constants)))))
        result: Expression = Expression(Literal(False))
        for position, member in enumerate(members):
            equal = self == Expression(member)
            result = equal if position == 0 else result | equal
        return result

    def between(self, low: object, high: object) -> Expression:
        """True where low <= value <= high."""
        return (self >= low) & (self <= high)

    def like(self, pattern: str) -> Expression:
        r"""True where the text matches an SQL pattern: `%` any characters, `_` one, `\` before them takes it back."""
        return call("like", self, pattern)

    def cast(self, kind: str | type) -> Expression:
        """The value as "string", "int" (32 bits), "long", "double" or "boolean"; also as str, int, float, bool."""
        return call("cast", self, _TYPE_NAMES.get(kind, kind.__name__) if isinstance(kind, type) else kind)

    def equals(self, other: object) -> bool:
        """True if both are the same expression; `==` builds a comparison instead."""
        return isinstance(other, Expression) and node_of(self) == node_of(other)

    # ---- operators

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return call("eq", self, _not_none(self, other, "==", "is_null"))

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return call("ne", self, _not_none(self, other, "!=", "is_not_null"))

    def __lt__(self, other: object) -> Expression:
        return call("lt", self, other)

    def __le__(self, other: object) -> Expression:
        return call("le", self, other)

    def __gt__(self, other: object) -> Expression:
        return call("gt", self, other)

    def __ge__(self, other: object) -> Expression:
        return call("ge", self, other)

    def __add__(self, other: object) -> Expression:
        return call("add", self, other)

    def __radd__(self, other: object) -> Expression:
        return call("add", other, self)

    def __sub__(self, other: object) -> Expression:
        return call("subtract", self, other)

    def __rsub__(self, other: object) -> Expression:
        return call("subtract", other, self)

    def __mul__(self, other: object) -> Expression:
        return call("multiply", self, other)

    def __rmul__(self, other: object) -> Expression:
        return call("multiply", other, self)

    def __truediv__(self, other: object) -> Expression:
        return call("divide", self, other)

    def __rtruediv__(self, other: object) -> Expression:
        return call("divide", other, self)

    def __floordiv__(self, other: object) -> Expression:
        return call("floor_divide", self, other)

    def __rfloordiv__(self, other: object) -> Expression:
        return call("floor_divide", other, self)

    def __mod__(self, other: object) -> Expression:
        return call("modulo", self, other)

    def __rmod__(self, other: object) -> Expression:
        return call("modulo", other, self)

    def __pow__(self, other: object) -> Expression:
        return call("pow", self, other)

    def __rpow__(self, other: object) -> Expression:
        return call("pow", other, self)

    def __neg__(self) -> Expression:
        return call("negative", self)

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return call("abs", self)

    def __and__(self, other: object) -> Expression:
        return call("and", self, _condition(other, "&"))

    def __rand__(self, other: object) -> Expression:
        return call("and", _condition(other, "&"), self)

    def __or__(self, other: object) -> Expression:
        return call("or", self, _condition(other, "|"))

    def __ror__(self, other: object) -> Expression:
        return call("or", _condition(other, "|"), self)

    def __invert__(self) -> Expression:
        return call("not", self)

    # ---- what Python would do at once and an expression cannot

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} is neither true nor false before a record arrives. Use & | ~ instead of and, or, not, with "
            "parentheses around comparisons; .between(a, b) instead of a < x < b; fn.when(...) instead of if."
        )

    def __contains__(self, item: object) -> NoReturn:
        raise TypeError(f"`in` cannot look into {self!r}. Use fn.contains, fn.array_contains or x.isin(...).")

    def __iter__(self) -> NoReturn:
        raise TypeError(f"{self!r} cannot be iterated before a record arrives. Use flat_map_values with a function.")

    def __len__(self) -> NoReturn:
        raise TypeError(f"{self!r} has no length before a record arrives. Use fn.length or fn.size.")

    # ---- values

    def __hash__(self) -> int:
        return hash(node_of(self))

    def __repr__(self) -> str:
        node = node_of(self)
        return f"fn.lit({text_of(node)})" if isinstance(node, Literal) else text_of(node)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an expression cannot be changed: {self!r}.{name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (node_of(self),))


def node_of(value: object) -> Node:
    """The tree of an expression; a constant becomes a literal."""
    if isinstance(value, Expression):
        return cast("Node", object.__getattribute__(value, "_Expression__node"))
    return literal_node(value)


def call(function: str, *arguments: object) -> Expression:
    """The expression that applies a function of the table."""
    return Expression(checked(Call(function, tuple(node_of(argument) for argument in arguments))))


def checked(node: Call) -> Call:
    """The same call, after the arguments that must be constants were tried."""
    for position, prepare in FUNCTIONS[node.function].constants.items():
        if position < len(node.arguments):
            argument = node.arguments[position]
            if not isinstance(argument, Literal):
                raise TopologyError(
                    f"argument {position + 1} of {node.function} is the expression {text_of(argument)}",
                    hint="It must be a constant, known before the first record.",
                )
            prepare(argument.value)
    return node


def _not_none(left: Expression, right: object, operator: str, instead: str) -> object:
    if right is None:
        raise TypeError(f"{left!r} {operator} None is never true: null equals nothing. Use {left!r}.{instead}().")
    return right


def _condition(value: object, operator: str) -> object:
    if isinstance(value, Expression | bool):
        return value
    raise TypeError(
        f"{operator} combines conditions, not {value!r}. Put comparisons in parentheses: (v.a > 1) {operator} (v.b < 2)."
    )


k = Expression(Input("k"))
v = Expression(Input("v"))
ts = Expression(Input("ts"))
