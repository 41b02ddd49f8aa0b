"""Code of the stateless operators, as statements that fuse into one function."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from penstock.interpreter.fusion import Code, emits, not_a_pair, not_iterable
from penstock.topology.operators import (
    Filter,
    FlatMap,
    FlatMapValues,
    ForEach,
    Map,
    MapValues,
    NullKeyFilter,
    PassThrough,
    Peek,
    Print,
    SelectKey,
)


@emits(Filter)
def filter_(operator: Filter, code: Code) -> None:
    """Skip the record unless the predicate holds (or does not)."""
    code.write(f"if {'' if operator.negate else 'not '}{code.call(operator.predicate)}: {code.skip}")


@emits(MapValues)
def map_values(operator: MapValues, code: Code) -> None:
    """Replace the value."""
    code.write(f"value = {code.call(operator.mapper)}")


@emits(SelectKey)
def select_key(operator: SelectKey, code: Code) -> None:
    """Replace the key."""
    code.write(f"key = {code.call(operator.mapper)}")


@emits(Map)
def map_(operator: Map, code: Code) -> None:
    """Replace key and value."""
    code.write(f"pair = {code.call(operator.mapper)}")
    code.write(f"if pair.__class__ is not tuple: pair = {code.bind(not_a_pair, 'check')}(pair)")
    code.write("key, value = pair")


@emits(FlatMapValues)
def flat_map_values(operator: FlatMapValues, code: Code) -> None:
    """One record for each value of an iterable."""
    _check_iterable(code, code.call(operator.mapper), "flat_map_values")
    kept = f"key{code.depth}"
    code.write(f"{kept} = key")
    code.open_loop("for value in many:")
    code.write(f"key = {kept}")  # what follows may have changed it for the value before


@emits(FlatMap)
def flat_map(operator: FlatMap, code: Code) -> None:
    """One record for each (key, value) of an iterable."""
    _check_iterable(code, code.call(operator.mapper), "flat_map")
    code.open_loop("for pair in many:")
    code.write(f"if pair.__class__ is not tuple: pair = {code.bind(not_a_pair, 'check')}(pair)")
    code.write("key, value = pair")


def _check_iterable(code: Code, call: str, what: str) -> None:
    code.write(f"many = {call}")
    code.write(f"if many is None or many.__class__ is str: {code.bind(not_iterable, 'refuse')}(many, {what!r})")


@emits(Peek)
def peek(operator: Peek, code: Code) -> None:
    """Call the action."""
    code.write(code.call(operator.action))


@emits(ForEach)
def for_each(operator: ForEach, code: Code) -> None:
    """Call the action and end."""
    code.write(code.call(operator.action))
    code.ended = True


@emits(Print)
def print_(operator: Print, code: Code) -> None:
    """Write a line and end."""
    writer = _LineWriter(operator.label, operator.file)
    text = code.call(operator.mapper) if operator.mapper else 'f"{key}, {value}"'
    code.write(f"{code.bind(writer.write, 'write')}({text})")
    code.ended = True


@emits(PassThrough)
def pass_through(operator: PassThrough, code: Code) -> None:
    """Nothing to do: the record goes on."""


@emits(NullKeyFilter)
def null_key_filter(operator: NullKeyFilter, code: Code) -> None:
    """A record without a key belongs to no partition: dropped before the repartition topic, and counted."""
    drop = code.bind(code.context.dropper(code.node, "null key before repartition"), "drop")
    code.write("if key is None:")
    code.write(f"    {drop}()")
    code.write(f"    {code.skip}")


class _LineWriter:
    """Writes labelled lines to standard output or appends them to a file."""

    def __init__(self, label: str, file: str | None) -> None:
        self._label = label
        self._file = file

    def write(self, text: Any) -> None:
        line = f"[{self._label}]: {text}\n"
        if self._file is None:
            sys.stdout.write(line)
            sys.stdout.flush()
            return
        with Path(self._file).open("a", encoding="utf-8") as file:  # open for a line: a task has no end to close it at
            file.write(line)
