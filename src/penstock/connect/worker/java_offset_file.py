"""Offset files of Kafka Connect's own standalone worker: a HashMap of byte arrays in Java's serialization."""

from __future__ import annotations

import struct
from collections.abc import Iterator

MAGIC = b"\xac\xed\x00\x05"
_HASH_MAP = b"sr\x00\x11java.util.HashMap"
_BLOCK_DATA = b"w\x08"
_ARRAY_CLASS = b"ur\x00\x02[B"  # the first array names its class, the others refer to it
_ARRAY = b"uq"
_NULL = b"p"
_CLASS_END = b"xp"


def read_java_offsets(content: bytes) -> dict[bytes, bytes]:
    """Keys and values of such a file; those without a value are left out.

    Raises:
        ValueError: It is another kind of file.
    """
    if not content.startswith(MAGIC + _HASH_MAP):
        raise ValueError("not a HashMap")
    start = content.index(_BLOCK_DATA, len(MAGIC + _HASH_MAP)) + len(_BLOCK_DATA)
    _, count = struct.unpack_from(">ii", content, start)
    arrays = _arrays(content, start + 8)
    entries = {}
    for _ in range(count):
        key, value = next(arrays), next(arrays)
        if key is not None and value is not None:
            entries[key] = value
    return entries


def _arrays(content: bytes, position: int) -> Iterator[bytes | None]:
    while True:
        if content.startswith(_NULL, position):
            position += 1
            yield None
            continue
        if content.startswith(_ARRAY_CLASS, position):
            position = content.index(_CLASS_END, position) + len(_CLASS_END)
        elif content.startswith(_ARRAY, position):
            position += len(_ARRAY) + 4
        else:
            raise ValueError(f"no byte array at position {position}")
        (length,) = struct.unpack_from(">i", content, position)
        position += 4
        array = content[position : position + length]
        if len(array) != length:
            raise ValueError("the file ends early")
        position += length
        yield array
