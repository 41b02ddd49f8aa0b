"""How far there is something to read: what the driver does."""

from __future__ import annotations

import logging
import time
from typing import Any

from penstock.connect.api import Offset, SourceRange
from penstock.connect.connectors.postgres_cdc import pgoutput
from penstock.connect.connectors.postgres_cdc.change_stream import ChangeStream
from penstock.connect.connectors.postgres_cdc.connections import Database, require_version
from penstock.connect.connectors.postgres_cdc.lsn import lsn_text
from penstock.connect.connectors.postgres_cdc.position import (
    COMPLETED,
    HEARTBEAT,
    LSN,
    LSN_PROC,
    PARTS,
    READ_AT,
    SNAPSHOT,
    TS_USEC,
    VIEW,
    Position,
)
from penstock.connect.connectors.postgres_cdc.replication import ReplicationConnection
from penstock.connect.connectors.postgres_cdc.slot import Slot, create_slot, drop_slot, ensure_publication, find_slot
from penstock.connect.connectors.postgres_cdc.snapshot import Snapshot, part_of, read_at
from penstock.connect.connectors.postgres_cdc.source_settings import SourceSettings
from penstock.connect.errors import ConnectError

log = logging.getLogger("penstock.connect")

# While only foreign tables change, an offset is written this often, so that the server can recycle its log.
_IDLE_SECONDS, _IDLE_BYTES = 60.0, 16 << 20
# More changes of a burst are worth so much waiting, and no more.
_BURST_SECONDS = 0.02


