"""One table or query that is polled: when it is due, and how far its next range goes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, text

from penstock.connect.api import Offset, OffsetReader, Partition, SourceRange
from penstock.connect.connectors.jdbc.source import settings as keys
from penstock.connect.connectors.jdbc.source.columns_of import CriteriaColumns
from penstock.connect.connectors.jdbc.source.open_transactions import Fence, OpenTransactions
from penstock.connect.connectors.jdbc.source.position import (
    POLLED,
    QUERY_PARTITION,
    Position,
    older_partitions,
    table_partition,
)
from penstock.connect.connectors.jdbc.source.selection import Criteria, Selection
from penstock.connect.connectors.jdbc.source.session import Session
from penstock.connect.data.logical import EPOCH
from penstock.connect.errors import DataError, shown

_FENCE_SECONDS = 0.1
_RANGE_FETCHES = 50


class Poll:
    """Plans the ranges of one table or query.

    Args:
        selection: What is read.
        session: The connection.
        settings: The source's settings, parsed.
        transactions: Tells which transactions are open.
    """

    def __init__(
        self, selection: Selection, session: Session, settings: Mapping[str, Any], transactions: OpenTransactions
    ) -> None:
        self.selection = selection
        self.partition: Partition = QUERY_PARTITION if selection.table is None else table_partition(selection.table)
        self.due = 0.0
        self._session = session
        self._settings = settings
        self._transactions = transactions
        self._columns = CriteriaColumns(settings)
        self._mode: str = settings[keys.MODE]
        self._interval: float = settings[keys.POLL_INTERVAL_MS] / 1000
        self._rows: int = settings[keys.BATCH_MAX_ROWS] * _RANGE_FETCHES
        self._criteria: Criteria | None = None
        self._ceiling: Position | None = None
        self._fence: Fence | None = None

    def plan(self, connection: Connection, offsets: OffsetReader) -> tuple[SourceRange, int] | None:
        """The next range and how many rows it has about, if there is something to read."""
        begun = time.monotonic()
        if self._mode == keys.BULK:
            self.due = begun + self._interval
            known = offsets.offset(self.partition)
            return SourceRange(self.partition, known, {POLLED: time.time_ns() // 1_000_000}), self._rows
        criteria = self._known_criteria(connection)
        start = self._start(connection, offsets, criteria)
        if self._ceiling is None:
            self._ceiling = self._new_ceiling(connection, criteria)
            if self._ceiling is None:
                self._wait(begun)
                return None
            self._fence = Fence()
        if self._fence is not None and not self._transactions.has_passed(connection, self._fence, self.selection.name):
            self.due = begun + min(_FENCE_SECONDS, self._interval)
            return None
        self._fence = None
        end, count = self._end(connection, criteria, start, self._ceiling)
        if count < self._rows:  # nothing is left below the ceiling
            self._wait(begun)
        return (SourceRange(self.partition, start.offset(), end.offset()), count) if count else None

    def _end(
        self, connection: Connection, criteria: Criteria, start: Position, ceiling: Position
    ) -> tuple[Position, int]:
        """The last row of the next range, and how many rows it has at most."""
        if ceiling.incrementing is not None and start.incrementing is not None and not self.selection.is_limited:
            most = ceiling.incrementing - start.incrementing
            if most < self._rows:  # there cannot be more rows than numbers
                return ceiling, max(0, most)
        statement, arguments = criteria.bound(start, ceiling, self._rows)
        row = connection.execute(text(statement), arguments).one_or_none()
        return (start, 0) if row is None or not row[0] else (criteria.position(row[1], row[2]), int(row[0]))

    def _wait(self, begun: float) -> None:
        self._ceiling = None
        self.due = begun + self._interval

    def forget(self) -> None:
        """After an error: the table may be another one by now."""
        self._criteria = self._ceiling = self._fence = None

    def _known_criteria(self, connection: Connection) -> Criteria:
        if self._criteria is None:
            self._criteria = self.criteria(connection)
        return self._criteria

    def criteria(self, connection: Connection) -> Criteria:
        """How rows are found, by the columns the table has now."""
        session, selection = self._session, self.selection
        facts = session.dialect.facts(connection, selection.table) if selection.table is not None else {}
        columns = session.describe(connection, selection)
        times = self._columns.times(selection, columns, facts) if keys.TIMESTAMP in self._mode else []
        number = self._columns.number(selection, columns, facts) if keys.INCREMENTING in self._mode else None
        return Criteria(
            selection,
            session.dialect,
            session.database.zone,
            times=[(column, session.quoted(column.name)) for column in times],
            number=None if number is None else (number, session.quoted(number.name)),
        )

    def _start(self, connection: Connection, offsets: OffsetReader, criteria: Criteria) -> Position:
        known = self._known_offset(offsets)
        position = Position() if known is None else Position.of(known)
        number = position.incrementing
        if criteria.has_number and number is None:
            number = self._settings[keys.INCREMENTING_INITIAL]
        moment = position.timestamp
        if criteria.has_times and moment is None:
            moment = self._first_moment(connection)
        return Position(moment if criteria.has_times else None, number if criteria.has_number else None)

    def _known_offset(self, offsets: OffsetReader) -> Offset | None:
        known = offsets.offset(self.partition)
        if known is None and self.selection.table is not None:
            database = self._session.database.engine.url.database
            found = (offsets.offset(one) for one in older_partitions(self.selection.table, database))
            known = next((one for one in found if one is not None), None)
        return known

    def _first_moment(self, connection: Connection) -> datetime:
        initial: int | None = self._settings[keys.TIMESTAMP_INITIAL]
        if initial is None:
            return EPOCH
        if initial < 0:
            # Kept by this object until rows were read: a later plan must not begin later.
            if self._began is None:
                self._began = self._now(connection)
            return self._began
        return EPOCH + timedelta(milliseconds=initial)

    _began: datetime | None = None

    def _now(self, connection: Connection) -> datetime:
        return self._session.dialect.now(connection, self._session.database.zone)

    def _new_ceiling(self, connection: Connection, criteria: Criteria) -> Position | None:
        """Up to where rows may be read now; None if there are none."""
        if criteria.has_times:
            self._refuse_no_times(connection, criteria)
            moment = self._now(connection) - timedelta(milliseconds=self._settings[keys.TIMESTAMP_DELAY_MS])
            return Position(criteria.last_tick(moment))
        if not self._settings[keys.OPEN_TRANSACTIONS_WAIT_MS]:
            return Position()
        largest = connection.execute(text(criteria.largest())).scalar()
        # Rows that come while open transactions are waited for are no end: some with smaller numbers may come later.
        return None if largest is None else Position(None, int(largest))

    def _refuse_no_times(self, connection: Connection, criteria: Criteria) -> None:
        """Rows without a time that can be compared would never be read."""
        for name, statement in criteria.no_times():
            row = connection.execute(text(statement)).one_or_none()
            if row is not None:
                raise DataError(
                    f"The time column {name} of {self.selection.name} holds {shown(repr(row[0]))}, which is no time: such "
                    "rows would never be read",
                    hint="Correct the rows: 2024-05-01 12:30:00, or milliseconds since 1970 as a whole number.",
                )
