"""Key-value stores that keep only the most recently used keys."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, TypeVar

from penstock.records import ValueAndTimestamp
from penstock.state.key_value import KeyValueStore
from penstock.state.timestamped_key_value import TimestampedKeyValueStore

K = TypeVar("K")
V = TypeVar("V")


class LruKeyValueStore(KeyValueStore[K, V]):
    """A key-value store that forgets the least recently used key when it has more than `max_entries`.

    What was read last is not remembered over a restart: then the keys count as used in the order of their bytes.
    """

    def __init__(self, *args: Any, max_entries: int, **options: Any) -> None:
        super().__init__(*args, persistent=False, **options)
        self._max_entries = max_entries
        self._used: OrderedDict[bytes, None] = OrderedDict.fromkeys(key for key, _ in self._rows.items())

    def get(self, key: K) -> V | None:
        value = super().get(key)
        if value is not None:
            self._used.move_to_end(self.raw_key(key))
        return value

    def write(self, key: K, value: Any, timestamp: int) -> None:
        super().write(key, value, timestamp)
        raw_key = self.raw_key(key)
        if self._rows.get(raw_key) is None:
            self._used.pop(raw_key, None)
            return
        self._used[raw_key] = None
        self._used.move_to_end(raw_key)
        if len(self._used) > self._max_entries:
            eldest, _ = self._used.popitem(last=False)
            self._rows.delete(eldest)
            if self.on_change is not None:
                self.on_change(eldest, None, timestamp)


class LruTimestampedKeyValueStore(LruKeyValueStore[K, ValueAndTimestamp[V]], TimestampedKeyValueStore[K, V]):
    """The same with timestamps."""

    kind = TimestampedKeyValueStore.kind
