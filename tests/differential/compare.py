"""Comparing Kafka's answer with penstock's, and making a difference small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Request = dict[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Checks:
    """What is compared beside the outputs."""

    stores: bool = True
    dropped: bool = True


def difference(kafka: Answer, penstock: Answer, checks: Checks) -> str | None:
    """The first difference in words, or None.

    An error must meet an error; the messages are each side's own.
    """
    if (kafka["error"] is None) != (penstock["error"] is None):
        return f"error: kafka {kafka['error']!r}, penstock {penstock['error']!r}"
    rows = _first_difference(kafka["outputs"], penstock["outputs"])
    if rows is not None:
        return rows
    if kafka["error"] is not None:
        return None
    if checks.stores and kafka["stores"] != penstock["stores"]:
        return _store_difference(kafka["stores"], penstock["stores"])
    if checks.dropped and kafka["dropped"] != penstock["dropped"]:
        return f"dropped: kafka {kafka['dropped']}, penstock {penstock['dropped']}"
    return None


def _first_difference(kafka: list[Any], penstock: list[Any]) -> str | None:
    for index in range(max(len(kafka), len(penstock))):
        one = kafka[index] if index < len(kafka) else "nothing"
        other = penstock[index] if index < len(penstock) else "nothing"
        if one != other:
            return f"output {index}: kafka {one}, penstock {other}"
    return None


def _store_difference(kafka: dict[str, Any], penstock: dict[str, Any]) -> str:
    if kafka.keys() != penstock.keys():
        return f"stores: kafka has {sorted(kafka)}, penstock has {sorted(penstock)}"
    name = next(name for name in kafka if kafka[name] != penstock[name])
    return f"store {name}: kafka {kafka[name]}, penstock {penstock[name]}"


def shrink(request: Request, differs: Callable[[Request], bool]) -> Request:
    """The request with as few inputs as still differ, and plain keys and values where they do not matter."""
    inputs = list(request["inputs"])
    size = max(1, len(inputs) // 2)
    while size:
        start = 0
        while start < len(inputs):
            fewer = inputs[:start] + inputs[start + size :]
            if fewer and differs(request | {"inputs": fewer}):
                inputs = fewer
            else:
                start += size
        size //= 2
    for index in range(len(inputs)):
        for field, plain in ((1, "k0"), (2, "1")):
            if inputs[index][field] not in {None, plain} and inputs[index][0] != "@wall":
                row = list(inputs[index])
                row[field] = plain
                simpler = [*inputs[:index], row, *inputs[index + 1 :]]
                if differs(request | {"inputs": simpler}):
                    inputs = simpler
    return request | {"inputs": inputs}
