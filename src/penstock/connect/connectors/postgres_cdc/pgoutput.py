"""The messages of pgoutput, PostgreSQL's own output plugin for logical decoding (protocol version 1)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import Enum
from typing import Final

from penstock.connect.errors import DataError

BEGIN, COMMIT, RELATION = b"B", b"C", b"R"
INSERT, UPDATE, DELETE, TRUNCATE = b"I", b"U", b"D", b"T"
CHANGES: Final = frozenset((INSERT, UPDATE, DELETE, TRUNCATE))

EPOCH_MICROS: Final = 946_684_800_000_000
"""PostgreSQL counts microseconds from the year 2000; this is that day in microseconds since 1970."""

_BEGIN = struct.Struct(">xQqI")
_COMMIT = struct.Struct(">xBQQq")
_NUMBER = struct.Struct(">I")
_COUNT = struct.Struct(">H")
_COLUMN = struct.Struct(">Ii")


class _Unchanged(Enum):
    UNCHANGED = "unchanged"


UNCHANGED: Final = _Unchanged.UNCHANGED
"""A large value that an update left as it was: PostgreSQL does not send it."""

Row = list["str | _Unchanged | None"]


@dataclass(frozen=True, slots=True)
class Begin:
    """A transaction begins; it is sent when its commit has been read.

    Attributes:
        commit_lsn: Where its commit is in the log.
        commit_micros: When it was committed, in microseconds since 1970.
        xid: Its number.
    """

    commit_lsn: int
    commit_micros: int
    xid: int


@dataclass(frozen=True, slots=True)
class Commit:
    """A transaction ends.

    Attributes:
        commit_lsn: Where its commit is in the log.
        end_lsn: Where the log goes on behind it.
    """

    commit_lsn: int
    end_lsn: int


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column of a table at the time of a change.

    Attributes:
        name: Its name.
        type_oid: PostgreSQL's number of its type.
        typmod: Length, or precision and scale; -1 is none.
        in_identity: Whether it is part of the replica identity.
    """

    name: str
    type_oid: int
    typmod: int
    in_identity: bool


@dataclass(frozen=True, slots=True)
class Relation:
    """A table as it was at the time of the changes that follow.

    Attributes:
        oid: PostgreSQL's number of the table.
        schema: The schema it is in.
        table: Its name.
        identity: The replica identity: d (default), f (full), i (index), n (nothing).
        columns: Its columns.
    """

    oid: int
    schema: str
    table: str
    identity: str
    columns: tuple[RelationColumn, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A row that changed.

    Attributes:
        kind: INSERT, UPDATE or DELETE.
        oid: The table's number.
        old: The row before: all of it (replica identity full), only its key, or nothing.
        old_is_whole: Whether all of the old row is there.
        new: The row after; nothing for a delete.
    """

    kind: bytes
    oid: int
    old: Row | None
    old_is_whole: bool
    new: Row | None


def begin(data: bytes) -> Begin:
    """A begin message."""
    commit_lsn, micros, xid = _BEGIN.unpack(data)
    return Begin(commit_lsn, micros + EPOCH_MICROS, xid)


def commit(data: bytes) -> Commit:
    """A commit message."""
    _, commit_lsn, end_lsn, _ = _COMMIT.unpack(data)
    return Commit(commit_lsn, end_lsn)


def relation_oid(data: bytes) -> int:
    """The number of the table that a relation message or a change is about."""
    oid: int = _NUMBER.unpack_from(data, 1)[0]
    return oid


def relation(data: bytes) -> Relation:
    """A relation message."""
    schema, at = _text(data, 5)
    table, at = _text(data, at)
    identity = chr(data[at])
    (count,) = _COUNT.unpack_from(data, at + 1)
    at += 3
    columns = []
    for _ in range(count):
        flags = data[at]
        name, at = _text(data, at + 1)
        type_oid, typmod = _COLUMN.unpack_from(data, at)
        at += 8
        columns.append(RelationColumn(name, type_oid, typmod, bool(flags & 1)))
    # PostgreSQL leaves the name of its own schema away.
    return Relation(relation_oid(data), schema or "pg_catalog", table, identity, tuple(columns))


def truncated(data: bytes) -> list[int]:
    """The numbers of the tables that were emptied."""
    (count,) = _NUMBER.unpack_from(data, 1)
    return list(struct.unpack_from(f">{count}I", data, 6))


def change(data: bytes) -> Change:
    """An insert, update or delete message.

    Raises:
        DataError: It has another form than the protocol says.
    """
    kind, at = data[:1], 5
    old: Row | None = None
    new: Row | None = None
    mark = data[at : at + 1]
    whole = mark == b"O"
    if mark in {b"K", b"O"}:
        old, at = _row(data, at + 1)
        mark = data[at : at + 1]
    if mark == b"N":
        new, at = _row(data, at + 1)
    if at != len(data):
        raise DataError(f"A message of PostgreSQL has {len(data) - at} bytes more than its rows: {data[:40]!r}...")
    return Change(kind, relation_oid(data), old, whole, new)


def _row(data: bytes, at: int) -> tuple[Row, int]:
    (count,) = _COUNT.unpack_from(data, at)
    at += 2
    row: Row = []
    add, length_at = row.append, _NUMBER.unpack_from
    for _ in range(count):
        kind = data[at]
        at += 1
        if kind == 0x74:  # t: text
            (length,) = length_at(data, at)
            at += 4
            add(data[at : at + length].decode())
            at += length
        elif kind == 0x6E:  # n: null
            add(None)
        elif kind == 0x75:  # u: unchanged
            add(UNCHANGED)
        else:
            raise DataError(f"A value of PostgreSQL has the format {chr(kind)!r}, which was not asked for")
    return row, at


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(0, at)
    return data[at:end].decode(), end + 1
