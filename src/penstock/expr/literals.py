"""Constants inside expressions."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from penstock.durations import duration_ms, instant_ms
from penstock.errors import TopologyError
from penstock.expr.nodes import Call, Literal, Node

_CONSTANTS = (bool, int, float, str, bytes, Decimal, Enum, UUID, date, type(None))


def literal_node(value: Any) -> Node:
    """The node of a constant. Instants and durations become milliseconds; lists and dicts are made for each record."""
    if isinstance(value, datetime):
        return Literal(instant_ms(value, "a constant of an expression"))
    if isinstance(value, timedelta):
        return Literal(duration_ms(value, "a constant of an expression", negative=True))
    if isinstance(value, _CONSTANTS):
        return Literal(value)
    if isinstance(value, list | tuple):
        return Call("array", tuple(_member(entry) for entry in value))
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return Call("struct", (Literal(tuple(value)), *(_member(entry) for entry in value.values())))
    raise TopologyError(f"{_name(value)} cannot be part of an expression", hint=_hint(value))


def _member(value: Any) -> Node:
    from penstock.expr.expression import node_of

    return node_of(value)


def _name(value: Any) -> str:
    return f"the {type(value).__name__} {value!r}"


def _hint(value: Any) -> str:
    from penstock.expr.aggregate import Aggregate

    if isinstance(value, Aggregate):
        return "An aggregate stands alone: agg(total=fn.sum(v.x)), then map_values."
    if callable(value):
        return "Functions and expressions do not mix; write one function for the whole operator, or use fn."
    return (
        "Constants are None, bool, int, float, str, bytes, Decimal, datetime, timedelta, and lists and dicts of those."
    )
