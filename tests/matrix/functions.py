"""The functions of the matrix. Aggregates write their history, so that a wrong order or old value shows."""

from __future__ import annotations


def append(aggregate: str, value: str | None) -> str:
    return f"{aggregate}+{value}"


def remove(aggregate: str, value: str | None) -> str:
    return f"{aggregate}-{value}"


def add_value(value: str | None, aggregate: str) -> str:
    return f"{aggregate}+{value}"


def take_value(value: str | None, aggregate: str) -> str:
    return f"{aggregate}-{value}"


def merge_sessions(key: str, left: str, right: str) -> str:
    return f"[{left}|{right}]"


def pair(left: str | None, right: str | None) -> str:
    return f"({left},{right})"


def number(value: str | None) -> int:
    return 0 if value is None else int(value)


def group(value: str | None) -> str:
    """One of four new keys."""
    return f"g{number(value) % 4}"
