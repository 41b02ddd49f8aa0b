"""Headers of a Connect record: values with schemas, in order, names may repeat."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from typing_extensions import Self

from penstock.connect.data.schema import Schema


class Header(NamedTuple):
    """One header."""

    key: str
    value: Any
    schema: Schema | None = None


class ConnectHeaders(tuple[Header, ...]):
    """An ordered multi-map of headers. Immutable: each change gives a new object.

    >>> headers = ConnectHeaders().add("a", 1).add("b", 2).add("a", 3)
    >>> headers.last("a").value, [h.value for h in headers.all("a")], len(headers.remove("a"))
    (3, [1, 3], 1)
    """

    __slots__ = ()

    def __new__(cls, headers: Iterable[Header] = ()) -> Self:
        return super().__new__(cls, headers)

    def add(self, key: str, value: Any, schema: Schema | None = None) -> ConnectHeaders:
        """These headers and one more at the end."""
        return ConnectHeaders((*self, Header(key, value, schema)))

    def remove(self, *keys: str) -> ConnectHeaders:
        """These headers without any of those names."""
        return ConnectHeaders(header for header in self if header.key not in keys)

    def last(self, key: str) -> Header | None:
        """The last header of that name, or None."""
        return next((header for header in reversed(self) if header.key == key), None)

    def all(self, key: str) -> list[Header]:
        """The headers of that name, in order."""
        return [header for header in self if header.key == key]

    def __repr__(self) -> str:
        return f"ConnectHeaders({', '.join(map(repr, self))})"


NO_CONNECT_HEADERS = ConnectHeaders()
