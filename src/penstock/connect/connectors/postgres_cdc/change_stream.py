"""The changes of a slot from a place on, transaction by transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from penstock.connect.connectors.postgres_cdc import pgoutput
from penstock.connect.connectors.postgres_cdc.pgoutput import Begin
from penstock.connect.connectors.postgres_cdc.position import Position
from penstock.connect.connectors.postgres_cdc.replication import ReplicationConnection
from penstock.connect.errors import ConnectError

_KINDS = {b"I": "INSERT", b"U": "UPDATE", b"D": "DELETE", b"T": "TRUNCATE"}


class StreamItem(NamedTuple):
    """Something that happened.

    Attributes:
        transaction: The transaction it is part of.
        lsn: Where in the log.
        data: A message of pgoutput: a change, what a table looks like, or that the transaction ends.
    """

    transaction: Begin
    lsn: int
    data: bytes


class ChangeStream:
    """Reads changes and keeps count of where it is.

    Args:
        connection: A connection that streams from `start` on.
        start: Where to begin; changes before it that the server sends again are passed over.

    Attributes:
        go_on: Everything that was committed before this place of the log has been read.
        last_change: Which change was read last, see `Position.last_change`.
    """

    def __init__(self, connection: ReplicationConnection, start: Position) -> None:
        self._connection = connection
        self._start = start
        self._skip = start.event
        self._transaction: Begin | None = None
        self._seen = 0
        self._last: tuple[Begin, bytes] | None = None
        self.go_on = start.go_on
        self.last_change = start.last_change

    @property
    def position(self) -> Position:
        """The place behind what was read last."""
        if self._last is None:
            return replace(self._start, go_on=self.go_on, event=self.last_change[2])
        transaction, kind = self._last
        commit, lsn, event = self.last_change
        return Position(self.go_on, commit, lsn, event, transaction.xid, transaction.commit_micros, _KINDS[kind])

    def attend(self) -> None:
        """Somebody reads again after a while in which nobody did."""
        self._connection.attend()

    def confirm(self, lsn: int) -> None:
        """Everything before that place of the log has arrived."""
        self._connection.confirm(lsn)

    def close(self) -> None:
        """End."""
        self._connection.close()

    def next(self, wait_seconds: float) -> StreamItem | None:
        """The next change, description of a table or end of a transaction; None if nothing comes within that time, or nothing but word of the log.

        Raises:
            RetriableError: The connection is lost.
            ConnectError: The server ended the stream.
        """
        while True:
            message = self._connection.next(wait_seconds)
            if message is None:
                return None
            lsn, data = message
            if data is None:
                if self._transaction is None and not self._skip and lsn > self.go_on:
                    self.go_on = lsn
                return None
            kind = data[:1]
            if kind in pgoutput.CHANGES:
                item = self._change(kind, lsn, data)
                if item is not None:
                    return item
            elif kind == pgoutput.RELATION:
                return StreamItem(self._current(), lsn, data)
            elif kind == pgoutput.BEGIN:
                self._begin(pgoutput.begin(data))
            elif kind == pgoutput.COMMIT:
                return self._commit(lsn, data)

    def _begin(self, transaction: Begin) -> None:
        self._transaction = transaction
        self._seen = 0
        if self._skip and transaction.commit_lsn != self._start.commit:
            raise ConnectError(
                f"The transaction that was read in part ({self._start.tx_id}) is no longer in the slot",
                hint="Reset the connector's offsets to read the tables anew.",
            )

    def _change(self, kind: bytes, lsn: int, data: bytes) -> StreamItem | None:
        transaction = self._current()
        self._seen += 1
        if self._seen <= self._skip:
            return None
        self._last = transaction, kind
        self.last_change = transaction.commit_lsn, lsn, self._seen
        return StreamItem(transaction, lsn, data)

    def _commit(self, lsn: int, data: bytes) -> StreamItem:
        transaction = self._current()
        self._transaction = None
        self._skip = 0
        self.go_on = pgoutput.commit(data).end_lsn
        self.last_change = (*self.last_change[:2], 0)
        return StreamItem(transaction, lsn, data)

    def _current(self) -> Begin:
        if self._transaction is None:
            raise ConnectError("PostgreSQL sent a change outside of a transaction")
        return self._transaction
