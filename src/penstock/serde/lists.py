"""Kafka's ListSerde: a list of values of one inner serde.

Bytes: one strategy byte, then
- 0, inner values of fixed size: count and positions of null entries, number of entries, the non-null values;
- 1, inner values of any size: number of entries, then each length (-1 for null) and value.
All numbers are 4-byte big-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.serde import messages
from penstock.serde.serde import CodecSerde, Serde

_CONSTANT_SIZE = b"\x00"
_VARIABLE_SIZE = b"\x01"
_NULL = -1
_INT = struct.Struct(">i")


@dataclass(frozen=True, slots=True)
class ListSerde(CodecSerde[list[Any]]):
    """Lists whose entries are all written by one serde; None entries are kept."""

    inner: Serde[Any]

    @property
    def name(self) -> str:
        return f"list({self.inner.name})"

    def encoder(self, topic: str) -> Callable[[list[Any] | None], bytes | None]:
        name, encode = self.name, self.inner.encoder(topic)
        write_entries = _write_variable if self.inner.fixed_size is None else _write_constant

        def write(value: list[Any] | None) -> bytes | None:
            if value is None:
                return None
            if not isinstance(value, list | tuple):
                raise messages.wrong_type(name, value, topic, "list")
            return write_entries([encode(entry) for entry in value])

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], list[Any] | None]:
        name, decode, size = self.name, self.inner.decoder(topic), self.inner.fixed_size

        def read(data: bytes | None) -> list[Any] | None:
            if data is None:
                return None
            try:
                return [decode(entry) for entry in _read_entries(data, size)]
            except (struct.error, _FormatError) as error:
                why = str(error) if isinstance(error, _FormatError) else "it ends too early"
                raise messages.unreadable(name, data, topic, why) from None
            except TypeError:
                if isinstance(data, bytes):
                    raise
                raise messages.not_bytes(name, data, topic) from None

        return read


class _FormatError(Exception):
    """Bytes that no ListSerde wrote; the text says why."""


def _write_constant(entries: list[bytes | None]) -> bytes:
    nulls = [position for position, entry in enumerate(entries) if entry is None]
    counts = struct.pack(f">{len(nulls) + 2}i", len(nulls), *nulls, len(entries))
    return b"".join((_CONSTANT_SIZE, counts, *(entry for entry in entries if entry is not None)))


def _write_variable(entries: list[bytes | None]) -> bytes:
    parts = [_VARIABLE_SIZE, _INT.pack(len(entries))]
    for entry in entries:
        if entry is None:
            parts.append(_INT.pack(_NULL))
        else:
            parts += (_INT.pack(len(entry)), entry)
    return b"".join(parts)


def _read_entries(data: bytes, fixed_size: int | None) -> list[bytes | None]:
    strategy = data[:1]
    if strategy == _CONSTANT_SIZE:
        if fixed_size is None:
            raise _FormatError("it was written with an inner serde of fixed size")
        entries, end = _read_constant(data, fixed_size)
    elif strategy == _VARIABLE_SIZE:
        entries, end = _read_variable(data)
    elif strategy:
        raise _FormatError(f"the first byte is {strategy[0]}, not 0 or 1")
    else:
        raise _FormatError("it is empty")
    if end != len(data):
        raise _FormatError(f"{len(data) - end} bytes are left over")
    return entries


def _read_constant(data: bytes, size: int) -> tuple[list[bytes | None], int]:
    (null_count,) = _INT.unpack_from(data, 1)
    if not 0 <= null_count <= len(data) // 4:
        raise _FormatError(f"it cannot have {null_count} null entries")
    *null_positions, count = struct.unpack_from(f">{null_count + 1}i", data, 5)
    nulls = set(null_positions)
    offset = 9 + 4 * null_count
    if not 0 <= count - len(nulls) <= len(data) // size:
        raise _FormatError(f"it cannot have {count} entries")
    entries: list[bytes | None] = []
    for position in range(count):
        if position in nulls:
            entries.append(None)
        else:
            entries.append(data[offset : offset + size])
            offset += size
    if offset > len(data):
        raise _FormatError("it ends too early")
    return entries, offset


def _read_variable(data: bytes) -> tuple[list[bytes | None], int]:
    (count,) = _INT.unpack_from(data, 1)
    if not 0 <= count <= len(data) // 4:
        raise _FormatError(f"it cannot have {count} entries")
    entries: list[bytes | None] = []
    offset = 5
    for _ in range(count):
        (length,) = _INT.unpack_from(data, offset)
        offset += 4
        if length == _NULL:
            entries.append(None)
            continue
        if length < 0 or offset + length > len(data):
            raise _FormatError(f"an entry cannot have {length} bytes")
        entries.append(data[offset : offset + length])
        offset += length
    return entries, offset
