"""Places in the stream of changes, and offsets in Debezium's form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.connect.api import Offset
from penstock.connect.errors import ConnectError

LSN, LSN_PROC, LSN_COMMIT, TX_ID, TS_USEC = "lsn", "lsn_proc", "lsn_commit", "txId", "ts_usec"
MESSAGE_TYPE, EVENT, READ_AT, HEARTBEAT = "messageType", "event", "read_at", "heartbeat"
SNAPSHOT, COMPLETED, PARTS, VIEW = "snapshot", "snapshot_completed", "parts", "view"


@dataclass(frozen=True, slots=True)
class Position:
    """A place between two changes.

    Attributes:
        go_on: Transactions whose commit is at this place of the log or behind it are still to come, wholly or in part.
        commit: The commit of the transaction that had the last change.
        lsn: The last change.
        event: How many changes of that transaction are done, if some are still to come; 0 if it is done.
        tx_id: The transaction.
        micros: When it was committed.
        kind: INSERT, UPDATE, DELETE or TRUNCATE.
    """

    go_on: int
    commit: int | None = None
    lsn: int | None = None
    event: int = 0
    tx_id: int | None = None
    micros: int | None = None
    kind: str | None = None

    @classmethod
    def of(cls, offset: Offset) -> Position:
        """The place an offset says.

        Raises:
            ConnectError: It says none.
        """
        lsn = offset.get(LSN)
        # Debezium's lsn_proc is the last change it had done; transactions with a later commit hold all that it had not.
        go_on = offset.get(LSN_PROC, lsn)
        if not isinstance(go_on, int):
            raise ConnectError(
                f"The offset {dict(offset)} says no place in the server's log",
                hint="It needs a number as lsn_proc or lsn.",
            )
        return cls(
            go_on,
            offset.get(LSN_COMMIT),
            lsn,
            offset.get(EVENT, 0),
            offset.get(TX_ID),
            offset.get(TS_USEC),
            offset.get(MESSAGE_TYPE),
        )

    def offset(self) -> dict[str, Any]:
        """The offset of this place."""
        given = {
            LSN: self.lsn if self.lsn is not None else self.go_on,
            LSN_PROC: self.go_on,
            LSN_COMMIT: self.commit,
            TX_ID: self.tx_id,
            TS_USEC: self.micros,
            MESSAGE_TYPE: self.kind,
            EVENT: self.event or None,
        }
        return {name: value for name, value in given.items() if value is not None}

    @property
    def last_change(self) -> tuple[int | None, int | None, int]:
        """Which change was the last one: equal for places with nothing but foreign changes between them."""
        return self.commit, self.lsn, self.event
