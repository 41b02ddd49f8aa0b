"""Updates that a suppress holds back: for each key the latest one, with the time of the first.

Rows in the bytes store:

    00                   number of entries and their size in bytes
    01 key               an entry: time, timestamp, size, old value, new value, headers
    02 time(8) key       the order in which entries leave
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, ClassVar

from typing_extensions import NamedTuple

from penstock.records import Headers
from penstock.serde import Serde
from penstock.state.ordered_bytes import frame, frames, pack_long
from penstock.state.packed_headers import pack_headers, unpack_headers
from penstock.state.store import StoreEnvironment
from penstock.state.time_ordered_buffer import TimeOrderedBuffer

_META = b"\x00"
_ENTRY = b"\x01"
_TIME = b"\x02"
_HEAD = struct.Struct(">qqq")
_TOTALS = struct.Struct(">qq")


class Suppressed(NamedTuple):
    """An update that leaves the buffer. `old` is the value that was emitted last for this key."""

    time: int
    key: Any
    new: Any
    old: Any
    timestamp: int
    headers: Headers


class SuppressBuffer(TimeOrderedBuffer):
    """One entry a key in the order (time, key bytes).

    Attributes:
        num_records: How many keys are buffered.
        buffer_size: Bytes, counted as Kafka does: keys, values, headers and the record's origin.
    """

    kind: ClassVar[str] = "suppress_buffer"

    def __init__(
        self, name: str, environment: StoreEnvironment, key_serde: Serde[Any], value_serde: Serde[Any]
    ) -> None:
        TimeOrderedBuffer.__init__(self, name, environment, key_serde, value_serde, times=_TIME, times_end=b"\x03")
        meta = self._rows.get(_META)
        self.num_records, self.buffer_size = (0, 0) if meta is None else _TOTALS.unpack(meta)

    def put(self, time: int, key: Any, new: Any, old: Any, timestamp: int, headers: Headers) -> None:
        """Buffer an update. A key that is already there keeps its time and its first old value."""
        raw_key = self.raw_key(key)
        raw_old, raw_new = self._encode(old), self._encode(new)
        entry = self._rows.get(_ENTRY + raw_key)
        first_old = raw_old
        if entry is None:
            self.num_records += 1
            self._rows.put(_TIME + pack_long(time) + raw_key, b"")
            self.min_time = min(time, self.min_time)
        else:
            time, _, size = _HEAD.unpack_from(entry)
            first_old = next(frames(entry, _HEAD.size))
            self.buffer_size -= size
        packed = pack_headers(headers)
        size = self._size(raw_key, first_old, raw_old, raw_new, headers)
        self.buffer_size += size
        head = _HEAD.pack(time, timestamp, size)
        self._rows.put(_ENTRY + raw_key, head + frame(first_old) + frame(raw_new) + frame(packed))

    def _size(
        self, raw_key: bytes, first_old: bytes | None, old: bytes | None, new: bytes | None, headers: Headers
    ) -> int:
        size = 8 + len(raw_key) + len(first_old or b"") + len(new or b"")
        if old is not None and old != first_old:
            size += len(old)  # Kafka keeps both
        size += 8 + 8 + 4 + len(self._context.topic or "")  # timestamp, offset, partition and topic of the record
        return size + sum(len(name) + len(value or b"") for name, value in headers)

    def last_emitted(self, key: Any) -> tuple[bool, tuple[Any, int] | None]:
        """Whether a key is buffered, and if so the row that readers still see: the one emitted last, or None."""
        entry = self._rows.get(_ENTRY + self.raw_key(key))
        if entry is None:
            return False, None
        old = self._decode(next(frames(entry, _HEAD.size)))
        return True, None if old is None else (old, -1)

    def pop_oldest(self) -> Suppressed | None:
        """Take the oldest entry out, or None."""
        oldest = self._rows.first(self._times, self._times_end)
        return None if oldest is None else self._pop(oldest[0])

    def pop_until(self, time: int) -> Iterator[Suppressed]:
        """Take out all entries up to a time, one after the other."""
        while self.min_time <= time:
            entry = self.pop_oldest()
            assert entry is not None
            yield entry

    def _pop(self, time_key: bytes) -> Suppressed:
        raw_key = time_key[9:]
        entry = self._rows.get(_ENTRY + raw_key)
        assert entry is not None
        self._rows.delete(_ENTRY + raw_key)
        self._rows.delete(time_key)
        time, timestamp, size = _HEAD.unpack_from(entry)
        old, new, headers = frames(entry, _HEAD.size)
        self.num_records -= 1
        self.buffer_size -= size
        self.min_time = self._oldest_time()
        key = self._decode_key(raw_key)
        return Suppressed(time, key, self._decode(new), self._decode(old), timestamp, unpack_headers(headers or b""))

    def flush(self) -> None:
        self._rows.put(_META, _TOTALS.pack(self.num_records, self.buffer_size))
