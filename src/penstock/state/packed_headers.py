"""Record headers as bytes."""

from __future__ import annotations

from penstock.records import NO_HEADERS, Headers
from penstock.state.ordered_bytes import frame, frames


def pack_headers(headers: Headers) -> bytes:
    r"""Headers as bytes; nothing for none.

    >>> unpack_headers(pack_headers(Headers([("a", b"1"), ("b", None)])))
    Headers(('a', b'1'), ('b', None))
    """
    return b"".join(frame(name.encode()) + frame(value) for name, value in headers) if headers else b""


def unpack_headers(data: bytes) -> Headers:
    """The headers that were packed."""
    if not data:
        return NO_HEADERS
    parts = list(frames(data))
    return Headers(((name or b"").decode(), value) for name, value in zip(parts[::2], parts[1::2], strict=True))
