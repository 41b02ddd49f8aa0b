"""The functions users would write: text in, text out. Words.java holds the same ones."""

from __future__ import annotations

from typing import Any

from penstock import Windowed


def number(text: str | None) -> int:
    return 0 if text is None else int(text)


def show(value: object) -> str:
    """As Java prints it."""
    return "null" if value is None else str(value)


def text(value: object) -> str | None:
    return None if value is None else str(value)


def pair(left: str | None, right: str | None) -> str:
    return f"({show(left)},{show(right)})"


def append(aggregate: str | None, value: str | None) -> str:
    return f"{show(aggregate)}+{show(value)}"


def remove(aggregate: str | None, value: str | None) -> str:
    return f"{show(aggregate)}-{show(value)}"


def plus(left: str | None, right: str | None) -> str:
    return str(number(left) + number(right))


def minus(left: str | None, right: str | None) -> str:
    return str(number(left) - number(right))


def plus_or_none(left: str | None, right: str | None, mod: int) -> str | None:
    """The sum, or None when it is a multiple of `mod`."""
    total = number(left) + number(right)
    return None if total % mod == 0 else str(total)


def bucket(prefix: str, value: str | None, params: dict[str, Any]) -> str:
    return f"{prefix}{number(value) % params['mod']}"


def foreign_key(value: str) -> str | None:
    """What stands before the bar; the word null stands for no key."""
    key, _, _ = value.partition("|")
    return None if key == "null" else key


def lookup_key(key: str | None, value: str | None) -> str | None:
    """None for 0, the record's own key for even values, one of three keys for odd ones."""
    if number(value) == 0:
        return None
    return key if number(value) % 2 == 0 else f"k{number(value) % 3}"


def window_key(windowed: Windowed[str]) -> str:
    return f"{windowed.key}@{windowed.window.start}/{windowed.window.end}"
