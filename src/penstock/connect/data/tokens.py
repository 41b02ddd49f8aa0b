"""Tokens of a value's text: the delimiters `: , { } [ ] "` and what stands between them."""

from __future__ import annotations

_DELIMITERS = frozenset(':,{}[]"')
_BLANKS = frozenset(map(chr, range(33)))


class Tokens:
    """Reads tokens, with a mark to go back to. A backslash keeps the next character from being a delimiter.

    >>> tokens = Tokens('{"a b": 1}')
    >>> [tokens.next() for _ in range(7)]
    ['{', '"', 'a b', '"', ':', ' 1', '}']
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def has_next(self) -> bool:
        """Whether anything is left."""
        return self.position < len(self.text)

    def rest(self) -> str:
        """What is left."""
        return self.text[self.position :]

    def next(self) -> str:
        """The next token; empty at the end."""
        start = self.position
        escaped = False
        for index in range(start, len(self.text)):
            char = self.text[index]
            if char == "\\":
                escaped = not escaped
                continue
            if char in _DELIMITERS and not escaped:
                self.position = index if index > start else start + 1
                return self.text[start : self.position]
            escaped = False
        self.position = len(self.text)
        return self.text[start:]

    def next_joined(self, count: int) -> str | None:
        """That many tokens as one text, or None (and nothing read) if there are fewer."""
        start = self.position
        for _ in range(count):
            if not self.has_next():
                self.position = start
                return None
            self.next()
        return self.text[start : self.position]

    def accept(self, expected: str) -> bool:
        """Reads the next token if it is the expected one, blanks around it left aside."""
        start = self.position
        token = self.next()
        while is_blank(token) and self.has_next():
            token = self.next()
        if trimmed(token) == expected:
            return True
        self.position = start
        return False


def is_blank(text: str) -> bool:
    """Whether a text has nothing but blanks, as Java's trim counts them."""
    return not trimmed(text)


def trimmed(text: str) -> str:
    """A text without the control characters and spaces around it, as Java trims."""
    return text.strip("".join(_BLANKS))
