"""The window stores of stream-stream joins: every record is kept, and one key's records are found fast."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any, TypeVar

from penstock.state.cells import MAX_CLEAN
from penstock.state.window import WindowStore

K = TypeVar("K")
V = TypeVar("V")


class JoinWindowStore(WindowStore[K, V]):
    """A window store with duplicates that also keeps the records of the keys it was asked for in memory.

    Each record of a join scans the other side's records of its key: reading them from the bytes store each time
    would cost ten times the join itself. Values that users could change in place stay serialised.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        WindowStore.__init__(self, *args, **options)
        self._identity = self.key_serde.key_identity
        self._recent: dict[Any, tuple[list[int], list[Any]]] = {}
        # True while every row is in memory, so that an unknown key needs no look at the bytes store
        self._complete = self._segments.is_empty

    def write(self, key: K, start: int, value: Any, timestamp: int) -> None:
        sequence = self._segments.sequence
        WindowStore.write(self, key, start, value, timestamp)
        if self._segments.sequence == sequence:
            return  # nothing was stored
        cell_key = key if self._identity else self.raw_key(key)
        known = self._recent.get(cell_key)
        if known is None:
            if not self._complete:
                return
            known = self._recent[cell_key] = ([], [])
        starts, values = known
        visible = self._segments.first_visible
        if starts and starts[0] < visible:
            self._prune(starts, values, visible)  # the other side may never ask for this key
        slot = self._encode(value) if self.value_serde.mutable else value
        if not starts or start >= starts[-1]:
            starts.append(start)
            values.append(slot)
        else:
            place = bisect_right(starts, start)
            starts.insert(place, start)
            values.insert(place, slot)

    def find(self, key: K, from_: int, to: int, *, reverse: bool = False) -> list[tuple[int, V]]:
        cell_key = key if self._identity else self.raw_key(key)
        known = self._recent.get(cell_key)
        if known is None:
            if self._complete:
                return []
            known = self._recent[cell_key] = self._load(key)
        starts, values = known
        visible = self._segments.first_visible
        if starts and starts[0] < visible:
            self._prune(starts, values, visible)
        first, last = bisect_left(starts, max(from_, visible)), bisect_right(starts, to)
        found = values[first:last]
        if self.value_serde.mutable:
            found = list(map(self._decode, found))
        pairs = list(zip(starts[first:last], found, strict=True))
        if reverse:
            pairs.reverse()
        return pairs

    def _load(self, key: K) -> tuple[list[int], list[Any]]:
        found = WindowStore.find(self, key, 0, self.observed_time)
        slots = [value for _, value in found]
        return [start for start, _ in found], list(map(self._encode, slots)) if self.value_serde.mutable else slots

    @staticmethod
    def _prune(starts: list[int], values: list[Any], visible: int) -> None:
        """Drop records nobody can see, once they are half of all: cheap over many calls."""
        gone = bisect_left(starts, visible)
        if 2 * gone > len(starts):
            del starts[:gone], values[:gone]

    def flush(self) -> None:
        WindowStore.flush(self)
        if len(self._recent) > MAX_CLEAN:
            self._recent.clear()
            self._complete = False
