"""Unmatched records of a left or outer stream-stream join, until they match or their time is over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from typing_extensions import NamedTuple

from penstock.serde import Serde
from penstock.state.ordered_bytes import after, frame, frames, pack_long, unpack_long
from penstock.state.store import StateStore, StoreEnvironment

_RIGHT, _LEFT = b"\0", b"\1"
_CHUNK = 64


class Unmatched(NamedTuple):
    """The unmatched records of one side, key and timestamp, in the order they arrived."""

    timestamp: int
    is_left: bool
    key: Any
    values: list[Any]


class JoinBuffer(StateStore):
    """Records of both sides in the order (timestamp, right before left, key bytes, arrival).

    A row of the bytes store holds all records of one timestamp, side and key: they leave together.
    """

    kind: ClassVar[str] = "join_buffer"

    def __init__(
        self,
        name: str,
        environment: StoreEnvironment,
        key_serde: Serde[Any],
        left_serde: Serde[Any],
        right_serde: Serde[Any],
    ) -> None:
        StateStore.__init__(self, name)
        topic = environment.changelog_topic(name)
        self._rows = environment.bytes_store(name)
        self._encode_key = key_serde.encoder(topic)
        self._decode_key = key_serde.decoder(topic)
        self._encoders = (right_serde.encoder(topic), left_serde.encoder(topic))
        self._decoders = (right_serde.decoder(topic), left_serde.decoder(topic))

    def _row_key(self, timestamp: int, is_left: bool, key: Any) -> bytes:  # noqa: FBT001
        raw_key = self._encode_key(key)
        assert raw_key is not None, "records without a key are never buffered"
        return pack_long(timestamp) + (_LEFT if is_left else _RIGHT) + raw_key

    def put(self, timestamp: int, is_left: bool, key: Any, value: Any) -> None:  # noqa: FBT001
        """Add an unmatched record."""
        row_key = self._row_key(timestamp, is_left, key)
        self._rows.put(row_key, (self._rows.get(row_key) or b"") + frame(self._encoders[is_left](value)))

    def remove(self, timestamp: int, is_left: bool, key: Any) -> None:  # noqa: FBT001
        """Take out all records of a side, key and timestamp."""
        row_key = self._row_key(timestamp, is_left, key)
        if self._rows.get(row_key) is not None:  # most matches find nothing: leave no trace of a deletion then
            self._rows.delete(row_key)

    def walk(self) -> Iterator[Unmatched]:
        """All records in order, read as far as they are asked for; those already given may be removed meanwhile."""
        position: bytes | None = None
        while True:
            chunk = list(self._rows.range(position, limit=_CHUNK))
            for row_key, row in chunk:
                is_left = row_key[8:9] == _LEFT
                decode = self._decoders[is_left]
                values = [decode(raw) for raw in frames(row)]
                yield Unmatched(unpack_long(row_key)[0], is_left, self._decode_key(row_key[9:]), values)
            if len(chunk) < _CHUNK:
                return
            position = after(chunk[-1][0])
