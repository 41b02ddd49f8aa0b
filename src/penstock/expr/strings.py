"""Text functions. Positions count from 1, as in SQL; `trim` removes spaces only."""

from __future__ import annotations

from typing import Any

from penstock.errors import TopologyError
from penstock.expr.expression import Expression, call
from penstock.expr.registry import FunctionEntry, define

# The unbound methods of str refuse everything that is not text.
define(FunctionEntry("upper", "text_upper({0})"), text_upper=str.upper)
define(FunctionEntry("lower", "text_lower({0})"), text_lower=str.lower)
define(FunctionEntry("trim", "text_strip({0}, ' ')"), text_strip=str.strip)
define(FunctionEntry("ltrim", "text_lstrip({0}, ' ')"), text_lstrip=str.lstrip)
define(FunctionEntry("rtrim", "text_rstrip({0}, ' ')"), text_rstrip=str.rstrip)
define(FunctionEntry("contains", "text_contains({0}, {1})", boolean=True), text_contains=str.__contains__)
define(FunctionEntry("starts_with", "text_starts({0}, {1})", boolean=True), text_starts=str.startswith)
define(FunctionEntry("ends_with", "text_ends({0}, {1})", boolean=True), text_ends=str.endswith)


def upper(text: object) -> Expression:
    """The text in upper case."""
    return call("upper", text)


def lower(text: object) -> Expression:
    """The text in lower case."""
    return call("lower", text)


def trim(text: object) -> Expression:
    """The text without spaces at both ends."""
    return call("trim", text)


def ltrim(text: object) -> Expression:
    """The text without spaces at its start."""
    return call("ltrim", text)


def rtrim(text: object) -> Expression:
    """The text without spaces at its end."""
    return call("rtrim", text)


def contains(text: object, part: object) -> Expression:
    """True where the text holds the part."""
    return call("contains", text, part)


def starts_with(text: object, prefix: object) -> Expression:
    """True where the text starts with the prefix."""
    return call("starts_with", text, prefix)


def ends_with(text: object, suffix: object) -> Expression:
    """True where the text ends with the suffix."""
    return call("ends_with", text, suffix)


def _length(text: Any) -> int:
    if isinstance(text, str | bytes):
        return len(text)
    raise TypeError(f"length counts characters of text or bytes, not {type(text).__name__}; for lists use fn.size")


define(FunctionEntry("length", "text_length({0})"), text_length=_length)


def length(text: object) -> Expression:
    """The number of characters of a text, or of bytes."""
    return call("length", text)


def _substring(text: str, position: int, count: int | None = None) -> str:
    size = len(_text(text))
    start = position - 1 if position > 0 else (size + position if position < 0 else 0)
    end = size if count is None else start + count
    return text[max(start, 0) : max(end, 0)] if end > start else ""


define(FunctionEntry("substring", "text_substring({args})"), text_substring=_substring)


def substring(text: object, position: object, count: object = None) -> Expression:
    """The part of a text from a position, counted from 1, or from the end if negative.

    Args:
        text: The text.
        position: 1 is the first character, -1 the last; 0 means 1.
        count: How many characters at most; without it, all to the end.
    """
    return call("substring", text, position) if count is None else call("substring", text, position, count)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(f"expected text, got {type(value).__name__}; use .cast('string')")


def _concat(*parts: Any) -> str:
    return "".join(parts)


def _concat_ws(separator: Any, *parts: Any) -> str | None:
    return None if separator is None else separator.join([part for part in parts if part is not None])


define(FunctionEntry("concat", "text_concat({args})"), text_concat=_concat)
define(FunctionEntry("concat_ws", "text_concat_ws({args})", propagates_null=False), text_concat_ws=_concat_ws)


def concat(*texts: object) -> Expression:
    """All texts in a row; null if one is null."""
    return call("concat", *texts)


def concat_ws(separator: object, *texts: object) -> Expression:
    """The texts that are not null, with a separator between them."""
    return call("concat_ws", separator, *texts)


def _replace(text: str, search: str, replacement: str) -> str:
    return str.replace(text, search, replacement) if search else _text(text)


def _split(text: str, delimiter: str) -> list[str]:
    return str.split(text, delimiter)


define(FunctionEntry("replace", "text_replace({args})"), text_replace=_replace)
define(FunctionEntry("split", "text_split({args})"), text_split=_split)


def replace(text: object, search: object, replacement: object = "") -> Expression:
    """The text with every `search` replaced."""
    return call("replace", text, search, replacement)


def split(text: object, delimiter: object) -> Expression:
    """The parts of a text between delimiters, as a list. The delimiter is plain text, not a pattern."""
    if isinstance(delimiter, str) and not delimiter:
        raise TopologyError("fn.split with an empty delimiter", hint="Give the text that separates the parts.")
    return call("split", text, delimiter)


def _lpad(text: str, size: int, fill: str) -> str:
    missing = size - len(_text(text))
    return _fill(fill, missing) + text if missing > 0 else text[: max(size, 0)]


def _rpad(text: str, size: int, fill: str) -> str:
    missing = size - len(_text(text))
    return text + _fill(fill, missing) if missing > 0 else text[: max(size, 0)]


def _fill(fill: str, count: int) -> str:
    return (fill * (count // len(fill) + 1))[:count] if fill else ""


define(FunctionEntry("lpad", "text_lpad({args})"), text_lpad=_lpad)
define(FunctionEntry("rpad", "text_rpad({args})"), text_rpad=_rpad)
define(FunctionEntry("reverse", "text_of({0})[::-1]"), text_of=_text)


def lpad(text: object, size: object, fill: object = " ") -> Expression:
    """The text filled at its start to a size; a longer text is cut to it."""
    return call("lpad", text, size, fill)


def rpad(text: object, size: object, fill: object = " ") -> Expression:
    """The text filled at its end to a size; a longer text is cut to it."""
    return call("rpad", text, size, fill)


def reverse(text: object) -> Expression:
    """The characters of a text in reverse order."""
    return call("reverse", text)
