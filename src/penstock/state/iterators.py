"""What scans of stores give back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from typing_extensions import Self

T = TypeVar("T")


class StoreIterator(Iterator[T], Generic[T]):
    """An iterator that is also a context manager; it closes itself when it is exhausted.

    >>> with StoreIterator([1, 2, 3]) as numbers:
    ...     next(numbers), numbers.peek(), next(numbers)
    (1, 2, 2)
    >>> list(numbers)
    []
    """

    __slots__ = ("_ahead", "_items")

    def __init__(self, items: Iterable[T]) -> None:
        self._items: Iterator[T] | None = iter(items)
        self._ahead: list[T] = []

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        if self._ahead:
            return self._ahead.pop()
        if self._items is None:
            raise StopIteration
        try:
            return next(self._items)
        except StopIteration:
            self._items = None
            raise

    def peek(self) -> T:
        """The next item, which stays the next one. Raises StopIteration at the end."""
        self._ahead.append(next(self))
        return self._ahead[-1]

    def close(self) -> None:
        """Give nothing more."""
        self._items = None
        self._ahead.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
