"""Keys that LMDB does not take.

Keys longer than 511 bytes stand there as their head, then a hash of the whole key; the key itself is kept in the value. The
empty key has a place of its own. Each of them has a length that no other key has, so they cannot be mixed up.
"""

from __future__ import annotations

import hashlib

MAX_KEY = 479
_DIGEST = 32
EMPTY_KEY = bytes(MAX_KEY + 1)


def stored_key(key: bytes) -> bytes:
    """What stands for a key in LMDB."""
    if len(key) > MAX_KEY:
        return key[:MAX_KEY] + hashlib.blake2b(key, digest_size=_DIGEST).digest()
    return key or EMPTY_KEY


def stored_value(key: bytes, value: bytes) -> bytes:
    """What stands for a key's value in LMDB: behind a long key, the key itself is in front."""
    return value if len(key) <= MAX_KEY else len(key).to_bytes(4, "big") + key + value


def split_long(stored: bytes) -> tuple[bytes, bytes]:
    """Key and value of a stored long key.

    >>> key, value = split_long(stored_value(b"k" * 500, b"value"))
    >>> len(key), value
    (500, b'value')
    """
    end = 4 + int.from_bytes(stored[:4], "big")
    return stored[4:end], stored[end:]
