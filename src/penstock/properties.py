"""Java properties files, read as Java reads them: settings of applications, of Connect's workers and connectors, secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.errors import ConfigError

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.)", re.DOTALL)
_ENTRY = re.compile(r"((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)", re.DOTALL)


def parse_properties(text: str) -> dict[str, str]:
    r"""The entries of a properties file; the last of a name wins.

    >>> parse_properties("# a comment\nname = file-\\\n    sink\ntopics:a,b")
    {'name': 'file-sink', 'topics': 'a,b'}

    Raises:
        ConfigError: A unicode escape is malformed; the message names the line.
    """
    entries: dict[str, str] = {}
    for number, line in _logical_lines(text):
        match = _ENTRY.fullmatch(line)
        assert match is not None  # the pattern matches any line
        entries[_unescaped(match[1], number)] = _unescaped(match[2], number)
    return entries


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without comments and blank ones; a backslash at the end continues a line."""
    pending = ""
    start = 0
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        line = raw.lstrip(" \t\f")
        if not pending and (not line or line[0] in "#!"):
            continue
        start = start if pending else number
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending += line[:-1]
            continue
        if pending + line:
            yield start, pending + line
        pending = ""
    if pending:
        yield start, pending


def _unescaped(text: str, line: int) -> str:
    def replace(match: re.Match[str]) -> str:
        code = match[1]
        if code == "u":
            raise ConfigError(f"Malformed \\uxxxx encoding in line {line}")
        return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES.get(code, code)

    return _ESCAPE.sub(replace, text)
