"""Writes rows: all of a task's records in one transaction, without those the database refuses."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine import Connection

from penstock.connect.connectors.jdbc.connection import Database
from penstock.connect.connectors.jdbc.database_errors import message_of
from penstock.connect.connectors.jdbc.sink.batches import place
from penstock.connect.connectors.jdbc.sink.dialects import Dialect
from penstock.connect.connectors.jdbc.sink.row_errors import is_row_error
from penstock.connect.connectors.jdbc.sink.rows import Row
from penstock.connect.connectors.jdbc.sink.statements import Statement
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.data import SinkRecord
from penstock.connect.errors import DataError

log = logging.getLogger("penstock.connect")
_SAVEPOINT = "penstock_rows"
_MANY = 20  # rows for which the fast way pays


@dataclass(frozen=True, slots=True)
class Work:
    """Rows for one statement.

    Attributes:
        table: The table, for messages.
        statement: The statement.
        rows: Its rows.
        records: The record of each row.
    """

    table: TableId
    statement: Statement
    rows: list[Row]
    records: list[SinkRecord]

    def part(self, begin: int, end: int) -> Work:
        """Some of its rows."""
        return Work(self.table, self.statement, self.rows[begin:end], self.records[begin:end])


class Writer:
    """Runs statements.

    Args:
        database: Where to.
        dialect: What the database speaks.
        report: Is given records the database refuses, with the reason.
    """

    def __init__(self, database: Database, dialect: Dialect, report: Callable[[SinkRecord, Exception], None]) -> None:
        self._database = database
        self._dialect = dialect
        self._report = report
        self._bulk = True
        self._dbapi: Any = database.engine.dialect.loaded_dbapi

    def write(self, connection: Connection, works: list[Work]) -> None:
        """Write everything in one transaction.

        Raises:
            Exception: The driver's own; the transaction was rolled back.
        """
        if self._bulk:
            try:
                return self._write(connection, works, bulk=True)
            except Exception as error:
                if not self._dialect.gives_up_bulk(error):
                    raise
                log.info("%s: rows are written by single statements from now on: %s", self._database.where, error)
                self._bulk = False
        return self._write(connection, works, bulk=False)

    def _write(self, connection: Connection, works: list[Work], *, bulk: bool) -> None:
        cursor = connection.connection.cursor()
        try:
            with connection.begin():
                for work in works:
                    if bulk and work.statement.bulk is not None and len(work.rows) >= _MANY:
                        work.statement.bulk.run(cursor, work.rows)
                    else:
                        self._execute(cursor, work)
        finally:
            _close(cursor)

    def write_without_refused(self, connection: Connection, works: list[Work]) -> None:
        """Write everything in one transaction, but for rows the database refuses: those are reported.

        They are found by halves, each half under a savepoint.

        Raises:
            Exception: The driver's own, if it is not about a row; or what the report raises. The transaction was rolled back.
        """
        cursor = connection.connection.cursor()
        try:
            with connection.begin():
                self._dialect.begin(cursor)
                for work in works:
                    self._halve(connection, cursor, work)
        finally:
            _close(cursor)

    def _halve(self, connection: Connection, cursor: Any, work: Work) -> None:
        dialect: Any = connection.engine.dialect
        dialect.do_savepoint(connection, _SAVEPOINT)
        try:
            self._execute(cursor, work)
        except Exception as error:
            if not is_row_error(error, self._dbapi):
                raise
            dialect.do_rollback_to_savepoint(connection, _SAVEPOINT)
            if len(work.rows) == 1:
                self._refuse(work, error)
                return
            middle = len(work.rows) // 2
            self._halve(connection, cursor, work.part(0, middle))
            self._halve(connection, cursor, work.part(middle, len(work.rows)))
        else:
            dialect.do_release_savepoint(connection, _SAVEPOINT)

    def _refuse(self, work: Work, error: Exception) -> None:
        (record,) = work.records
        reason = f"{place(record)} was refused by table {work.table}: {message_of(error)}"
        self._report(record, DataError(reason, hint="Correct the record, or the table's column."))

    def _execute(self, cursor: Any, work: Work) -> None:
        changed = self._dialect.execute(cursor, work.statement.sql, work.rows)
        if work.statement.finds_rows and 0 <= changed < len(work.rows):
            missing = len(work.rows) - changed
            log.warning("Table %s: %d of %d records to update had no row", work.table, missing, len(work.rows))


def _close(cursor: Any) -> None:
    try:
        cursor.close()
    except Exception:
        log.debug("a cursor could not be closed", exc_info=True)
