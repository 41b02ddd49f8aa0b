"""Regular expressions as Java writes them."""

from __future__ import annotations

import re

_POSIX = {
    "Lower": "a-z", "Upper": "A-Z", "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~", "XDigit": "0-9a-fA-F", "Space": r"\s", "Blank": r" \t",
}  # fmt: skip
_JAVA_ONLY = re.compile(r"\\Q(.*?)(?:\\E|$)|(\\[pP])\{(?:Is)?(\w+)\}|(\\.)|\(\?<(?=[A-Za-z])", re.DOTALL)
_REFERENCE = re.compile(r"\\(.)|\$(\d)|\$\{([A-Za-z][A-Za-z0-9]*)\}|\$|([^\\$]+)|\\$", re.DOTALL)


def compile_java(pattern: str) -> re.Pattern[str]:
    r"""A Java pattern as a Python one.

    >>> compile_java(r"(?<name>\p{Alpha}+)-\Q.*\E").fullmatch("abc-.*")["name"]
    'abc'

    Raises:
        re.error: The pattern is wrong, or uses what Python has not.
    """
    return re.compile(_JAVA_ONLY.sub(_python_form, pattern))


def _python_form(match: re.Match[str]) -> str:
    if match[1] is not None:
        return re.escape(match[1])
    if match[2] is not None:
        if match[3] not in _POSIX:
            raise re.error(f"{match[0]} is not supported; write the characters in brackets")
        return f"[{'^' if match[2] == chr(92) + 'P' else ''}{_POSIX[match[3]]}]"
    return match[4] if match[4] is not None else "(?P<"


def python_replacement(replacement: str, pattern: re.Pattern[str]) -> str:
    r"""A Java replacement (`$1`, `${name}`) as a template for `Match.expand`.

    >>> python_replacement(r"a-$1\$", re.compile("(x)"))
    'a-\\g<1>$'

    Raises:
        re.error: It names a group the pattern has not.
    """
    parts: list[str] = []
    position = 0
    while position < len(replacement):
        match = _REFERENCE.match(replacement, position)
        assert match is not None  # the pattern matches any character
        position = match.end()
        if match[2] is not None:
            number, position = _group_number(replacement, match, pattern)
            parts.append(f"\\g<{number}>")
        elif match[3] is not None:
            if match[3] not in pattern.groupindex:
                raise re.error(f"No group with name {{{match[3]}}}")
            parts.append(f"\\g<{match[3]}>")
        elif match[0] in {"$", "\\"}:
            raise re.error("Illegal group reference" if match[0] == "$" else "character to be escaped is missing")
        else:
            parts.append((match[1] or match[4]).replace("\\", r"\\"))
    return "".join(parts)


def _group_number(replacement: str, match: re.Match[str], pattern: re.Pattern[str]) -> tuple[int, int]:
    """The group of `$12`: as many digits as give a group that exists."""
    number, position = int(match[2]), match.end()
    if number > pattern.groups:
        raise re.error(f"No group {number}")
    while position < len(replacement) and replacement[position].isdigit():
        longer = number * 10 + int(replacement[position])
        if longer > pattern.groups:
            break
        number, position = longer, position + 1
    return number, position
