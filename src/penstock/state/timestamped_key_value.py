"""The store of tables: a value and a timestamp for each key."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from penstock.records import ValueAndTimestamp
from penstock.state.key_value import KeyValueStore
from penstock.state.ordered_bytes import pack_long, unpack_long
from penstock.state.typed_store import TimestampedRows

K = TypeVar("K")
V = TypeVar("V")


class TimestampedKeyValueStore(TimestampedRows[K, V], KeyValueStore[K, ValueAndTimestamp[V]]):
    """A map of keys to `ValueAndTimestamp`."""

    kind: ClassVar[str] = "timestamped_key_value"

    # What a table without a cache does for each record: no detour through the general form of rows.

    def get(self, key: K) -> ValueAndTimestamp[V] | None:
        row = self._rows.get(self.raw_key(key))
        return None if row is None else _new(ValueAndTimestamp, (self._decode(row[8:]), unpack_long(row)[0]))

    def write(self, key: K, value: Any, timestamp: int) -> None:
        raw_key = self.raw_key(key)
        raw_value = None if value is None else self._encode(value)
        if raw_value is None:
            self._rows.delete(raw_key)
        else:
            self._rows.put(raw_key, pack_long(timestamp) + raw_value)
        if self.on_change is not None:
            self.on_change(raw_key, raw_value, timestamp)


_new = tuple.__new__  # a named tuple without the detour through its own __new__: half the time
