"""Operators on a stream that keep nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.functions import Function
from penstock.topology.operators.base import Operator


@dataclass(frozen=True, slots=True)
class Filter(Operator):
    """Keeps the records for which the predicate holds, or does not hold."""

    predicate: Function
    negate: bool = False


@dataclass(frozen=True, slots=True)
class Map(Operator):
    """A new key and value for each record."""

    mapper: Function


@dataclass(frozen=True, slots=True)
class MapValues(Operator):
    """A new value for each record."""

    mapper: Function


@dataclass(frozen=True, slots=True)
class FlatMap(Operator):
    """Any number of keys and values for each record."""

    mapper: Function


@dataclass(frozen=True, slots=True)
class FlatMapValues(Operator):
    """Any number of values for each record."""

    mapper: Function


@dataclass(frozen=True, slots=True)
class SelectKey(Operator):
    """A new key for each record."""

    mapper: Function


@dataclass(frozen=True, slots=True)
class Peek(Operator):
    """Calls an action and passes the record on."""

    action: Function


@dataclass(frozen=True, slots=True)
class ForEach(Operator):
    """Calls an action and ends the branch."""

    action: Function


@dataclass(frozen=True, slots=True)
class Print(Operator):
    """Writes each record as a line of text and ends the branch; `file` None is standard output."""

    label: str
    file: str | None
    mapper: Function | None


@dataclass(frozen=True, slots=True)
class PassThrough(Operator):
    """Passes records on: the node of a merge and of a branch."""


@dataclass(frozen=True, slots=True)
class Branch(Operator):
    """Sends a record to the child of the first predicate that holds, else to the default child if there is one."""

    predicates: tuple[Function, ...]
    children: tuple[str, ...]
    default: str | None


@dataclass(frozen=True, slots=True)
class NullKeyFilter(Operator):
    """Drops records without a key in front of a repartition topic."""


@dataclass(frozen=True, slots=True)
class Process(Operator):
    """A user's processor. `fixed_key` processors get and forward records whose key cannot change."""

    supplier: Any
    fixed_key: bool = False
