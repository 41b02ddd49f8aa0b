"""How large a record is on its way to a broker."""

from __future__ import annotations

from collections.abc import Sequence

_BATCH_OVERHEAD = 61  # bytes of a batch before its first record


def batch_bytes(
    key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes | None]] | None = None
) -> int:
    """The size of a batch with one record alone, uncompressed: what a broker compares with `max.message.bytes`.

    >>> batch_bytes(b"k", b"x" * 1000)
    1071
    """
    given = headers or ()
    body = 3 + _part(key) + _part(value) + _length(len(given))
    body += sum(_part(name.encode()) + _part(content) for name, content in given)
    return _BATCH_OVERHEAD + _length(body) + body


def _part(data: bytes | None) -> int:
    return 1 if data is None else _length(len(data)) + len(data)


def _length(number: int) -> int:
    """Bytes of a number in Kafka's variable, signed notation."""
    return max(1, -(-(2 * number).bit_length() // 7))
