"""The values that travel: records, headers, windows, table changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar

from typing_extensions import NamedTuple, Self

from penstock.durations import to_datetime
from penstock.errors import StreamsError

K = TypeVar("K")
V = TypeVar("V")


class Headers(tuple[tuple[str, "bytes | None"], ...]):
    """Record headers: an ordered multi-map of text to bytes. Immutable: each change gives a new object.

    >>> h = Headers().add("a", b"1").add("a", b"2")
    >>> h.last("a"), h.all("a"), h.remove("a")
    (b'2', [b'1', b'2'], Headers())
    """

    __slots__ = ()

    def __new__(cls, pairs: Iterable[tuple[str, bytes | None]] = ()) -> Self:
        return super().__new__(cls, pairs)

    def add(self, key: str, value: bytes | None) -> Headers:
        """These headers and one more at the end."""
        return Headers((*self, (key, value)))

    def remove(self, key: str) -> Headers:
        """These headers without any of that name."""
        return Headers(pair for pair in self if pair[0] != key)

    def last(self, key: str) -> bytes | None:
        """Value of the last header of that name, or None."""
        for name, value in reversed(self):
            if name == key:
                return value
        return None

    def all(self, key: str) -> list[bytes | None]:
        """Values of all headers of that name, in order."""
        return [value for name, value in self if name == key]

    def __repr__(self) -> str:
        return f"Headers({', '.join(map(repr, self))})"


NO_HEADERS = Headers()


class KeyValue(NamedTuple, Generic[K, V]):
    """A key and a value."""

    key: K
    value: V


class ValueAndTimestamp(NamedTuple, Generic[V]):
    """A table row: its value and the timestamp it was last changed at."""

    value: V
    timestamp: int


class Change(NamedTuple, Generic[V]):
    """An update of a table. `old` is filled only where some operator downstream asks for it."""

    new: V | None
    old: V | None
    is_latest: bool = True


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """A span of time in milliseconds. Whether the end belongs to it depends on the kind of window."""

    start: int
    end: int

    @property
    def start_time(self) -> datetime:
        """The start as a datetime in UTC."""
        return to_datetime(self.start)

    @property
    def end_time(self) -> datetime:
        """The end as a datetime in UTC."""
        return to_datetime(self.end)


@dataclass(frozen=True, slots=True, order=True)
class Windowed(Generic[K]):
    """A key in a window: the key of a windowed table."""

    key: K
    window: Window

    def __str__(self) -> str:
        return f"[{self.key}@{self.window.start}/{self.window.end}]"


@dataclass(frozen=True, slots=True)
class Record(Generic[K, V]):
    """What a processor gets and forwards."""

    key: K
    value: V
    timestamp: int
    headers: Headers = NO_HEADERS

    def __post_init__(self) -> None:
        if self.timestamp < 0:
            raise StreamsError(
                f"a record has the negative timestamp {self.timestamp}",
                hint="Timestamps are milliseconds since 1970 and never negative.",
            )
        if type(self.headers) is not Headers:
            object.__setattr__(self, "headers", Headers(self.headers))

    def with_key(self, key: Any) -> Record[Any, V]:
        """This record with another key."""
        return replace(self, key=key)

    def with_value(self, value: Any) -> Record[K, Any]:
        """This record with another value."""
        return replace(self, value=value)

    def with_timestamp(self, timestamp: int) -> Record[K, V]:
        """This record with another timestamp."""
        return replace(self, timestamp=timestamp)

    def with_headers(self, headers: Iterable[tuple[str, bytes | None]]) -> Record[K, V]:
        """This record with other headers."""
        return replace(self, headers=Headers(headers))


@dataclass(frozen=True, slots=True)
class FixedKeyRecord(Generic[K, V]):
    """What a fixed-key processor gets and forwards: a record whose key cannot be changed."""

    key: K
    value: V
    timestamp: int
    headers: Headers = NO_HEADERS

    def __post_init__(self) -> None:
        if self.timestamp < 0:
            raise StreamsError(
                f"a record has the negative timestamp {self.timestamp}",
                hint="Timestamps are milliseconds since 1970 and never negative.",
            )
        if type(self.headers) is not Headers:
            object.__setattr__(self, "headers", Headers(self.headers))

    def with_value(self, value: Any) -> FixedKeyRecord[K, Any]:
        """This record with another value."""
        return replace(self, value=value)

    def with_timestamp(self, timestamp: int) -> FixedKeyRecord[K, V]:
        """This record with another timestamp."""
        return replace(self, timestamp=timestamp)

    def with_headers(self, headers: Iterable[tuple[str, bytes | None]]) -> FixedKeyRecord[K, V]:
        """This record with other headers."""
        return replace(self, headers=Headers(headers))


class RecordMetadata(NamedTuple):
    """Where the record being processed came from."""

    topic: str
    partition: int
    offset: int


class RecordContext(NamedTuple):
    """Where a record came from, with its timestamp and headers."""

    topic: str | None
    partition: int
    offset: int
    timestamp: int
    headers: Headers
