"""Functions of stateful operators written as text: what is known when the task is built is written into them.

A generated function calls the user's aggregator directly and works on the cells of a cache in place, so that a record costs
what its aggregator costs and little else.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from typing import Any

from penstock.expr.aggregate import Aggregate, Inlined
from penstock.functions import Constant
from penstock.interpreter.loops import FOR_EACH, Loop
from penstock.interpreter.tracing import register_generated
from penstock.isolation import IMMUTABLE, copier, own_copy
from penstock.serde.json_serde import JsonSerde
from penstock.topology.operators import Aggregation

# No statement leaves a record from within a loop of its own.
_LEAVE = re.compile(r"\breturn$")
# Python takes 20 blocks in each other and 100 levels of indentation. An expression that is deeper than this may be too deep
# between the loops of windows and of a chain above, where a function of its own is not.
_DEEPEST = 10


class Code:
    """The text of `process(key, value, timestamp)` under construction."""

    def __init__(self, node: str) -> None:
        self._node = node
        self.names: dict[str, Any] = {}
        self._lines: list[str] = []
        self.variables: dict[str, str] = {}  # what lives as long as the task, with the text of its first value
        self.hops = False  # `first` and `last` are known, instead of one `start`

    def bind(self, name: str, value: Any) -> str:
        """Let statements refer to an object."""
        self.names[name] = value
        return name

    def write(self, *lines: str, indent: int = 0) -> None:
        """Add statements."""
        self._lines += ("    " * (2 + indent) + line for line in lines)

    def tail(self) -> list[str]:
        """The statements, for the end of a chain above."""
        lines = (line[8:].replace("{", "{{").replace("}", "}}") for line in self._lines)
        return [_LEAVE.sub("{skip}", line) for line in lines]

    def compile(self) -> tuple[Callable[..., None], Loop]:
        """The function, and the same statements as the body of a loop over columns; both share the variables."""
        shared = [f"        nonlocal {', '.join(self.variables)}"] if self.variables else []
        source = "\n".join(
            [
                f"def make({', '.join(self.names)}):",
                *(f"    {name} = {first}" for name, first in self.variables.items()),
                "    def process(key, value, timestamp):",
                *shared,
                *self._lines,
                "    def process_columns(keys, values, timestamps):",
                *shared,
                f"        {FOR_EACH}",
                *(f"    {_LEAVE.sub('continue', line)}" for line in self._lines),
                "    return process, process_columns",
                "",
            ]
        )
        filename = f"<penstock {self._node}>"
        register_generated(filename, source, [self._node] * source.count("\n"))
        namespace: dict[str, Any] = {}
        exec(compile(source, filename, "exec"), namespace)  # noqa: S102 - our own text; users' in quotes only
        made: tuple[Callable[..., None], Loop] = namespace["make"](**self.names)
        return made


def next_aggregate(code: Code, aggregation: Aggregation) -> list[str]:
    """Statements that make `new` of `old` and `value`."""
    if aggregation.kind == "count":
        return ["new = 1 if old is None else old + 1"]
    call = aggregation.aggregator.call_text(code.bind("aggregator", aggregation.aggregator.call))
    if aggregation.initializer is None:
        return ["aggregate = old", f"new = value if aggregate is None else {call}"]
    expression = aggregation.aggregator.expression
    inlined = to_inline(expression)
    if inlined is None:
        return [_aggregate(code, aggregation), f"new = {call}"]
    return [
        _aggregate(code, aggregation),
        "try:",
        "    state = aggregate",
        *inline(code, inlined),
        f"    new = {expression.state_text(inlined.results)}",
        "except Exception:",
        f"    new = {call}",  # fails again, and says why
    ]


def to_inline(expression: Aggregate | None, *, by_position: bool = False) -> Inlined | None:
    """The statements of an expression; None if there is none, or if it is nested so deeply that it has to be called."""
    if expression is None:
        return None
    inlined = expression.inlined(by_position=by_position)
    deepest = max((len(line) - len(line.lstrip()) for line in inlined.statements), default=0) // 4
    return inlined if deepest <= _DEEPEST else None


def inline(code: Code, inlined: Inlined) -> list[str]:
    """The statements of an expression, for a block."""
    for name, used in inlined.names.items():
        code.bind(name, used)
    inputs = {"k": "key", "v": "value", "ts": "timestamp"}
    return [
        *(f"    {short} = {name}" for short, name in inputs.items() if short in inlined.inputs),
        *(f"    {statement}" for statement in inlined.statements),
    ]


def next_isolated(code: Code, aggregation: Aggregation, serde: Any) -> list[str]:
    """As above, for an aggregate that stays decoded: it shares nothing that can be changed with the value.

    An aggregate that holds containers may come to hold parts of the value, so it gets a copy of the value. A flat one
    cannot, as long as it stays flat. A dict without containers is told at once by the garbage collector, which does
    not track it; a look at all its members would cost more than most aggregators.
    """
    for name, used in {"IMMUTABLE": IMMUTABLE, "copier": copier, "own_copy": own_copy}.items():
        code.bind(name, used)
    flat, not_flat = "aggregate.__class__ in IMMUTABLE", "new.__class__ not in IMMUTABLE"
    if isinstance(serde, JsonSerde) and serde.type is None:  # no arrays or buffers, which are not tracked either
        code.bind("is_tracked", gc.is_tracked)
        flat = f"not is_tracked(aggregate) if aggregate.__class__ is dict else {flat}"
        not_flat = f"(is_tracked(new) or new is value) if new.__class__ is dict else {not_flat}"
    name = code.bind("aggregator", aggregation.aggregator.call)
    call, isolated = (aggregation.aggregator.call_text(name, value=value) for value in ("value", "own()"))
    reduces = aggregation.initializer is None
    return [
        *(["aggregate = old", "if old is None:", "    new = own_copy(value)"] if reduces else []),
        *([] if reduces else [_aggregate(code, aggregation)]),
        f"{'elif' if reduces else 'if'} {flat}:",
        f"    new = {call}",
        f"    if {not_flat}: new = own_copy(new)",
        "else:",
        "    if own is None: own = copier(value)",
        f"    new = {isolated}",
    ]


def _aggregate(code: Code, aggregation: Aggregation) -> str:
    """The statement that gives the aggregate before the value."""
    if isinstance(aggregation.initializer, Constant):
        return f"aggregate = {code.bind('initial', aggregation.initializer.value)} if old is None else old"
    return f"aggregate = {code.bind('initialize', aggregation.initializer)}() if old is None else old"
