"""The records of a range: what tasks do."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from penstock.connect.api import Offset, SourceRange
from penstock.connect.connectors.postgres_cdc.catalog import Catalog
from penstock.connect.connectors.postgres_cdc.change_records import ChangeRecords
from penstock.connect.connectors.postgres_cdc.change_stream import ChangeStream, StreamItem
from penstock.connect.connectors.postgres_cdc.connections import Database
from penstock.connect.connectors.postgres_cdc.envelope import heartbeat
from penstock.connect.connectors.postgres_cdc.position import (
    COMPLETED,
    HEARTBEAT,
    LSN_PROC,
    PARTS,
    READ_AT,
    VIEW,
    Position,
)
from penstock.connect.connectors.postgres_cdc.replication import ReplicationConnection
from penstock.connect.connectors.postgres_cdc.snapshot import part_of
from penstock.connect.connectors.postgres_cdc.snapshot_reader import SnapshotReader
from penstock.connect.connectors.postgres_cdc.source_settings import SourceSettings
from penstock.connect.data import SourceRecord
from penstock.connect.errors import ConnectError, RetriableError

if TYPE_CHECKING:
    import psycopg

_WAIT_SECONDS = 5.0


class Reader:
    """Reads ranges. The connection stays open, so that ranges that follow each other cost nothing extra.

    Args:
        database: Where.
        settings: The connector's.
    """

    def __init__(self, database: Database, settings: SourceSettings) -> None:
        self._database = database
        self._settings = settings
        self._sql: psycopg.Connection[tuple[Any, ...]] | None = None
        self._catalog = Catalog(database, self._connection)
        self._rows = SnapshotReader(database, settings, self._catalog, self._connection)
        # Where the last range ended, the stream goes on.
        self._kept: tuple[ChangeStream, ChangeRecords] | None = None

    def _connection(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._sql is None or self._sql.closed:
            self._sql = self._database.sql()
        return self._sql

    def read(self, wanted: SourceRange) -> Iterator[SourceRecord]:
        """The records of a range.

        Raises:
            RetriableError: The connection was lost.
            ConnectError: The server no longer has them.
        """
        start, end = wanted.start, wanted.end
        if COMPLETED in end:
            is_first = start is None or start.get(COMPLETED) is not False
            parts = [part_of(given) for given in end[PARTS]]
            yield from self._rows.read(end[VIEW], parts, end[LSN_PROC], is_first=is_first, is_last=bool(end[COMPLETED]))
            return
        assert start is not None
        if HEARTBEAT in end:
            yield heartbeat(self._settings.heartbeat_topic, self._settings.prefix, end[HEARTBEAT], wanted.partition)
        if Position.of(start).last_change != Position.of(end).last_change:
            yield from self._changes(start, Position.of(end))

    def _changes(self, offset: Offset, end: Position) -> Iterator[SourceRecord]:
        start = Position.of(offset)
        read_at: dict[str, int] = offset.get(READ_AT, {})
        (stream, records), first = self._stream_from(start)
        last = end.last_change
        try:
            item = first
            while True:
                if item is not None:
                    if end.commit is not None and item.transaction.commit_lsn > end.commit:
                        raise _gone(end)
                    yield from records.of(item, read_at)
                if stream.last_change == last:
                    break
                if stream.go_on > end.go_on:
                    raise _gone(end)
                item = stream.next(_WAIT_SECONDS)
            self._kept = (stream, records)
        finally:
            if self._kept is None:
                stream.close()

    def _stream_from(self, start: Position) -> tuple[tuple[ChangeStream, ChangeRecords], StreamItem | None]:
        """A stream that stands at a place, and what it gives first."""
        kept, self._kept = self._kept, None
        if kept is not None:
            stream, _ = kept
            if stream.last_change == start.last_change:
                try:
                    stream.attend()
                    stream.confirm(start.go_on)
                    return kept, stream.next(_WAIT_SECONDS)
                except RetriableError:
                    pass  # the server does not wait for those who do not read for a minute
            stream.close()
        return self._open(start), None

    def _open(self, start: Position) -> tuple[ChangeStream, ChangeRecords]:
        settings = self._settings
        connection = ReplicationConnection(self._database)
        try:
            # The slot itself is the driver's; this copy ends with the connection.
            copy = f"{settings.slot[:40]}_read_{secrets.token_hex(6)}"
            connection.command(
                f"SELECT pg_copy_logical_replication_slot('{settings.slot}', '{copy}', true)",
                f"copying the slot {settings.slot}",
            )
            connection.start(copy, settings.publication, start.go_on)
        except BaseException:
            connection.close()
            raise
        records = ChangeRecords(settings, self._database.name, self._catalog, start.commit)
        return ChangeStream(connection, start), records

    def close(self) -> None:
        """Disconnect."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept[0].close()
        if self._sql is not None:
            self._sql.close()


def _gone(end: Position) -> ConnectError:
    return ConnectError(
        f"The slot no longer has the changes up to transaction {end.tx_id} that were to be read",
        hint="Somebody else reads or moves the slot. Reset the connector's offsets to read the tables anew.",
    )
