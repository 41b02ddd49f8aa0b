"""Stream records of a stream-table join that wait for the grace period of the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from typing_extensions import NamedTuple

from penstock.records import Headers
from penstock.serde import Serde
from penstock.state.ordered_bytes import frame, frames, pack_long, unpack_long
from penstock.state.packed_headers import pack_headers, unpack_headers
from penstock.state.store import StoreEnvironment
from penstock.state.time_ordered_buffer import TimeOrderedBuffer


class Waiting(NamedTuple):
    """A record that leaves the buffer."""

    key: Any
    value: Any
    timestamp: int
    headers: Headers


class GraceBuffer(TimeOrderedBuffer):
    """Records in the order (timestamp, key bytes, arrival).

    A row of the bytes store holds all records of one timestamp and key, one after the other.
    """

    kind: ClassVar[str] = "grace_buffer"

    def __init__(
        self, name: str, environment: StoreEnvironment, key_serde: Serde[Any], value_serde: Serde[Any]
    ) -> None:
        TimeOrderedBuffer.__init__(self, name, environment, key_serde, value_serde, times=b"", times_end=None)

    def put(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Add a record."""
        row_key = pack_long(timestamp) + self.raw_key(key)
        record = frame(self._encode(value)) + frame(pack_headers(headers))
        self._rows.put(row_key, (self._rows.get(row_key) or b"") + record)
        self.min_time = min(timestamp, self.min_time)

    def pop_until(self, timestamp: int) -> Iterator[Waiting]:
        """Take out all records up to a timestamp, in order."""
        if self.min_time > timestamp:
            return
        for row_key, row in self._rows.range(None, pack_long(timestamp + 1)):
            self._rows.delete(row_key)
            self.min_time = self._oldest_time()
            key, time = self._decode_key(row_key[8:]), unpack_long(row_key)[0]
            parts = list(frames(row))
            for value, headers in zip(parts[::2], parts[1::2], strict=True):
                yield Waiting(key, self._decode(value), time, unpack_headers(headers or b""))
