"""A record as tests write and read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from penstock.records import NO_HEADERS, Headers


@dataclass(frozen=True, slots=True, init=False)
class TestRecord:
    """Key, value, headers and timestamp; equal if all four are. A missing timestamp is filled in when piped."""

    __test__ = False  # not a test class for pytest

    key: Any
    value: Any
    headers: Headers
    timestamp: int | None

    def __init__(
        self,
        key: Any = None,
        value: Any = None,
        headers: Iterable[tuple[str, bytes | None]] = NO_HEADERS,
        timestamp: int | None = None,
    ) -> None:
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "headers", Headers(headers))
        object.__setattr__(self, "timestamp", timestamp)
