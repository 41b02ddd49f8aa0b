"""The outer form of a case's topology: chained calls, then remarks."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"\s*\.?\s*([A-Za-z]\w*)\s*\(")
_QUOTES = "'\""


@dataclass(frozen=True, slots=True)
class Call:
    """`name(arguments)`; the arguments are still text."""

    name: str
    arguments: tuple[str, ...]
    text: str


def chain(text: str) -> tuple[list[Call], str]:
    """The calls at the beginning of a text, and the remarks after them."""
    calls: list[Call] = []
    position = 0
    while match := _NAME.match(text, position):
        if calls and "." not in text[position : match.start(1)]:
            break  # a remark in parentheses, not a further call
        end = _closing(text, match.end() - 1)
        inside = text[match.end() : end]
        calls.append(Call(match[1], tuple(split(inside)), inside.strip()))
        position = end + 1
    return calls, text[position:]


def split(text: str) -> list[str]:
    """The parts between commas that stand outside of parentheses and quotes."""
    parts: list[str] = []
    start = depth = 0
    quote = ""
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in _QUOTES:
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    rest = text[start:].strip()
    return [*parts, rest] if rest else parts


def settings(text: str) -> dict[str, int]:
    """The numbers of `size=10 advance=5 grace=0` or `before=1,after=2`."""
    return {name: int(value) for name, value in re.findall(r"(\w+)\s*=\s*(-?\d+)", text)}


def _closing(text: str, opening: int) -> int:
    depth, quote = 0, ""
    for position in range(opening, len(text)):
        char = text[position]
        if quote:
            quote = "" if char == quote else quote
        elif char in _QUOTES:
            quote = char
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return position
    raise ValueError(f"a parenthesis is not closed in {text!r}")
