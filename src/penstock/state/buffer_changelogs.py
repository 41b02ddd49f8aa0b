"""Changelog records of the buffers inside operators: outer joins, suppress, stream-table joins with a grace period.

Buffers change their rows all the time and keep no list of changes; what a batch changed is seen in their bytes at its end.
The formats are Kafka's, where Kafka has such a topic:

    join buffer       timestamp(8) side(1) key      list of values, each with its side in front
    suppress buffer   key                           the record's context, old and new value, then the time it waits for
    grace buffer      timestamp(8) key              values and headers of all records, framed; penstock's own
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from penstock.records import NO_HEADERS, Headers
from penstock.state.ordered_bytes import INT, frame, frames, pack_long, unpack_long
from penstock.state.packed_headers import pack_headers, unpack_headers
from penstock.state.suppress_buffer import SuppressBuffer

LogRecord = tuple[bytes, "bytes | None", int, Headers]  # key, value, timestamp, headers
Restore = Callable[[bytes, "bytes | None", int, Headers], None]

KINDS = frozenset({"join_buffer", "suppress_buffer", "grace_buffer"})
_SIZE = "penstock.size"  # of an entry as it was counted; Kafka counts more than it writes
_LIST_OF_ANY_SIZE = b"\1"
_DUPLICATE_OF_PRIOR = INT.pack(-2)
_NULL = INT.pack(-1)
_ENTRY_HEAD = struct.Struct(">qqq")  # of a row: time, timestamp, size
_CONTEXT_HEAD = struct.Struct(">qqi")  # of Kafka's record context: timestamp, offset, length of the topic


def changed_records(kind: str, rows: Mapping[bytes, bytes | None], stream_time: int) -> Iterator[LogRecord]:
    """The changelog records for rows that a batch changed.

    Args:
        kind: Of the buffer.
        rows: Changed rows; None for deleted ones.
        stream_time: Timestamp of deletions that have none of their own.
    """
    if kind == "suppress_buffer":
        yield from _suppress_records(rows, max(stream_time, 0))
        return
    encode = _join_value if kind == "join_buffer" else _same
    for key, row in rows.items():
        yield key, None if row is None else encode(key, row), unpack_long(key)[0], NO_HEADERS


def buffer_restorer(store: Any) -> Restore:
    """A function that takes a buffer's changelog records back into its rows."""
    if store.kind == "suppress_buffer":
        return _suppress_restorer(store)
    rows: Any = store._rows  # noqa: SLF001 - restoring is the store's own business, kept in one place
    decode = _join_row if store.kind == "join_buffer" else _same

    def restore(key: bytes, value: bytes | None, timestamp: int, headers: Headers) -> None:
        if value is None:
            rows.delete(key)
        else:
            rows.put(key, decode(key, value))

    return restore


def _same(key: bytes, value: bytes) -> bytes:
    return value


# ---------------------------------------------------------------------- joins


def _join_value(key: bytes, row: bytes) -> bytes:
    side = key[8:9]
    values = [side + (value or b"") for value in frames(row)]
    return _LIST_OF_ANY_SIZE + INT.pack(len(values)) + b"".join(map(frame, values))


def _join_row(key: bytes, value: bytes) -> bytes:
    return b"".join(frame(entry[1:]) for entry in frames(value, 5) if entry is not None)


# ---------------------------------------------------------------------- suppress


def _suppress_records(rows: Mapping[bytes, bytes | None], stream_time: int) -> Iterator[LogRecord]:
    for key, row in rows.items():
        if key[:1] != b"\1":
            continue  # the order of entries and their totals follow from the entries
        if row is None:
            yield key[1:], None, stream_time, NO_HEADERS
            continue
        time, timestamp, size = _ENTRY_HEAD.unpack_from(row)
        old, new, packed = frames(row, _ENTRY_HEAD.size)
        context = _CONTEXT_HEAD.pack(timestamp, -1, 0) + INT.pack(-1) + _context_headers(unpack_headers(packed or b""))
        value = context + frame(old) + (_NULL if old is None else _DUPLICATE_OF_PRIOR) + frame(new) + pack_long(time)
        yield key[1:], value, timestamp, Headers([("v", b"\3"), (_SIZE, pack_long(size))])


def _context_headers(headers: Headers) -> bytes:
    return INT.pack(len(headers)) + b"".join(frame(name.encode()) + frame(value) for name, value in headers)


def _suppress_restorer(store: SuppressBuffer) -> Restore:
    rows: Any = store._rows  # noqa: SLF001 - as above

    def restore(key: bytes, value: bytes | None, timestamp: int, headers: Headers) -> None:
        before = rows.get(b"\1" + key)
        if before is not None:
            time, _, size = _ENTRY_HEAD.unpack_from(before)
            rows.delete(b"\2" + pack_long(time) + key)
            rows.delete(b"\1" + key)
            store.num_records -= 1
            store.buffer_size -= size
        if value is not None:
            row = _suppress_row(value, headers, len(key))
            rows.put(b"\1" + key, row)
            rows.put(b"\2" + row[:8] + key, b"")
            store.num_records += 1
            store.buffer_size += _ENTRY_HEAD.unpack_from(row)[2]

    return restore


def _suppress_row(value: bytes, headers: Headers, key_size: int) -> bytes:
    timestamp, _, topic_size = _CONTEXT_HEAD.unpack_from(value)
    at = _CONTEXT_HEAD.size + topic_size + 4
    count, at = INT.unpack_from(value, at)[0], at + 4
    parts: list[bytes | None] = []
    for _ in range(2 * max(count, 0)):
        part, at = _take(value, at)
        parts.append(part)
    context = Headers(((n or b"").decode(), v) for n, v in zip(parts[::2], parts[1::2], strict=True))
    prior, at = _take(value, at)
    if value[at : at + 4] == _DUPLICATE_OF_PRIOR:
        at += 4
    else:
        _, at = _take(value, at)
    new, at = _take(value, at)
    size = headers.last(_SIZE)
    # Without our note (Kafka's own topic): what the entry takes as far as it can be seen.
    counted = unpack_long(size)[0] if size else key_size + len(value)
    head = _ENTRY_HEAD.pack(unpack_long(value, at)[0], timestamp, counted)
    return head + frame(prior) + frame(new) + frame(pack_headers(context))


def _take(data: bytes, at: int) -> tuple[bytes | None, int]:
    (size,) = INT.unpack_from(data, at)
    at += 4
    return (None, at) if size < 0 else (data[at : at + size], at + size)
