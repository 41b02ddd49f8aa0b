"""The streaming replication protocol: messages of a slot, and word of what has arrived.

psycopg has no class for it, but its libpq wrapper has all it takes.
"""

from __future__ import annotations

import select
import struct
import time
from typing import TYPE_CHECKING, NamedTuple

from penstock.connect.connectors.postgres_cdc.connections import Database
from penstock.connect.connectors.postgres_cdc.lsn import lsn_text
from penstock.connect.connectors.postgres_cdc.pgoutput import EPOCH_MICROS
from penstock.connect.errors import RetriableError

if TYPE_CHECKING:
    import psycopg
    from psycopg.pq.abc import PGresult

_DATA = struct.Struct(">cQQq")
_KEEPALIVE = struct.Struct(">cQqB")
_STATUS = struct.Struct(">cQQQqB")
_STATUS_SECONDS = 10.0
_SILENCE_SECONDS = 40.0


class Message(NamedTuple):
    """Something the server sent.

    Attributes:
        lsn: The place in the log it is about.
        data: A message of the output plugin; None if the server only says how far it has read its log.
    """

    lsn: int
    data: bytes | None


class ReplicationConnection:
    """A connection that commands can be given on, and that then streams a slot.

    Args:
        database: Where.

    Raises:
        RetriableError: The server does not answer.
        ConnectError: It does not let the connector in.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.replication()
        self._raw = self._connection.pgconn
        self._driver_error = _driver_error()
        # Not select, which knows no more than 1024 descriptors: a worker may have more.
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(self._raw.socket, select.POLLIN)
        self._writable.register(self._raw.socket, select.POLLOUT)
        self._confirmed = 0
        self._told = self._heard = time.monotonic()

    def command(self, text: str, doing: str) -> list[str]:
        """Run a command or a statement; the columns of its first row.

        Raises:
            ConnectError: The server refuses.
        """
        from psycopg.pq import ExecStatus

        with self._database.errors(doing):
            result = self._raw.exec_(text.encode())
        if result.status == ExecStatus.FATAL_ERROR:
            raise self._refused(result, doing)
        if not result.ntuples:
            return []
        return [(result.get_value(0, column) or b"").decode() for column in range(result.nfields)]

    def start(self, slot: str, publication: str, lsn: int) -> None:
        """Begin to stream: transactions whose commit is at that place or behind it.

        Raises:
            RetriableError: Somebody else streams the slot.
            ConnectError: The server refuses.
        """
        quoted = '"' + publication.replace('"', '""') + '"'
        quoted = quoted.replace("'", "''")
        self.command(
            f"START_REPLICATION SLOT {slot} LOGICAL {lsn_text(lsn)} (proto_version '1', publication_names '{quoted}')",
            f"streaming the slot {slot}",
        )
        self._confirmed = lsn
        self._told = self._heard = time.monotonic()

    def next(self, wait_seconds: float) -> Message | None:
        """The next message; None if there is none within that time.

        Raises:
            RetriableError: The connection is lost, or the server is silent.
            ConnectError: The server ended the stream for a reason that stays.
        """
        try:
            return self._next(wait_seconds)
        except self._driver_error as error:  # a context manager would cost as much as a message
            raise self._database.translated(error, "streaming") from error

    def _next(self, wait_seconds: float) -> Message | None:
        raw = self._raw
        deadline: float | None = None
        while True:
            length, data = raw.get_copy_data(1)
            if length > 0:
                message = self._message(bytes(data))
                if message is not None:
                    return message
                continue
            if length < 0:
                raise self._refused(raw.get_result(), "streaming")
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                return None
            deadline = now + wait_seconds if deadline is None else deadline
            self._stay_in_touch(now)
            if self._readable.poll(1000 * min(deadline - now, _STATUS_SECONDS)):
                raw.consume_input()
                self._heard = time.monotonic()

    def _message(self, data: bytes) -> Message | None:
        if data[:1] == b"w":
            _, lsn, _, _ = _DATA.unpack_from(data)
            return Message(lsn, data[_DATA.size :])
        if data[:1] == b"k":
            _, lsn, _, reply = _KEEPALIVE.unpack(data)
            if reply:
                self._tell()
            return Message(lsn, None)
        return None  # nothing else is defined

    def attend(self) -> None:
        """Somebody reads again after a while in which nobody did: silence is counted from now."""
        self._heard = time.monotonic()

    def confirm(self, lsn: int) -> None:
        """Everything before that place has arrived: the server need not keep it for this slot."""
        if lsn > self._confirmed:
            self._confirmed = lsn
            self._tell()

    def _stay_in_touch(self, now: float) -> None:
        if now - self._heard > _SILENCE_SECONDS:
            raise RetriableError(
                f"PostgreSQL at {self._database.address}, streaming: nothing was heard for {_SILENCE_SECONDS:g} s"
            )
        if now - self._told > _STATUS_SECONDS:
            self._tell()

    def _tell(self) -> None:
        self._told = time.monotonic()
        clock = time.time_ns() // 1000 - EPOCH_MICROS
        # It asks for an answer, so that silence means that nobody is there.
        status = _STATUS.pack(b"r", self._confirmed, self._confirmed, self._confirmed, clock, 1)
        with self._database.errors("confirming"):
            self._raw.put_copy_data(status)
            while self._raw.flush():
                self._writable.poll(1000 * _STATUS_SECONDS)

    def _refused(self, result: PGresult | None, doing: str) -> Exception:
        from psycopg.pq import DiagnosticField

        if result is None:
            return self._database.refused("", None, doing)
        code = result.error_field(DiagnosticField.SQLSTATE)
        message = result.error_message.decode(errors="replace") or "the server ended the stream"
        return self._database.refused(message, code.decode() if code else None, doing)

    def close(self) -> None:
        """End; the server frees the slot."""
        self._connection.close()


def _driver_error() -> type[psycopg.Error]:
    import psycopg

    return psycopg.Error
