"""Conditions: three-valued logic, nulls, and choices. Only the parts that are needed are evaluated."""

from __future__ import annotations

from typing import Any

from penstock.expr.emitter import Emitter, is_boolean, may_be_null
from penstock.expr.errors import ExpressionError
from penstock.expr.expression import Expression, call, node_of
from penstock.expr.nodes import Call, Literal, Node
from penstock.expr.registry import FunctionEntry, add_helpers, define


def _not_boolean(value: Any) -> ExpressionError:
    return ExpressionError(
        f"a condition is the {type(value).__name__} {value!r}, not true or false",
        hint="Compare it: for example x > 0, x != '' or x.is_not_null().",
    )


add_helpers(not_boolean=_not_boolean)


def _emit_and(emitter: Emitter, node: Call) -> str:
    left_node, right_node = node.arguments
    left = emitter.condition(left_node)
    result = emitter.fresh()
    with emitter.block(f"if {left} is False:"):
        emitter.line(f"{result} = False")
    with emitter.block("else:"):
        right = emitter.condition(right_node)
        null_left = f" if {left} else (False if {right} is False else None)" if may_be_null(left_node) else ""
        emitter.line(f"{result} = {right}{null_left}", node)
    return result


def _emit_or(emitter: Emitter, node: Call) -> str:
    left_node, right_node = node.arguments
    left = emitter.condition(left_node)
    result = emitter.fresh()
    with emitter.block(f"if {left} is True:"):
        emitter.line(f"{result} = True")
    with emitter.block("else:"):
        right = emitter.condition(right_node)
        null_left = f" if {left} is False else (True if {right} is True else None)" if may_be_null(left_node) else ""
        emitter.line(f"{result} = {right}{null_left}", node)
    return result


def _emit_not(emitter: Emitter, node: Call) -> str:
    value = emitter.condition(node.arguments[0])
    if may_be_null(node.arguments[0]):
        return emitter.assign(f"None if {value} is None else not {value}", node)
    return emitter.assign(f"not {value}", node)


def _emit_is_null(emitter: Emitter, node: Call) -> str:
    value = emitter.atom(node.arguments[0])
    negated = node.function == "is_not_null"
    if not may_be_null(node.arguments[0]):
        return str(negated)
    return emitter.assign(f"{value} is {'not ' if negated else ''}None", node)


def _emit_coalesce(emitter: Emitter, node: Call) -> str:
    result = emitter.assign(emitter.atom(node.arguments[0]), node)
    for argument in node.arguments[1:]:
        with emitter.block(f"if {result} is None:"):
            emitter.line(f"{result} = {emitter.atom(argument)}", node)
    return result


def _emit_when(emitter: Emitter, node: Call) -> str:
    *branches, default = node.arguments
    result = emitter.fresh()
    # A loop that runs once: `break` leaves the chain, so a long one does not nest.
    with emitter.block("while True:"):
        for condition, value in zip(branches[::2], branches[1::2], strict=True):
            holds = emitter.condition(condition)
            with emitter.block(f"if {holds}:"):
                emitter.line(f"{result} = {emitter.atom(value)}", node)
                emitter.line("break")
        emitter.line(f"{result} = {emitter.atom(default)}", node)
        emitter.line("break")
    return result


define(FunctionEntry("and", text="({0} & {1})", boolean=True, emit=_emit_and))
define(FunctionEntry("or", text="({0} | {1})", boolean=True, emit=_emit_or))
define(FunctionEntry("not", text="(~{0})", boolean=True, emit=_emit_not))
define(FunctionEntry("is_null", text="{0}.is_null()", boolean=True, never_null=True, emit=_emit_is_null))
define(FunctionEntry("is_not_null", text="{0}.is_not_null()", boolean=True, never_null=True, emit=_emit_is_null))
define(FunctionEntry("coalesce", emit=_emit_coalesce))
define(FunctionEntry("when", emit=_emit_when))


class When(Expression):
    """A choice that may be extended: `fn.when(a, x).when(b, y).otherwise(z)`. Without `otherwise` it ends in null."""

    __slots__ = ()

    def when(self, condition: object, value: object) -> When:
        """The value for records where this condition holds and none before it did."""
        *branches, _ = _arguments(self)
        return When(Call("when", (*branches, _condition(condition), node_of(value), Literal(None))))

    def otherwise(self, value: object) -> Expression:
        """The value for all other records."""
        *branches, _ = _arguments(self)
        return Expression(Call("when", (*branches, node_of(value))))


def _arguments(expression: Expression) -> tuple[Node, ...]:
    node = node_of(expression)
    assert isinstance(node, Call)
    return node.arguments


def _condition(value: object) -> Node:
    node = node_of(value)
    if isinstance(node, Literal) and not is_boolean(node):
        raise TypeError(f"the condition {value!r} is a constant. Give a condition such as v.price > 10.")
    return node


def when(condition: object, value: object) -> When:
    """The value where the condition holds; add more with `.when`, end with `.otherwise`.

    >>> from penstock.expr import fn, v
    >>> fn.when(v.age < 18, "minor").otherwise("adult")
    fn.when((v.age < 18), 'minor').otherwise('adult')
    """
    return When(Call("when", (_condition(condition), node_of(value), Literal(None))))


def if_(condition: object, then: object, otherwise: object = None) -> Expression:
    """`then` where the condition holds, else `otherwise`; also where the condition is null."""
    return when(condition, then).otherwise(otherwise)


def coalesce(*values: object) -> Expression:
    """The first value that is not null."""
    if not values:
        raise TypeError("fn.coalesce needs at least one value.")
    return call("coalesce", *values)


def nullif(value: object, other: object) -> Expression:
    """Null where the two are equal, else the first."""
    expression = Expression(node_of(value))
    return when(expression == other, None).otherwise(expression)
