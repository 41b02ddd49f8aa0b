"""A sorted set of byte keys in blocks, so that adding one key moves a few hundred pointers and not all of them."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

_BLOCK = 512


class SortedKeys:
    """Distinct keys in byte order.

    >>> keys = SortedKeys([b"c", b"a"])
    >>> keys.add(b"b")
    >>> keys.between(b"a", b"c"), keys.between(None, None, reverse=True, limit=1)
    ([b'a', b'b'], [b'c'])
    """

    __slots__ = ("_blocks", "_last")

    def __init__(self, keys: Iterable[bytes]) -> None:
        ordered = sorted(keys)
        self._blocks = [ordered[i : i + _BLOCK] for i in range(0, len(ordered), _BLOCK)]
        self._last = [block[-1] for block in self._blocks]  # the largest key of each block

    def add(self, key: bytes) -> None:
        """Add a key that is not there yet."""
        blocks, last = self._blocks, self._last
        if not blocks:
            blocks.append([key])
            last.append(key)
            return
        at = bisect_left(last, key)
        if at == len(blocks):
            at -= 1
            blocks[at].append(key)
            last[at] = key
        else:
            insort(blocks[at], key)
        block = blocks[at]
        if len(block) > 2 * _BLOCK:
            half = block[_BLOCK:]
            del block[_BLOCK:]
            blocks.insert(at + 1, half)
            last.insert(at, block[-1])

    def remove(self, key: bytes) -> None:
        """Remove a key that is there."""
        blocks, last = self._blocks, self._last
        at = bisect_left(last, key)
        block = blocks[at]
        del block[bisect_left(block, key)]
        if not block:
            del blocks[at], last[at]
        else:
            last[at] = block[-1]

    def between(
        self, lower: bytes | None, upper: bytes | None, *, reverse: bool = False, limit: int | None = None
    ) -> list[bytes]:
        """Keys from `lower` (included) to `upper` (excluded), at most `limit` of them, as a list of their own."""
        if limit is None:
            keys = self._slice(*self._place(lower), *self._place_end(upper))
            if reverse:
                keys.reverse()
            return keys
        return self._some(lower, upper, limit, reverse=reverse)

    def _place(self, key: bytes | None) -> tuple[int, int]:
        if key is None:
            return 0, 0
        at = bisect_left(self._last, key)
        return (at, bisect_left(self._blocks[at], key)) if at < len(self._blocks) else (at, 0)

    def _place_end(self, key: bytes | None) -> tuple[int, int]:
        return (len(self._blocks), 0) if key is None else self._place(key)

    def _slice(self, first: int, start: int, last: int, end: int) -> list[bytes]:
        blocks = self._blocks
        if first == last:
            return blocks[first][start:end] if first < len(blocks) else []
        if first > last:
            return []
        keys = blocks[first][start:]
        for block in blocks[first + 1 : last]:
            keys += block
        if last < len(blocks):
            keys += blocks[last][:end]
        return keys

    def _some(self, lower: bytes | None, upper: bytes | None, limit: int, *, reverse: bool) -> list[bytes]:
        """As many blocks as the limit needs, from one end."""
        first, start = self._place(lower)
        last, end = self._place_end(upper)
        if (first, start) >= (last, end):
            return []
        if reverse:
            edge, size = last, end
            while edge > first and size < limit:
                edge -= 1
                size += len(self._blocks[edge])
            keys = self._slice(*((first, start) if edge == first else (edge, 0)), last, end)
            return keys[: -limit - 1 : -1]
        edge, size = first, -start
        while edge < last and size < limit:
            size += len(self._blocks[edge])
            edge += 1
        keys = self._slice(first, start, *((last, end) if edge == last else (edge, 0)))
        return keys[:limit]
