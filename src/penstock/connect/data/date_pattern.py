"""Date patterns of Java's SimpleDateFormat, split into their elements."""

from __future__ import annotations

import re
from dataclasses import dataclass

LETTERS = frozenset("GyYMLwWDdFEuaHkKhmsSzZX")
NUMERIC = frozenset("yYwWDdFuHkKhmsS")
_PART = re.compile(r"''|'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|(')")


@dataclass(frozen=True, slots=True)
class Element:
    """A run of one pattern letter, or literal text.

    Attributes:
        letter: The letter; empty for literal text.
        count: How often the letter is repeated.
        text: The literal text.
    """

    letter: str = ""
    count: int = 0
    text: str = ""

    @property
    def is_number(self) -> bool:
        """Whether the element stands for digits; months are names from three letters on."""
        return self.letter in NUMERIC or (self.letter in {"M", "L"} and self.count < 3)


def elements(pattern: str) -> tuple[Element, ...]:
    """The elements of a pattern.

    >>> [e.letter * e.count or e.text for e in elements("yyyy-MM-dd'T'HH")]
    ['yyyy', '-', 'MM', '-', 'dd', 'T', 'HH']

    Raises:
        ValueError: A letter has no meaning, or a quote is not closed.
    """
    found: list[Element] = []
    for match in _PART.finditer(pattern):
        if match[3]:
            raise ValueError("Unterminated quote")
        if match[2]:
            if match[2] not in LETTERS:
                raise ValueError(f"Illegal pattern character '{match[2]}'")
            if match[2] == "X" and len(match[0]) > 3:
                raise ValueError("invalid ISO 8601 format: length=" + str(len(match[0])))
            found.append(Element(letter=match[2], count=len(match[0])))
            continue
        if match[0] == "''":
            text = "'"
        elif match[1] is not None:
            text = match[1].replace("''", "'")
        else:
            text = match[0]
        if found and not found[-1].letter:
            text = found.pop().text + text
        found.append(Element(text=text))
    return tuple(found)
