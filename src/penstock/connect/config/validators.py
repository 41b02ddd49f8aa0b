"""Checks of settings. A validator is any callable `(key, value) -> None` that raises ConfigError; its text goes to the docs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.connect.config.java_regex import compile_java
from penstock.connect.errors import invalid_value

Validator = Callable[[str, Any], None]


@dataclass(frozen=True, slots=True)
class Range:
    """A number between two limits, both allowed."""

    at_least: float | None = None
    at_most: float | None = None

    def __call__(self, key: str, value: Any) -> None:
        if value is None:
            raise invalid_value(key, None, "Value must be non-null")
        if self.at_least is not None and value < self.at_least:
            raise invalid_value(key, value, f"Value must be at least {self.at_least}")
        if self.at_most is not None and value > self.at_most:
            raise invalid_value(key, value, f"Value must be no more than {self.at_most}")

    def __str__(self) -> str:
        low = "..." if self.at_least is None else self.at_least
        high = "..." if self.at_most is None else self.at_most
        return f"[{low},{high}]"


@dataclass(frozen=True, slots=True, init=False)
class OneOf:
    """One of some texts."""

    allowed: tuple[str, ...]
    ignore_case: bool

    def __init__(self, *allowed: str, ignore_case: bool = False) -> None:
        object.__setattr__(self, "allowed", allowed)
        object.__setattr__(self, "ignore_case", ignore_case)

    def __call__(self, key: str, value: Any) -> None:
        if self.ignore_case:
            if value is None or str(value).lower() not in {text.lower() for text in self.allowed}:
                shown = ", ".join(text.upper() for text in self.allowed)
                raise invalid_value(key, value, f"String must be one of (case insensitive): {shown}")
        elif value not in self.allowed:
            raise invalid_value(key, value, f"String must be one of: {', '.join(self.allowed)}")

    def __str__(self) -> str:
        return f"[{', '.join(self.allowed)}]"


@dataclass(frozen=True, slots=True)
class NonEmpty:
    """A text that is not empty."""

    def __call__(self, key: str, value: Any) -> None:
        if value is not None and not value:
            raise invalid_value(key, value, "String must be non-empty")

    def __str__(self) -> str:
        return "non-empty string"


@dataclass(frozen=True, slots=True)
class NoControlCharacters:
    """A text that is not empty and has no control characters: names that go into URLs and topics."""

    def __call__(self, key: str, value: Any) -> None:
        if value is None:
            return
        if not value:
            raise invalid_value(key, value, "String may not be empty")
        found = [str(ord(char)) for char in value if ord(char) < 32 or 127 <= ord(char) < 160]
        if found:
            reason = "String may not contain control sequences but had the following ASCII chars: " + ", ".join(found)
            raise invalid_value(key, value, reason)

    def __str__(self) -> str:
        return "non-empty string without ISO control characters"


@dataclass(frozen=True, slots=True)
class NonEmptyList:
    """A list with at least one element."""

    unique: bool = False

    def __call__(self, key: str, value: Any) -> None:
        if not value:
            raise invalid_value(key, value, "Empty list")
        if self.unique and len(set(value)) != len(value):
            raise invalid_value(key, value, "Duplicate values are not allowed")

    def __str__(self) -> str:
        return "non-empty list without duplicates" if self.unique else "non-empty list"


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression."""

    def __call__(self, key: str, value: Any) -> None:
        try:
            compile_java(value or "")
        except re.error as error:
            raise invalid_value(key, value, f"Invalid regex: {error}") from None

    def __str__(self) -> str:
        return "valid regex"


@dataclass(frozen=True, slots=True, init=False)
class AllOf:
    """Several checks, the first that fails speaks."""

    validators: tuple[Validator, ...]

    def __init__(self, *validators: Validator) -> None:
        object.__setattr__(self, "validators", validators)

    def __call__(self, key: str, value: Any) -> None:
        for validator in self.validators:
            validator(key, value)

    def __str__(self) -> str:
        return ", ".join(map(str, self.validators))


@dataclass(frozen=True, slots=True)
class Check:
    """A check by function, with the words that describe it."""

    function: Validator
    description: str

    def __call__(self, key: str, value: Any) -> None:
        self.function(key, value)

    def __str__(self) -> str:
        return self.description
