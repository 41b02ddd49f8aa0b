"""Key-value stores without timestamps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from penstock.records import KeyValue
from penstock.serde import Serde
from penstock.state.bytes_store import Item
from penstock.state.iterators import StoreIterator
from penstock.state.ordered_bytes import after, prefix_end
from penstock.state.typed_store import TypedStore

K = TypeVar("K")
V = TypeVar("V")


class KeyValueStore(TypedStore[K, V]):
    """A map of keys to values, in the order of the serialised keys.

    Keys are compared as bytes: big-endian numbers with a sign sort negative ones last, as in Kafka Streams. Every
    scan sees the content at the time it was started. A value of None deletes.
    """

    kind: ClassVar[str] = "key_value"

    def get(self, key: K) -> V | None:
        """The value of a key, or None."""
        row = self._rows.get(self.raw_key(key))
        return None if row is None else self._read(row)

    def put(self, key: K, value: V | None) -> None:
        """Set the value of a key; None deletes it."""
        if value is None:
            self.write(key, None, self._context.timestamp)
        else:
            self.write(key, *self._take(value))

    def write(self, key: K, value: Any, timestamp: int) -> None:
        """Set value and timestamp of a key; the value None deletes it. What operators call."""
        raw_key = self.raw_key(key)
        raw_value = None if value is None else self._encode(value)
        if raw_value is None:
            self._rows.delete(raw_key)
        else:
            self._rows.put(raw_key, self._pack(raw_value, timestamp, self._context.headers))
        if self.on_change is not None:
            self.on_change(raw_key, raw_value, timestamp)

    def put_if_absent(self, key: K, value: V) -> V | None:
        """Set the value if the key has none; gives the value it had."""
        old = self.get(key)
        if old is None:
            self.put(key, value)
        return old

    def put_all(self, entries: Mapping[K, V] | Iterable[tuple[K, V]]) -> None:
        """Set several keys, in order."""
        for key, value in entries.items() if isinstance(entries, Mapping) else entries:
            self.put(key, value)

    def delete(self, key: K) -> V | None:
        """Remove a key; gives the value it had."""
        old = self.get(key)
        self.put(key, None)
        return old

    # Scans

    def range(self, from_: K | None = None, to: K | None = None) -> StoreIterator[KeyValue[K, V]]:
        """Entries from one key to another, both included; None for an open end."""
        return self._scan(*self._bounds(from_, to))

    def reverse_range(self, from_: K | None = None, to: K | None = None) -> StoreIterator[KeyValue[K, V]]:
        """As `range`, largest key first."""
        return self._scan(*self._bounds(from_, to), reverse=True)

    def all(self) -> StoreIterator[KeyValue[K, V]]:
        """All entries."""
        return self._scan(None, None)

    def reverse_all(self) -> StoreIterator[KeyValue[K, V]]:
        """All entries, largest key first."""
        return self._scan(None, None, reverse=True)

    def prefix_scan(self, prefix: Any, serde: Serde[Any] | None = None) -> StoreIterator[KeyValue[K, V]]:
        """Entries whose serialised key starts with the serialised prefix.

        Args:
            prefix: Taken as it is if it is bytes, else serialised.
            serde: Serialises the prefix; the key serde if it is not given.
        """
        if serde is not None:
            raw = serde.serialize(self.name, prefix)
        else:
            raw = prefix if isinstance(prefix, bytes) else self.raw_key(prefix)
        assert raw is not None
        return self._scan(raw, prefix_end(raw))

    def _bounds(self, from_: K | None, to: K | None) -> tuple[bytes | None, bytes | None]:
        return None if from_ is None else self.raw_key(from_), None if to is None else after(self.raw_key(to))

    def _scan(self, lower: bytes | None, upper: bytes | None, *, reverse: bool = False) -> StoreIterator[Any]:
        self._check_open()
        return StoreIterator(map(self._entry, self._rows.range(lower, upper, reverse=reverse)))

    def _entry(self, item: Item) -> KeyValue[Any, V]:
        return KeyValue(self._decode_key(item[0]), self._read(item[1]))

    @property
    def approximate_num_entries(self) -> int:
        """How many entries there are."""
        return len(self._rows)

    # As a dict

    def __getitem__(self, key: K) -> V:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        if self.delete(key) is None:
            raise KeyError(key)

    def __contains__(self, key: K) -> bool:
        return self.get(key) is not None

    def __iter__(self) -> Iterator[K]:
        return (entry.key for entry in self.all())
