"""Places in PostgreSQL's write-ahead log."""

from __future__ import annotations


def lsn_text(lsn: int) -> str:
    """A place in the log as PostgreSQL writes it.

    >>> lsn_text(0x1_0000_002A)
    '1/2A'
    """
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def lsn_number(text: str) -> int:
    """A place in the log as a number, which is how offsets have it.

    >>> lsn_number("1/2A") == 0x1_0000_002A
    True
    """
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)
