"""From an expression to one Python function: no tree is walked for a record."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.errors import PenstockError, TopologyError
from penstock.expr.emitter import INPUTS, Emitter, Origin
from penstock.expr.errors import ExpressionError
from penstock.expr.expression import Expression, node_of
from penstock.expr.nodes import Call, Field, Literal, Node
from penstock.expr.printing import text_of

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


@dataclass(frozen=True, slots=True, eq=False)
class CompiledExpression:
    """An expression as a function.

    Attributes:
        expression: What it was made of.
        function: Takes the parameters in order; gives the value, None for null.
        parameters: Which of `k`, `v`, `ts` the function takes, in that order.
        source: The generated code.
    """

    expression: Expression
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    source: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompiledExpression) and self.expression.equals(other.expression)

    def __hash__(self) -> int:
        return hash(self.expression)

    def __reduce__(self) -> tuple[Any, ...]:
        # The function exists in this process only; the expression travels and is compiled again.
        return (compile_expression, (self.expression,))


def compile_expression(expression: Expression) -> CompiledExpression:
    """Compile an expression.

    >>> from penstock.expr import v
    >>> compiled = compile_expression(v.price * 2 > 10)
    >>> compiled.parameters, compiled.function({"price": 7}), compiled.function({})
    (('v',), True, None)
    """
    if not isinstance(expression, Expression):
        raise TopologyError(f"{expression!r} is no expression", hint="Write one with v, k, ts and fn: v.price > 10.")
    emitter = Emitter()
    try:
        result = emitter.atom(node_of(expression))
    except RecursionError:
        raise too_deep() from None
    parameters = tuple(name for name in INPUTS if name in emitter.inputs)
    function, source = build_function("expression", parameters, emitter, result)
    return CompiledExpression(expression, function, parameters, source)


def too_deep() -> TopologyError:
    """What is said of an expression that Python, or the walk through its parts, does not take."""
    return TopologyError(
        "an expression is nested too deeply to compile", hint="Write it as a function, or in several map_values."
    )


def build_function(
    name: str, parameters: tuple[str, ...], emitter: Emitter, result: str
) -> tuple[Callable[..., Any], str]:
    """The function made of an emitter's statements, and its source."""
    lines: list[tuple[str, Origin | None]] = [
        (f"def {name}({', '.join(parameters)}):", None),
        ("    try:", None),
        *((f"        {text}", origin) for text, origin in emitter.lines),
        (f"        return {result}", None),
        ("    except Exception as error:", None),
        ("        raise explain(error) from error", None),
    ]
    source = "\n".join(text for text, _ in lines) + "\n"
    namespace = {**emitter.used_names(source), "explain": _Explain(name, tuple(origin for _, origin in lines))}
    try:
        exec(compile(source, f"<penstock {name}>", "exec"), namespace)  # noqa: S102 - the text is our own
    except (SyntaxError, RecursionError):  # 20 blocks in each other, 100 levels of indentation
        raise too_deep() from None
    return namespace[name], source  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class _Explain:
    """Makes of an error inside generated code one that names the part of the expression and its values."""

    what: str
    origins: tuple[Origin | None, ...]

    def __call__(self, error: Exception) -> PenstockError:
        trace = error.__traceback__
        assert trace is not None
        origin = self.origins[trace.tb_lineno - 1]
        cause = error.message if isinstance(error, PenstockError) else f"{type(error).__name__}: {error}"
        hint = error.hint if isinstance(error, PenstockError) else ""
        if origin is None:
            return ExpressionError(f"the {self.what} failed: {cause}", hint=hint)
        inputs = {name: trace.tb_frame.f_locals[name] for name in INPUTS if name in trace.tb_frame.f_locals}
        text, operands = (origin[0], origin[1:]) if isinstance(origin, tuple) else (text_of(origin), _children(origin))
        shown = _values(operands, inputs)
        return ExpressionError(f"{text} failed: {cause}{f' ({shown})' if shown else ''}", hint=hint)


def _children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Call):
        return node.arguments
    return (node.base,) if isinstance(node, Field) else ()


def _values(nodes: tuple[Node, ...], inputs: dict[str, Any]) -> str:
    """`text = value` of operands, computed anew: an error is worth the time."""
    texts = []
    for node in dict.fromkeys(nodes):
        if isinstance(node, Literal):
            continue
        try:
            compiled = compile_expression(Expression(node))
            value = compiled.function(*(inputs[name] for name in compiled.parameters))
        except PenstockError:
            continue
        texts.append(f"{text_of(node)} = {_SHORT.repr(value)}")
    return ", ".join(texts)
