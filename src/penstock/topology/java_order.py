"""The orders in which Java's collections hand out their elements.

`describe()` prints what Kafka Streams prints, so that the two can be compared as text. Kafka prints topics and stores
in the order of a HashSet, and neighbours of a node in the order of a TreeSet whose elements change their rank while
they are inserted; both orders are fixed by Java's definitions, which this module follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


def _string_hash(text: str) -> int:
    """HashMap's spread of String.hashCode."""
    data = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for i in range(0, len(data), 2):
        value = (31 * value + (data[i] << 8) + data[i + 1]) & 0xFFFFFFFF
    return value ^ (value >> 16)


def hash_order(texts: Iterable[str], *, copied: bool = False) -> list[str]:
    """The order of a HashMap or HashSet that these were put into one by one, or that was `copied` from a collection.

    >>> hash_order(["b", "a", "lines", "counts"])
    ['a', 'b', 'counts', 'lines']
    """
    items = list(dict.fromkeys(texts))
    wanted = max(int(len(items) / 0.75) + 1, 16) if copied else 16
    buckets = 16
    while buckets < wanted or len(items) > buckets * 3 // 4:
        buckets *= 2
    return sorted(items, key=lambda text: _string_hash(text) & (buckets - 1))  # a stable sort, as in a bucket's list


class _Entry(Generic[T]):
    __slots__ = ("black", "left", "parent", "right", "value")

    def __init__(self, value: T, parent: _Entry[T] | None) -> None:
        self.value = value
        self.parent = parent
        self.left: _Entry[T] | None = None
        self.right: _Entry[T] | None = None
        self.black = True


class TreeSet(Generic[T]):
    """Java's red-black tree. With a comparison that changes over time, the shape of the tree decides the order."""

    def __init__(self, compare: Callable[[T, T], int]) -> None:
        self._compare = compare
        self._root: _Entry[T] | None = None

    def __iter__(self) -> Iterator[T]:
        stack: list[_Entry[T]] = []
        entry = self._root
        while stack or entry is not None:
            while entry is not None:
                stack.append(entry)
                entry = entry.left
            entry = stack.pop()
            yield entry.value
            entry = entry.right

    def add(self, value: T) -> None:
        """Insert a value unless an equal one is met on the way down."""
        parent, entry, order = None, self._root, 0
        while entry is not None:
            parent = entry
            order = self._compare(value, entry.value)
            if order == 0:
                return
            entry = entry.left if order < 0 else entry.right
        added = _Entry(value, parent)
        if parent is None:
            self._root = added
            return
        if order < 0:
            parent.left = added
        else:
            parent.right = added
        self._balance(added)

    def _balance(self, added: _Entry[T]) -> None:
        added.black = False
        entry: _Entry[T] | None = added
        while entry is not None and entry is not self._root and not _is_black(entry.parent):
            parent, grandparent = entry.parent, _parent(entry.parent)
            if parent is None or grandparent is None:
                break
            on_left = parent is grandparent.left
            uncle = grandparent.right if on_left else grandparent.left
            if uncle is not None and not uncle.black:
                parent.black = uncle.black = True
                grandparent.black = False
                entry = grandparent
                continue
            if entry is (parent.right if on_left else parent.left):
                entry = parent
                self._rotate(entry, left=on_left)
                parent = entry.parent
                if parent is None:
                    break
            parent.black = True
            grandparent.black = False
            self._rotate(grandparent, left=not on_left)
        if self._root is not None:
            self._root.black = True

    def _rotate(self, entry: _Entry[T], *, left: bool) -> None:
        up = entry.right if left else entry.left
        if up is None:
            return
        inner = up.left if left else up.right
        if left:
            entry.right = inner
        else:
            entry.left = inner
        if inner is not None:
            inner.parent = entry
        up.parent = entry.parent
        if entry.parent is None:
            self._root = up
        elif entry.parent.left is entry:
            entry.parent.left = up
        else:
            entry.parent.right = up
        if left:
            up.left = entry
        else:
            up.right = entry
        entry.parent = up


def _is_black(entry: _Entry[T] | None) -> bool:
    return entry is None or entry.black


def _parent(entry: _Entry[T] | None) -> _Entry[T] | None:
    return None if entry is None else entry.parent
