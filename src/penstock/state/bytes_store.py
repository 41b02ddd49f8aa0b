"""Ordered maps of bytes: what all stores keep their content in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from penstock.state.sorted_keys import SortedKeys

Item = tuple[bytes, bytes]


class BytesStore(ABC):
    """A map of bytes to bytes, ordered by key.

    Typed stores write everything they must remember here, so copying the items copies the store. An implementation
    decides where the bytes live; whether a group of changes is atomic is the host's business.
    """

    __slots__ = ()

    @abstractmethod
    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None."""

    @abstractmethod
    def put(self, key: bytes, value: bytes) -> None:
        """Set the value of a key."""

    @abstractmethod
    def delete(self, key: bytes) -> None:
        """Remove a key; nothing happens if it is not there."""

    def put_all(self, keys: Sequence[bytes], values: Sequence[bytes | None]) -> None:
        """Set or, where the value is None, remove many."""
        for key, value in zip(keys, values, strict=True):
            if value is None:
                self.delete(key)
            else:
                self.put(key, value)

    @abstractmethod
    def range(
        self, lower: bytes | None = None, upper: bytes | None = None, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[Item]:
        """Items from `lower` (included) to `upper` (excluded), None for an open end, at most `limit` of them.

        What is seen is the content at the time of the call: changes made while iterating do not disturb it.
        """

    @abstractmethod
    def delete_range(self, lower: bytes | None, upper: bytes | None) -> None:
        """Remove all keys from `lower` (included) to `upper` (excluded)."""

    @abstractmethod
    def __len__(self) -> int: ...

    def first(self, lower: bytes | None = None, upper: bytes | None = None, *, reverse: bool = False) -> Item | None:
        """The first item of a range, or the last one with `reverse`."""
        return next(self.range(lower, upper, reverse=reverse, limit=1), None)

    def items(self) -> Iterator[Item]:
        """The whole content, in key order."""
        return self.range()

    def load(self, items: Iterable[Item]) -> None:
        """Replace the whole content."""
        self.delete_range(None, None)
        for key, value in items:
            self.put(key, value)


class MemoryBytesStore(BytesStore):
    """A dict, and its keys in order once somebody asked for a range.

    >>> store = MemoryBytesStore([(b"b", b"2"), (b"a", b"1")])
    >>> list(store.range(b"a", b"b")), len(store)
    ([(b'a', b'1')], 2)
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._rows: dict[bytes, bytes] = dict(items)
        self._keys: SortedKeys | None = None  # None: not in order now; stores that are never scanned pay nothing
        self._new: dict[bytes, None] = {}  # keys that are not among the ordered ones yet

    def get(self, key: bytes) -> bytes | None:
        return self._rows.get(key)

    def put(self, key: bytes, value: bytes) -> None:
        if self._keys is not None and key not in self._rows:
            self._new[key] = None
        self._rows[key] = value

    def delete(self, key: bytes) -> None:
        if self._rows.pop(key, None) is not None and self._keys is not None:
            self._forget(key)

    def _forget(self, key: bytes) -> None:
        if key in self._new:
            del self._new[key]
        elif self._keys is not None:
            self._keys.remove(key)

    def range(
        self, lower: bytes | None = None, upper: bytes | None = None, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[Item]:
        rows = self._rows
        keys = self._ordered().between(lower, upper, reverse=reverse, limit=limit)
        return iter([(key, rows[key]) for key in keys])

    def delete_range(self, lower: bytes | None, upper: bytes | None) -> None:
        doomed = self._ordered().between(lower, upper)
        if 2 * len(doomed) > len(self._rows):
            self._keys = None  # cheaper to sort what is left when it is next needed
        for key in doomed:
            del self._rows[key]
            if self._keys is not None:
                self._keys.remove(key)

    def __len__(self) -> int:
        return len(self._rows)

    def _ordered(self) -> SortedKeys:
        if self._keys is None or 4 * len(self._new) > len(self._rows):
            self._keys = SortedKeys(self._rows)
        else:
            for key in self._new:
                self._keys.add(key)
        self._new.clear()
        return self._keys
