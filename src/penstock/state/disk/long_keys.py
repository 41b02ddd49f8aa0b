"""Keys longer than LMDB takes (511 bytes): their head, then a hash of the whole key; the key itself is kept in the value."""

from __future__ import annotations

import hashlib

MAX_KEY = 479
_DIGEST = 32


def long_key(key: bytes) -> bytes:
    """The LMDB key of a long key: longer than any short one, so the two cannot be mixed up."""
    return key[:MAX_KEY] + hashlib.blake2b(key, digest_size=_DIGEST).digest()


def join_long(key: bytes, value: bytes) -> bytes:
    """The LMDB value of a long key: the key itself in front."""
    return len(key).to_bytes(4, "big") + key + value


def split_long(stored: bytes) -> tuple[bytes, bytes]:
    """Key and value of a stored long key.

    >>> split_long(join_long(b"key", b"value"))
    (b'key', b'value')
    """
    end = 4 + int.from_bytes(stored[:4], "big")
    return stored[4:end], stored[end:]
