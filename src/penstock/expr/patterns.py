"""Text functions with patterns. Patterns are constants, compiled once when the expression is built."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from penstock.errors import TopologyError
from penstock.expr.expression import Expression, call
from penstock.expr.registry import FunctionEntry, define

Matcher = Callable[[str], "re.Match[str] | None"]


def _compile(pattern: Any) -> re.Pattern[str]:
    if not isinstance(pattern, str):
        raise TopologyError(f"the pattern is {pattern!r}, not a text", hint=r'Give a pattern such as r"\d+".')
    try:
        # Java's \\d, \\w and \\s know ASCII only; so the same pattern means the same on Spark.
        return re.compile(pattern, re.ASCII)
    except re.error as error:
        raise TopologyError(f"the pattern {pattern!r} cannot be read: {error}", hint="Correct the pattern.") from None


def _search(pattern: Any) -> Matcher:
    return _compile(pattern).search


def _like(pattern: Any) -> Matcher:
    if not isinstance(pattern, str):
        raise TopologyError(f"the pattern of like is {pattern!r}, not a text", hint='Write x.like("a%").')
    parts: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == "\\":
            escaped = next(characters, None)
            if escaped not in {"%", "_", "\\"}:
                raise TopologyError(
                    f"the pattern {pattern!r} has a \\ that is not before %, _ or \\", hint="Double the backslash."
                )
            parts.append(re.escape(escaped))
        else:
            parts.append({"%": ".*", "_": "."}.get(character) or re.escape(character))
    return re.compile("".join(parts), re.DOTALL).fullmatch


def _replacement(text: Any) -> str:
    """Java's `$1` as Python's group reference; a backslash takes the meaning of the next character away."""
    if not isinstance(text, str):
        raise TopologyError(f"the replacement is {text!r}, not a text", hint='Give a text such as "$1-$2".')
    parts: list[str] = []
    for token in re.findall(r"\\.|\$\d|.", text, re.DOTALL):
        if token in {"\\", "$"}:
            raise TopologyError(
                f"the replacement {text!r} has a lone {token}", hint=f"Write \\{token} for the character itself."
            )
        if token[0] == "$":
            parts.append(f"\\g<{token[1]}>")
        else:
            parts.append(token[-1].replace("\\", "\\\\"))
    return "".join(parts)


def _extract(text: str, search: Matcher, group: int) -> str:
    found = search(text)
    return "" if found is None else found[group] or ""


define(FunctionEntry("like", "{1}({0}) is not None", "{0}.like({1})", boolean=True, constants={1: _like}))
define(FunctionEntry("regexp_like", "{1}({0}) is not None", boolean=True, constants={1: _search}))
define(FunctionEntry("regexp_extract", "text_extract({args})", constants={1: _search}), text_extract=_extract)
define(FunctionEntry("regexp_replace", "{1}.sub({2}, {0})", constants={1: _compile, 2: _replacement}))


def like(text: object, pattern: str) -> Expression:
    r"""True where the whole text matches: `%` any characters, `_` one, `\%` and `\_` the characters themselves."""
    return call("like", text, pattern)


def regexp_like(text: object, pattern: str) -> Expression:
    """True where the regular expression is found anywhere in the text."""
    return call("regexp_like", text, pattern)


def regexp_extract(text: object, pattern: str, group: int = 1) -> Expression:
    """The group of the first match; the empty text where there is none. Group 0 is the whole match."""
    groups = _compile(pattern).groups
    if not 0 <= group <= groups:
        raise TopologyError(
            f"the pattern {pattern!r} has {groups} groups, so there is no group {group}",
            hint="Put the wanted part in parentheses, or ask for group 0, the whole match.",
        )
    return call("regexp_extract", text, pattern, group)


def regexp_replace(text: object, pattern: str, replacement: str) -> Expression:
    """The text with every match replaced; `$1` in the replacement is the first group."""
    groups = _compile(pattern).groups
    used = [int(digit) for digit in re.findall(r"\\g<(\d)>", _replacement(replacement))]
    if any(group > groups for group in used):
        raise TopologyError(
            f"the replacement {replacement!r} uses group {max(used)}, but the pattern {pattern!r} has {groups}",
            hint="Put the wanted part of the pattern in parentheses.",
        )
    return call("regexp_replace", text, pattern, replacement)
