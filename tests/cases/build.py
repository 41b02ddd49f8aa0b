"""From the pseudo DSL of a case to a penstock topology, by its grammar.

    stream(left).leftJoin(table(right, versioned), gracePeriod=2); joiner: str(l)+'-'+str(r)

Calls are Kafka's; arguments are formulas, windows or phrases; what follows the calls are remarks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock import (
    BufferConfig,
    EmitStrategy,
    JoinWindows,
    KStream,
    KTable,
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
    UnlimitedWindows,
)
from tests.cases.formulas import Formula, formula, leading_formula, show, with_arguments
from tests.cases.syntax import Call, chain, settings

HISTORY = 300_000  # of versioned tables whose text gives none
NO_LIMIT = 2**62  # `MAX` of a time limit: longer than any input
JOINER = "str(l)+'-'+str(r)"  # where the text gives none


class LegacyError(Exception):
    """The case needs a join that penstock does not offer: eager results of the deprecated JoinWindows.of."""


@dataclass(slots=True)
class Reader:
    """Reads the text of one case into a builder."""

    builder: StreamsBuilder
    default_topic: str
    remarks: str = ""
    sources: dict[str, Any] = field(default_factory=dict)

    def read(self, text: str) -> KStream[Any, Any] | KTable[Any, Any]:
        """The stream or table that the text describes."""
        calls, self.remarks = chain(text)
        found = self._follow(calls)
        if isinstance(found, (KStream, KTable)):
            return found
        raise ValueError(f"the topology ends in a {type(found).__name__}, not in a stream or table")

    def _follow(self, calls: list[Call]) -> Any:
        if not calls:
            raise ValueError("the topology has no calls")
        if calls[0].name in {"stream", "table", "globalTable"}:
            first, *rest = calls
        else:  # the text leaves the source out where there is only one topic
            first, rest = Call("stream", (self.default_topic,), self.default_topic), calls
        current = self._source(first)
        for call in rest:
            step = _STEPS.get(call.name)
            if step is None:
                raise ValueError(f"the call {call.name}(..) is not known; known are {', '.join(sorted(_STEPS))}")
            current = step(self, current, call)
        return current

    def _source(self, call: Call) -> Any:
        """The same text twice is the same stream or table."""
        if (key := f"{call.name}({call.text})") not in self.sources:
            self.sources[key] = self._new_source(call)
        return self.sources[key]

    def _new_source(self, call: Call) -> Any:
        topic, *options = call.arguments
        if call.name == "stream":
            return self.builder.stream(topic)
        if call.name == "globalTable":
            return self.builder.global_table(topic)
        text = " ".join(options)
        if "versioned" not in text:
            return self.builder.table(topic, logging="not logged" not in self.remarks)
        history = re.search(r"history\s+(\d+)", text)
        return self.builder.table(topic, versioned=int(history[1]) if history else HISTORY)

    def nested(self, text: str) -> Any:
        """A stream or table that is an argument."""
        calls, rest = chain(text)
        if rest.strip():
            raise ValueError(f"cannot read {rest.strip()!r} in the argument {text!r}")
        return self._follow(calls)

    def joiner(self, call: Call) -> Callable[..., Any]:
        """From the arguments, else from the remarks, else the default."""
        for argument in call.arguments:
            if found := re.match(r"joiner:?\s*(.+)", argument):
                return formula(found[1]).of("l", "r")
            if argument[0] in "'\"":
                return template(argument[1:-1], "l", "r")
        remark = re.search(r"joiner:?\s+(.+)", self.remarks)
        return (leading_formula(remark[1]) if remark else formula(JOINER)).of("l", "r")


Step = Callable[[Reader, Any, Call], Any]
_STEPS: dict[str, Step] = {}


def step(*names: str) -> Callable[[Step], Step]:
    """Enter the meaning of a call."""

    def enter(function: Step) -> Step:
        _STEPS.update(dict.fromkeys(names, function))
        return function

    return enter


def template(text: str, *names: str) -> Callable[..., str]:
    """A text in which names stand for values: `(l,r)` or `[k@start/end]`."""

    def fill(*values: Any) -> str:
        known = dict(zip(names, values, strict=True))
        return re.sub(rf"\b({'|'.join(names)})\b", lambda found: show(known[found[1]]), text)

    return with_arguments(fill, len(names))


# ---- records
@step("filter", "filterNot")
def _filter(reader: Reader, target: Any, call: Call) -> Any:
    method = target.filter if call.name == "filter" else target.filter_not
    return method(formula(call.text).of("k", "v"))


@step("mapValues")
def _map_values(reader: Reader, target: Any, call: Call) -> Any:
    return target.map_values(formula(call.text).of("k", "v"))


@step("map")
def _map(reader: Reader, target: Any, call: Call) -> Any:
    if call.text == "identity":
        return target.map(lambda k, v: (k, v))
    if printed := re.fullmatch(r"key\s*->\s*[\"'](.*)[\"']", call.text):
        fill = template(printed[1], "k", "start", "end")
        return target.map(lambda k, v: (fill(k.key, k.window.start, k.window.end), v))
    return target.map(formula(call.text).of("k", "v"))


@step("flatMap")
def _flat_map(reader: Reader, target: Any, call: Call) -> Any:
    pair = formula("(k,v)" if call.text == "identity" else call.text).of("k", "v")
    return target.flat_map(lambda k, v: [pair(k, v)])


@step("flatMapValues")
def _flat_map_values(reader: Reader, target: Any, call: Call) -> Any:
    return target.flat_map_values(formula(call.text).of("k", "v"))


@step("repartition")
def _repartition(reader: Reader, target: Any, call: Call) -> Any:
    return target.repartition()


@step("selectKey")
def _select_key(reader: Reader, target: Any, call: Call) -> Any:
    return target.select_key(formula("k" if call.text == "identity" else call.text).of("k", "v"))


@step("merge")
def _merge(reader: Reader, target: Any, call: Call) -> Any:
    return target.merge(*map(reader.nested, call.arguments))


@step("toStream")
def _to_stream(reader: Reader, target: Any, call: Call) -> Any:
    return target.to_stream()


@step("toTable")
def _to_table(reader: Reader, target: Any, call: Call) -> Any:
    return target.to_table()


# ---- grouping and windows
@step("groupByKey")
def _group_by_key(reader: Reader, target: Any, call: Call) -> Any:
    return target.group_by_key()


@step("groupBy")
def _group_by(reader: Reader, target: Any, call: Call) -> Any:
    return target.group_by(formula(call.text).of("k", "v"))


@step("windowedBy")
def _windowed_by(reader: Reader, target: Any, call: Call) -> Any:
    kind, given = call.text.split()[0].partition("(")[0], settings(call.text)
    grace = given.get("grace", 0)
    windows: Any
    if kind == "TimeWindows":
        windows = TimeWindows(given["size"], given.get("advance"), grace)
    elif kind == "SlidingWindows":
        windows = SlidingWindows(given["diff"], grace)
    elif kind == "SessionWindows":
        windows = SessionWindows(given["gap"], grace)
    elif kind == "UnlimitedWindows":
        windows = UnlimitedWindows.of().start_on(given.get("start", 0))
    else:
        raise ValueError(f"windows of the kind {kind!r} are not known")
    return target.windowed_by(windows)


@step("emitStrategy")
def _emit_strategy(reader: Reader, target: Any, call: Call) -> Any:
    strategies = {
        "ON_WINDOW_UPDATE": EmitStrategy.on_window_update(),
        "ON_WINDOW_CLOSE": EmitStrategy.on_window_close(),
    }
    return target.emit_strategy(strategies[call.text])


# ---- aggregations
@step("count")
def _count(reader: Reader, target: Any, call: Call) -> Any:
    return target.count()


@step("reduce")
def _reduce(reader: Reader, target: Any, call: Call) -> Any:
    return target.reduce(*(_role(argument)[1].of("a", "b") for argument in call.arguments))


@step("cogroup")
def _cogroup(reader: Reader, target: Any, call: Call) -> Any:
    *groups, aggregator = call.arguments
    return target.cogroup(*map(reader.nested, groups), _aggregator(formula(aggregator)))


@step("aggregate")
def _aggregate(reader: Reader, target: Any, call: Call) -> Any:
    roles = dict(map(_role, call.arguments))
    initial = roles.pop("init").code({})
    functions = [_aggregator(roles.pop(role)) for role in ("adder", "subtractor") if role in roles]
    if "merger" in roles:
        merger = roles.pop("merger").of("a", "b")
        functions.append(lambda _key, left, right: merger(left, right))
    if roles:
        raise ValueError(f"aggregate(..) does not know {', '.join(roles)}")
    return target.aggregate(lambda: initial, *functions)


def _role(argument: str) -> tuple[str, Formula]:
    found = re.match(r"(init|initializer|adder|subtractor|merger)\s+(.+)", argument)
    if found is None:
        return "init", formula(argument)
    return "init" if found[1] == "initializer" else found[1], formula(found[2])


def _aggregator(rule: Formula) -> Callable[..., Any]:
    return rule.of("k", "v", "agg")


# ---- suppress
@step("suppress")
def _suppress(reader: Reader, target: Any, call: Call) -> Any:
    (rule, *_), _rest = chain(call.text)
    if rule.name == "untilWindowCloses":
        return target.suppress(Suppressed.until_window_closes(_buffer(rule.text)))
    if rule.name != "untilTimeLimit":
        raise ValueError(f"suppress({rule.name}(..)) is not known")
    limit, *buffer = rule.arguments
    wait = NO_LIMIT if limit == "MAX" else int(limit)
    return target.suppress(Suppressed.until_time_limit(wait, _buffer(" ".join(buffer))))


def _buffer(text: str) -> BufferConfig:
    limit = re.search(r"max(Records|Bytes)\((\d+)\)", text)
    if limit is None:
        return BufferConfig.unbounded()
    make = BufferConfig.max_records if limit[1] == "Records" else BufferConfig.max_bytes
    buffer = make(int(limit[2]))
    return buffer.shut_down_when_full() if "shutDownWhenFull" in text else buffer.emit_early_when_full()


# ---- joins
@step("join", "leftJoin", "outerJoin")
def _join(reader: Reader, target: Any, call: Call) -> Any:
    other, *arguments = call.arguments
    method = getattr(target, {"join": "join", "leftJoin": "left_join", "outerJoin": "outer_join"}[call.name])
    options: dict[str, Any] = {}
    windows: list[JoinWindows] = []
    for argument in arguments:
        if "JoinWindows.of" in argument:
            raise LegacyError("penstock has no eager stream-stream joins (the deprecated JoinWindows.of)")
        if argument.startswith("JoinWindows"):
            given = settings(argument)
            windows.append(JoinWindows(given["before"], given["after"], given.get("grace", 0)))
        elif found := re.fullmatch(r"(?:Joined\.)?gracePeriod\s*=\s*(\d+)", argument):
            options["grace"] = int(found[1])
        elif found := re.fullmatch(r"(?:fk|keyMapper)\s*=\s*(.+)", argument):
            options["on"] = _selector(found[1], foreign=argument.startswith("fk"))
    return method(reader.nested(other), reader.joiner(call), *windows, **options)


def _selector(text: str, *, foreign: bool) -> Callable[..., Any]:
    if found := re.match(r"part of value after '(.+?)'", text):
        separator = found[1]
        return lambda _key, value: _after(value, separator)
    rule = formula(text).of("key", "value")
    return (lambda value: rule(None, value)) if foreign else rule


def _after(value: str | None, separator: str) -> str | None:
    if value is None or separator not in value:
        return None
    return value.split(separator, 1)[1]
