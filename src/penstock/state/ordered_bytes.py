"""Byte encodings that sort as what they stand for, and small lists of bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator

LONG = struct.Struct(">q")  # timestamps are never negative, so signed big-endian sorts by value
INT = struct.Struct(">i")
pack_long = LONG.pack
unpack_long = LONG.unpack_from
END_OF_KEY = b"\0\0"


def escape(key: bytes) -> bytes:
    r"""A key that may be followed by other bytes: no escaped key is a prefix of another, and order is kept.

    >>> escape(b"a\0b"), unescape(escape(b"a\0b"))
    (b'a\x00\xffb\x00\x00', b'a\x00b')
    """
    return key.replace(b"\0", b"\0\xff") + END_OF_KEY


def unescape(escaped: bytes) -> bytes:
    """The key that was escaped."""
    return escaped[:-2].replace(b"\0\xff", b"\0")


def after(key: bytes) -> bytes:
    """The smallest bytes that sort after a key."""
    return key + b"\0"


def prefix_end(prefix: bytes) -> bytes | None:
    r"""The smallest bytes that sort after everything with a prefix; None if there are none.

    >>> prefix_end(b"ab"), prefix_end(b"a\xff"), prefix_end(b"\xff")
    (b'ac', b'b', None)
    """
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes((stripped[-1] + 1,)) if stripped else None


def frame(value: bytes | None) -> bytes:
    """A value with its length in front; None has the length -1."""
    return b"\xff\xff\xff\xff" if value is None else INT.pack(len(value)) + value


def frames(data: bytes, at: int = 0) -> Iterator[bytes | None]:
    """The framed values in some bytes, one after the other."""
    end = len(data)
    while at < end:
        (size,) = INT.unpack_from(data, at)
        at += 4
        if size < 0:
            yield None
        else:
            yield data[at : at + size]
            at += size
