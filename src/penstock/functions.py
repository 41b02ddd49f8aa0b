"""Users' functions and expressions, with their calling shape fixed once at build time.

Kafka Streams passes `(key, value)` where a Python user often wants `(value)`. The number of required positional
parameters decides; the order never changes. Nothing is wrapped: the interpreter asks for the text of a call
(`Function.call_text`) and writes it into the code it generates, so a shape costs nothing per record.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.errors import TopologyError

# Full parameter lists, in Kafka's order. A function may take any suffix listed in _SHAPES.
MAPPER = ("key", "value")
JOINER = ("key", "left", "right")
GLOBAL_JOINER = ("stream_key", "key", "left", "right")
AGGREGATOR = ("key", "value", "aggregate")
REDUCER = ("aggregate", "value")
MERGER = ("key", "left", "right")
TOPIC_EXTRACTOR = ("key", "value", "context")

_SHAPES: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {
    MAPPER: (("value",), MAPPER),
    JOINER: (("left", "right"), JOINER),
    GLOBAL_JOINER: (("left", "right"), ("stream_key", "left", "right"), GLOBAL_JOINER),
    AGGREGATOR: (("value", "aggregate"), AGGREGATOR),
    REDUCER: (REDUCER,),
    TOPIC_EXTRACTOR: (MAPPER, TOPIC_EXTRACTOR),
}


@dataclass(frozen=True, slots=True)
class Function:
    """A callable and the parameters it takes.

    Attributes:
        call: The user's callable, untouched, or the compiled code of an expression.
        parameters: Names of what it takes, in order; a subset of the kind's full list, and `timestamp` for
            expressions that use `ts`.
        text: How describe() prints it; the expression's own text, or the function's name.
        expression: The expression it was made of, if any.
        copies: Its result shares nothing that can be changed with what it takes, and it changes nothing.
    """

    copies: ClassVar[bool] = False

    call: Callable[..., Any]
    parameters: tuple[str, ...]
    text: str = ""
    expression: Any = None

    def call_text(self, name: str, **arguments: str) -> str:
        """The source text of a call of this function.

        >>> Function(str.upper, ("value",)).call_text("f", key="key", value="value")
        'f(value)'
        """
        return f"{name}({', '.join(arguments.get(p, p) for p in self.parameters)})"

    def bind(self, *names: str) -> Callable[..., Any]:
        """A callable that takes exactly `names`, for places where no code is generated."""
        if names == self.parameters:
            return self.call
        source = f"lambda {', '.join(names)}: {self.call_text('_call')}"
        return eval(source, {"_call": self.call})  # type: ignore[no-any-return]  # noqa: S307 - our own text

    def __reduce__(self) -> tuple[Any, ...]:
        # An expression's compiled code cannot be pickled; its tree can, and compiles again where it arrives.
        if self.expression is not None:
            return (from_expression, (self.expression,))
        return (Function, (self.call, self.parameters, self.text))


@dataclass(frozen=True, slots=True)
class _Forced:
    """A callable whose shape the user states, because its signature cannot be read or misleads."""

    call: Callable[..., Any]
    with_key: bool

    def __call__(self, *arguments: Any) -> Any:
        return self.call(*arguments)


def with_key(function: Callable[..., Any]) -> Callable[..., Any]:
    """Say that a function takes the key first."""
    return _Forced(function, with_key=True)


def without_key(function: Callable[..., Any]) -> Callable[..., Any]:
    """Say that a function takes no key."""
    return _Forced(function, with_key=False)


def function(given: Any, kind: tuple[str, ...], what: str, *, line: str | None = None) -> Function:
    """Normalise what a user gave for a function of a kind (`MAPPER`, `JOINER`, ...).

    Raises:
        TopologyError: If it is no function, is a coroutine, or takes the wrong number of arguments.
    """
    if is_expression(given):
        if kind is not MAPPER:
            raise TopologyError(
                f"{what} cannot be an expression", line=line, hint=f"Give a function of ({', '.join(kind)})."
            )
        return from_expression(given)
    if isinstance(given, Function):
        return given
    shapes = _SHAPES[kind]
    if isinstance(given, _Forced):
        return Function(given.call, shapes[-1] if given.with_key else shapes[0], _name(given.call))
    if not callable(given):
        raise TopologyError(
            f"{what} is {given!r}, not a function", line=line, hint=f"Give a function of {_list_shapes(shapes)}."
        )
    if is_coroutine(given):
        raise TopologyError(
            f"{what} {_name(given)} is a coroutine function",
            line=line,
            hint="Records are processed one after the other; give an ordinary function.",
        )
    return Function(given, _shape_of(given, shapes, what, line), _name(given))


def _shape_of(
    given: Callable[..., Any], shapes: tuple[tuple[str, ...], ...], what: str, line: str | None
) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(given).parameters.values()
    except (TypeError, ValueError):  # some builtins: the shortest shape
        return shapes[0]
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty for p in positional)
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    for shape in shapes:
        if required == len(shape):
            return shape
    for shape in shapes:
        if required < len(shape) and (takes_any or len(positional) >= len(shape)):
            return shape
    raise TopologyError(
        f"{what} {_name(given)} takes {required} argument{'' if required == 1 else 's'}",
        line=line,
        hint=f"It must take {_list_shapes(shapes)}.",
    )


def is_coroutine(given: Any) -> bool:
    """True for an async function, and for an object that is called like one."""
    return inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(vars(type(given)).get("__call__"))


def _list_shapes(shapes: tuple[tuple[str, ...], ...]) -> str:
    return " or ".join(f"({', '.join(shape)})" for shape in shapes)


def _name(given: Any) -> str:
    return getattr(given, "__qualname__", None) or type(given).__qualname__


def is_expression(given: Any) -> bool:
    """True for a deferred expression such as `v.price > 10`."""
    return getattr(type(given), "__penstock_expression__", False) is True


def from_expression(expression: Any) -> Function:
    """The function of one record that an expression stands for."""
    from penstock.expr import compile_expression

    compiled = compile_expression(expression)
    long_names = {"k": "key", "v": "value", "ts": "timestamp"}
    return Function(compiled.function, tuple(long_names[p] for p in compiled.parameters), repr(expression), expression)


_IMMUTABLE = (str, bytes, int, float, bool, tuple, frozenset, type(None))


def initializer(given: Any, *, line: str | None = None) -> Callable[[], Any]:
    """A callable without arguments from a callable or an immutable constant."""
    if callable(given):
        return _without_arguments(given, line)
    parameters = getattr(type(given), "__dataclass_params__", None)
    if isinstance(given, _IMMUTABLE) or (parameters is not None and parameters.frozen):
        return Constant(given)
    kind = type(given).__name__
    raise TopologyError(
        f"the initializer is the {kind} {given!r}, which all keys would share and change",
        line=line,
        hint=f"Pass a function that makes a new one: {kind if kind in ('list', 'dict', 'set') else 'lambda: ...'}.",
    )


def _without_arguments(given: Callable[..., Any], line: str | None) -> Callable[[], Any]:
    if is_coroutine(given):
        raise TopologyError(
            f"the initializer {_name(given)} is a coroutine function", line=line, hint="Give an ordinary function."
        )
    try:
        inspect.signature(given).bind()
    except TypeError:
        raise TopologyError(
            f"the initializer {_name(given)} takes arguments", line=line, hint="It must take none."
        ) from None
    except ValueError:  # some builtins have no signature
        pass
    return given


@dataclass(frozen=True, slots=True)
class Constant:
    """An initializer that always gives the same immutable value."""

    value: Any

    def __call__(self) -> Any:
        return self.value
