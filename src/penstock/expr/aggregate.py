"""Aggregates of expressions: a state, how a record changes it, how two states merge, what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from penstock.errors import TopologyError
from penstock.expr.compiler import build_function, too_deep
from penstock.expr.emitter import Emitter
from penstock.expr.nodes import Literal, Node
from penstock.expr.printing import text_of
from penstock.expr.registry import add_helpers
from penstock.isolation import IMMUTABLE, own_copy

EVERY = "_records"  # the ending of names of functions that count records, not values


@dataclass(frozen=True, slots=True)
class AggregateEntry:
    """One aggregate function.

    States are JSON values and never changed in place: the table keeps the old one beside the new one.

    Attributes:
        name: Its name in `fn`.
        update: Python expression for the next state, with `{state}` and, for the argument's value, `{0}`.
        initial: The state before the first record.
        merge: The state of two runs of records, the left ones first.
        finish: The result of a state; None if the state is the result.
        ordered: The order of records matters.
    """

    name: str
    update: str
    initial: Callable[[], Any]
    merge: Callable[[Any, Any], Any]
    finish: Callable[[Any], Any] | None = None
    ordered: bool = False

    @property
    def text(self) -> str:
        """How users write it, with `{0}` for the argument."""
        return f"{self.name.removesuffix(EVERY)}()" if self.name.endswith(EVERY) else f"{self.name}({{0}})"


_AGGREGATES: dict[str, AggregateEntry] = {}
AGGREGATES: Mapping[str, AggregateEntry] = MappingProxyType(_AGGREGATES)


def define_aggregate(entry: AggregateEntry, **helpers: object) -> None:
    """Add an aggregate function, and what its code calls, to the table."""
    if entry.name in _AGGREGATES:
        raise ValueError(f"the aggregate {entry.name} is defined twice")
    _AGGREGATES[entry.name] = entry
    add_helpers(**helpers)


@dataclass(frozen=True, slots=True)
class Part:
    """An aggregate function and its argument; `name` is its place in a dict of several."""

    name: str
    function: str
    argument: Node

    @property
    def entry(self) -> AggregateEntry:
        """What the table says of the function."""
        return AGGREGATES[self.function]

    @property
    def text(self) -> str:
        """How users write it."""
        return f"fn.{self.entry.text.format(text_of(self.argument))}"


class Inlined(NamedTuple):
    """The code of an aggregate, to stand in other code.

    Attributes:
        statements: They use `state` and some of `k`, `v`, `ts`.
        results: The text of each part's next state.
        inputs: Which of `k`, `v`, `ts` they use.
        names: What their global names mean.
    """

    statements: list[str]
    results: list[str]
    inputs: frozenset[str]
    names: dict[str, object]


class Aggregate:
    """One or several aggregate functions over the records of a key. Immutable and picklable.

    >>> from penstock.expr import fn, v
    >>> total = fn.sum(v.price)
    >>> state = total.update("key", {"price": 2}, total.initial())
    >>> total.finish(total.update("key", {"price": 3}, state))
    5

    Attributes:
        parts: The functions; one, or those of `aggregate_all`.
        named: The state and the result are dicts with a member for each part.
    """

    __slots__ = ("_compiled", "_finisher", "named", "parts")

    _compiled: tuple[Callable[..., Any], tuple[str, ...], str] | None
    _finisher: Callable[[Any], Any] | None
    parts: tuple[Part, ...]
    named: bool

    def __init__(self, parts: tuple[Part, ...], *, named: bool = False) -> None:
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "named", named)
        object.__setattr__(self, "_compiled", None)
        object.__setattr__(self, "_finisher", None)

    def initial(self) -> Any:
        """The state before the first record."""
        if self.named:
            return {part.name: part.entry.initial() for part in self.parts}
        return self.parts[0].entry.initial()

    @property
    def update(self) -> Callable[..., Any]:
        """The compiled function of `parameters` that gives the next state; it never changes the old one."""
        return self._compile()[0]

    @property
    def parameters(self) -> tuple[str, ...]:
        """What `update` takes: `("k", "v", "state")`, or `("k", "v", "ts", "state")` if an argument uses `ts`."""
        return self._compile()[1]

    @property
    def source(self) -> str:
        """The generated code of `update`."""
        return self._compile()[2]

    def inlined(self, *, by_position: bool = False) -> Inlined:
        """`update` as statements; by position, `state` is a list of the states of the parts."""
        emitter, results = _emit_all(self, by_position=by_position)
        lines = [line for line, _ in emitter.lines]
        texts = "\n".join([*lines, *results])
        return Inlined(lines, results, frozenset(emitter.inputs), emitter.used_names(texts))

    def state_text(self, results: Sequence[str]) -> str:
        """The text of a state whose parts have these texts."""
        if not self.named:
            return results[0]
        members = (f"{part.name!r}: {result}" for part, result in zip(self.parts, results, strict=True))
        return f"{{{', '.join(members)}}}"

    def merge(self, left: Any, right: Any) -> Any:
        """The state of the records of both, those of the left one first."""
        if self.named:
            return {part.name: part.entry.merge(left[part.name], right[part.name]) for part in self.parts}
        return self.parts[0].entry.merge(left, right)

    def finish(self, state: Any) -> Any:
        """The result of a state."""
        return self.finisher(state)

    @property
    def finisher(self) -> Callable[[Any], Any]:
        """`finish` as one compiled function; what it gives shares nothing that can be changed with the state."""
        if self._finisher is None:
            object.__setattr__(self, "_finisher", _compile_finish(self))
        assert self._finisher is not None
        return self._finisher

    @property
    def needs_finish(self) -> bool:
        """False if every state is its own result."""
        return any(part.entry.finish is not None for part in self.parts)

    @property
    def associative(self) -> bool:
        """`merge` of neighbouring runs of records gives what one run over all of them gives: true for all of `fn`."""
        return True

    @property
    def ordered(self) -> bool:
        """The order of the records matters, so runs must be merged in that order."""
        return any(part.entry.ordered for part in self.parts)

    def equals(self, other: object) -> bool:
        """True if both are the same aggregate."""
        return self == other

    def _compile(self) -> tuple[Callable[..., Any], tuple[str, ...], str]:
        if self._compiled is None:
            object.__setattr__(self, "_compiled", _compile(self))
        assert self._compiled is not None
        return self._compiled

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Aggregate) and (self.parts, self.named) == (other.parts, other.named)

    def __hash__(self) -> int:
        return hash((self.parts, self.named))

    def __repr__(self) -> str:
        if self.named:
            return f"agg({', '.join(f'{part.name}={part.text}' for part in self.parts)})"
        return self.parts[0].text

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an aggregate cannot be changed: {self!r}.{name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (self.parts, self.named))


def _rebuild(parts: tuple[Part, ...], named: bool) -> Aggregate:  # noqa: FBT001 - called by pickle
    return Aggregate(parts, named=named)


def _compile_finish(aggregate: Aggregate) -> Callable[[Any], Any]:
    if not aggregate.needs_finish:
        return own_copy
    namespace: dict[str, Any] = {"IMMUTABLE": IMMUTABLE, "own_copy": own_copy}
    results = []
    for i, part in enumerate(aggregate.parts):
        state = f"state[{part.name!r}]" if aggregate.named else "state"
        namespace[f"finish{i}"] = part.entry.finish
        own = f"s if (s := {state}).__class__ in IMMUTABLE else own_copy(s)"
        results.append((part.name, own if part.entry.finish is None else f"finish{i}({state})"))
    members = ", ".join(f"{name!r}: {result}" for name, result in results)
    source = f"lambda state: {{{members}}}" if aggregate.named else f"lambda state: {results[0][1]}"
    finish: Callable[[Any], Any] = eval(compile(source, "<penstock finish>", "eval"), namespace)  # noqa: S307 - our own
    return finish


def _emit_all(aggregate: Aggregate, *, by_position: bool = False) -> tuple[Emitter, list[str]]:
    """The statements of all parts, and the texts of their next states."""
    emitter = Emitter()
    results = []
    for i, part in enumerate(aggregate.parts):
        place = f"state[{i if by_position else repr(part.name)}]" if aggregate.named else "state"
        try:
            results.append(_emit(emitter, part, place))
        except RecursionError:
            raise too_deep() from None
    return emitter, results


def _compile(aggregate: Aggregate) -> tuple[Callable[..., Any], tuple[str, ...], str]:
    emitter, results = _emit_all(aggregate)
    result = aggregate.state_text(results)
    parameters = ("k", "v", *(("ts",) if "ts" in emitter.inputs else ()), "state")
    function, source = build_function("aggregate", parameters, emitter, result)
    return function, parameters, source


def _emit(emitter: Emitter, part: Part, place: str) -> str:
    """Emit the statements of one part, whose state has this place; gives the name of its next state."""
    origin = (part.text, part.argument)
    state = place if place == "state" else emitter.assign(place, origin)
    value = emitter.atom(part.argument)
    if (
        isinstance(part.argument, Literal) and "{0}" in part.entry.update
    ):  # the code may ask whether it is null, which needs a name
        value = emitter.assign(value, origin)
    return emitter.assign(part.entry.update.format(value, state=state), origin)


def aggregate_all(**aggregates: Aggregate) -> Aggregate:
    """Several aggregates as one, with a dict of results.

    >>> from penstock.expr import fn, v
    >>> aggregate_all(n=fn.count(), total=fn.sum(v.x))
    agg(n=fn.count(), total=fn.sum(v.x))
    """
    if not aggregates:
        raise TopologyError("agg() has no aggregate", hint="Name at least one: agg(n=fn.count()).")
    parts = []
    given: Mapping[str, Any] = aggregates
    for name, aggregate in given.items():
        if not isinstance(aggregate, Aggregate) or aggregate.named:
            raise TopologyError(
                f"agg({name}={aggregate!r}): that is no aggregate",
                hint=f"Use a function such as agg({name}=fn.sum(v.x)).",
            )
        part = aggregate.parts[0]
        parts.append(Part(name, part.function, part.argument))
    return Aggregate(tuple(parts), named=True)