class Planner:
    """Decides what the next batch reads.

    It follows the slot's stream and counts. Tasks read the same stream from a copy of the slot: what was planned and is not yet
    in Kafka stays in the slot, so it can be read again.

    Args:
        database: Where.
        settings: The connector's.
    """

    def __init__(self, database: Database, settings: SourceSettings) -> None:
        self._database = database
        self._settings = settings
        self._poll_seconds = settings.parsed["poll.interval.ms"] / 1000
        self._prepared = False
        self._expected: Offset | None = None
        self._at: Offset | None = None
        self._snapshot: Snapshot | None = None
        self._stream: ChangeStream | None = None
        self._wanted: dict[int, bool] = {}
        self._snapshot_due = settings.snapshot_mode == "always"
        self._planned_at = time.monotonic()

    @property
    def finished(self) -> bool:
        """Whether nothing will ever come again."""
        completed = self._at is not None and bool(self._at.get(COMPLETED))
        return self._settings.snapshot_mode == "initial_only" and completed

    def plan(self, known: Offset | None) -> SourceRange | None:
        """The next range; None if there is nothing to read now.

        Raises:
            RetriableError: The server does not answer.
            ConnectError: It refuses, or no longer has what is needed.
        """
        if not self._prepared or known != self._expected:
            self.close()
            self._at = self._prepare(known)
            self._expected = known
            self._prepared = True
        if self._at is None or self._at.get(COMPLETED) is False or self._snapshot_due:
            return self._range(self._rows_end())
        self._end_snapshot()
        if self.finished:
            return None
        end = self._changes_end(self._at)
        return None if end is None else self._range(end)

    def _range(self, end: dict[str, Any]) -> SourceRange:
        start, self._at, self._expected = self._at, end, end
        self._planned_at = time.monotonic()
        return SourceRange(self._settings.partition, start, end)

    def _prepare(self, known: Offset | None) -> Offset | None:
        """Makes slot and publication if they are missing; where to go on, None for a snapshot."""
        mode, name = self._settings.snapshot_mode, self._settings.slot
        with self._database.sql() as connection:
            require_version(connection)
            ensure_publication(connection, self._database, self._settings)
            if mode == "initial_only":
                return known
            slot = find_slot(connection, self._database, name)
            gap = None if known is None else self._gap(slot, known)
            if gap is not None:
                self._bridge(gap)
                known = None
                if slot is not None and slot.lost:
                    drop_slot(connection, self._database, name)
                    slot = None
            if slot is None:
                slot = create_slot(connection, self._database, name)
        if known is None and (mode == "no_data" or (gap is not None and mode != "when_needed")):
            return {LSN: slot.confirmed, LSN_PROC: slot.confirmed}
        return known

    def _gap(self, slot: Slot | None, known: Offset) -> str | None:
        """Why changes since an offset are missing; None if they are not."""
        name, go_on = self._settings.slot, Position.of(known).go_on
        if slot is None:
            return f"The replication slot {name} is gone"
        if slot.lost:
            return f"The server has recycled the log that the replication slot {name} needs (max_slot_wal_keep_size)"
        if slot.confirmed > go_on:
            return (
                f"The replication slot {name} begins at {lsn_text(slot.confirmed)}: somebody else has moved or made it"
            )
        return None

    def _bridge(self, gap: str) -> None:
        """Goes on in spite of a gap, where the settings say how."""
        settings = self._settings
        if settings.snapshot_mode == "when_needed":
            log.warning("%s: %s. The tables are read anew", settings.prefix, gap)
        elif settings.parsed["slot.drop.on.stop"]:
            log.warning("%s: %s. What changed while the connector was stopped is not read", settings.prefix, gap)
        else:
            raise ConnectError(
                f"{gap}, and changes since the connector's offset are lost",
                hint="Reset the connector's offsets to read the tables anew, or set snapshot.mode=when_needed.",
            )

    def _rows_end(self) -> dict[str, Any]:
        """The end of the next range of a snapshot."""
        if self._snapshot is None or not self._snapshot.alive():
            self._snapshot = Snapshot(self._database, self._settings)
        view = self._snapshot
        resumed = self._at if self._at is not None and self._at.get(COMPLETED) is False else None
        done = part_of(resumed[PARTS][-1]) if resumed else None
        base: int = resumed[LSN_PROC] if resumed else view.lsn
        parts, finished = view.parts(done, self._settings.parsed["snapshot.fetch.size"])
        self._snapshot_due = False
        known = resumed.get(READ_AT, {}) if resumed else {}
        return {
            LSN: base,
            LSN_PROC: base,
            TS_USEC: time.time_ns() // 1000,
            SNAPSHOT: "INITIAL",
            COMPLETED: finished,
            PARTS: [part.to_list() for part in parts],
            VIEW: view.name,
            **_if_any(READ_AT, read_at(known, base, view.lsn, done, parts)),
        }

    def _changes_end(self, at: Offset) -> dict[str, Any] | None:
        """The end of the next range of changes; None if there are none."""
        if self._stream is None:
            self._stream = self._open(Position.of(at))
        stream = self._stream
        stream.attend()
        count = self._count(stream)
        position = stream.position
        now = time.monotonic()
        heartbeat = self._settings.heartbeat_ms and now - self._planned_at >= self._settings.heartbeat_ms / 1000
        moved = 0 if position.event else position.go_on - int(at[LSN_PROC])
        waits = moved < _IDLE_BYTES and now - self._planned_at < _IDLE_SECONDS
        if not count and not heartbeat and (moved <= 0 or waits):
            return None
        pending = {table: lsn for table, lsn in at.get(READ_AT, {}).items() if lsn > position.go_on}
        beat = {HEARTBEAT: time.time_ns() // 1_000_000} if heartbeat else {}
        return {**position.offset(), **_if_any(READ_AT, pending), **beat}

    def _count(self, stream: ChangeStream) -> int:
        """Reads what there is, at most a batch; how many changes are about tables that are read."""
        count = 0
        deadline = time.monotonic() + self._poll_seconds
        while count < self._settings.batch_size:
            left = deadline - time.monotonic()
            item = stream.next(_BURST_SECONDS if count else max(0.0, left))
            if item is None:
                if count or left <= 0:
                    break
                continue
            kind = item.data[:1]
            if kind == pgoutput.RELATION:
                relation = pgoutput.relation(item.data)
                self._wanted[relation.oid] = self._settings.tables.has_table(relation.schema, relation.table)
            elif kind == pgoutput.TRUNCATE:
                count += any(self._wanted.get(oid, True) for oid in pgoutput.truncated(item.data))
            elif kind != pgoutput.COMMIT:
                count += self._wanted.get(pgoutput.relation_oid(item.data), True)
            if not count and left <= 0:
                break
        return count

    def _open(self, start: Position) -> ChangeStream:
        connection = ReplicationConnection(self._database)
        try:
            connection.start(self._settings.slot, self._settings.publication, start.go_on)
        except BaseException:
            connection.close()
            raise
        self._wanted.clear()
        return ChangeStream(connection, start)

    def delivered(self, end: Offset) -> None:
        """A range is in Kafka: the server need not keep its changes."""
        if end.get(COMPLETED):
            self._end_snapshot()
        elif self._stream is not None:
            self._stream.confirm(int(end[LSN_PROC]))

    def _end_snapshot(self) -> None:
        if self._snapshot is not None:
            self._snapshot.close()
            self._snapshot = None

    def close(self) -> None:
        """Let go of everything; the next plan begins anew."""
        self._end_snapshot()
        stream, self._stream = self._stream, None
        self._prepared = False
        if stream is not None:
            stream.close()

    def drop_slot(self) -> None:
        """Drop the slot: what changes from now on is not kept."""
        with self._database.sql() as connection:
            drop_slot(connection, self._database, self._settings.slot)


def _if_any(name: str, values: dict[str, int]) -> dict[str, Any]:
    return {name: values} if values else {}
