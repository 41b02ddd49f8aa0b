"""The task of the JDBC sink: batches, tables, one transaction for all that is put, and what happens when that fails."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import NoReturn

from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from penstock.connect.api import SinkTask
from penstock.connect.connectors.jdbc.connection import Database
from penstock.connect.connectors.jdbc.sink.batches import Batch, Batches, place
from penstock.connect.connectors.jdbc.sink.dialects import dialect_of
from penstock.connect.connectors.jdbc.sink.inference import Inference
from penstock.connect.connectors.jdbc.sink.row_errors import is_row_error, waits_for_parent
from penstock.connect.connectors.jdbc.sink.settings import MAX_RETRIES, SinkSettings
from penstock.connect.connectors.jdbc.sink.statements import Statement, Statements
from penstock.connect.connectors.jdbc.sink.tables import TableError, Tables
from penstock.connect.connectors.jdbc.sink.writer import Work, Writer
from penstock.connect.data import SinkRecord
from penstock.connect.errors import ConnectError, DataError, RetriableError

log = logging.getLogger("penstock.connect")


class JdbcSinkTask(SinkTask):
    """Writes records to tables. When `put` returns, its records are committed."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._settings = SinkSettings.of(config)
        self._database = Database(config)
        self._dialect = dialect_of(self._database, self._settings)
        self._batches = Batches(self._database, self._settings)
        self._tables = Tables(self._database, self._dialect, self._settings)
        self._statements = Statements(self._dialect, self._settings)
        self._writer = Writer(self._database, self._dialect, self._report)
        self._inference = Inference() if self._settings.infer else None
        self._connection: Connection | None = None
        self._retries = self._settings.max_retries
        # Records of the current call that were reported: a second try must not report them again.
        self._reported: set[tuple[str | None, int | None, int | None]] = set()

    def start(self) -> None:
        self._use(self._database.connect_patiently())

    def put(self, records: list[SinkRecord]) -> None:
        if not records:
            return
        if self._inference is not None:
            records = self._inference.applied(records)
        try:
            self._put(self._batches.of(records, self._report))
        except RetriableError as error:
            self._try_again(error)
        self._retries = self._settings.max_retries
        self._reported.clear()

    def _put(self, batches: list[Batch]) -> None:
        connection = self._connection or self._use(self._database.connect())
        try:
            self._write(connection, batches)
        except (SQLAlchemyError, self._database.engine.dialect.loaded_dbapi.Error):
            self._pass_on(f"writing to {', '.join(sorted({str(batch.table) for batch in batches}))}")

    def _pass_on(self, doing: str) -> NoReturn:
        """Raise the driver's error as one that may pass: as Kafka does, whatever it is about, until there were too many tries."""
        try:
            with self._database.errors(doing):
                raise  # noqa: PLE0704 - called while it is handled
        except RetriableError:
            raise
        except ConnectError as error:
            raise RetriableError(error.message, hint=error.hint) from error

    def _write(self, connection: Connection, batches: list[Batch]) -> None:
        works = [work for batch in batches for work in self._works(connection, batch)]
        try:
            self._writer.write(connection, works)
        except Exception as error:
            if not is_row_error(error, self._database.engine.dialect.loaded_dbapi):
                raise
            if waits_for_parent(error) and self._retries > 0:
                raise RetriableError(f"A row refers to one that is not there yet: {error}") from error
            log.info("%s refused a row; it is looked for: %s", self._database.where, type(error).__name__)
            # What was in its way may be what a record before it deletes.
            works = [work for batch in batches for work in self._works(connection, batch, in_order=True)]
            self._writer.write_without_refused(connection, works)

    def _works(self, connection: Connection, batch: Batch, *, in_order: bool = False) -> list[Work]:
        """The rows of a batch; records that cannot become rows are reported.

        Args:
            connection: Without a transaction.
            batch: The records.
            in_order: Whether writes wait for all deletes before them, also where the table does not need it.
        """
        try:
            table = self._tables.ready(connection, batch.table, batch.fields, writes=bool(batch.writes))
            write = self._statements.write(batch, table) if batch.writes else None
            delete = self._statements.delete(batch, table) if batch.deletes else None
            keys = [table.column(field.name) or field.name for field in batch.fields.keys]
            works = []
            for writes, deletes in batch.steps(in_order=in_order or not table.is_told_by(keys)):
                works += [self._work(batch, write, writes)] if write is not None else []
                works += [self._work(batch, delete, deletes)] if delete is not None else []
            return [work for work in works if work.rows]
        except (TableError, DataError) as error:
            for record in [*batch.writes, *batch.deletes]:
                self._report(record, error)
            return []

    def _work(self, batch: Batch, statement: Statement, records: list[SinkRecord]) -> Work:
        try:
            return Work(batch.table, statement, statement.reader.rows(records), records)
        except Exception:  # noqa: BLE001 - which record it is, and what is to be done, is found one by one
            return self._careful_work(batch, statement, records)

    def _careful_work(self, batch: Batch, statement: Statement, records: list[SinkRecord]) -> Work:
        rows, good = [], []
        for record in records:
            try:
                rows.extend(statement.reader.rows([record]))
            except Exception as error:  # noqa: BLE001 - whatever a value makes its conversion raise
                hint = error.hint if isinstance(error, ConnectError) else ""
                what = error.message if isinstance(error, ConnectError) else f"{type(error).__name__}: {error}"
                self._report(
                    record, DataError(f"{place(record)} cannot become a row of {batch.table}: {what}", hint=hint)
                )
            else:
                good.append(record)
        return Work(batch.table, statement, rows, good)

    def _report(self, record: SinkRecord, error: Exception) -> None:
        at = (record.original_topic, record.original_partition, record.original_offset)
        if at not in self._reported:
            self.context.report(record, error)
            self._reported.add(at)

    def _use(self, connection: Connection) -> Connection:
        with self._database.errors("preparing the session"):
            self._dialect.prepare(connection)
        self._tables.forget()
        self._connection = connection
        return connection

    def _try_again(self, error: RetriableError) -> None:
        """Connect anew for the next try, unless there were too many.

        Raises:
            RetriableError: The worker is to put the same records again.
            ConnectError: There were too many tries.
        """
        self._disconnect()
        if self._retries <= 0:
            raise ConnectError(
                f"{error.message} (after {self._settings.max_retries} retries)",
                hint=error.hint or f"{MAX_RETRIES} and retry.backoff.ms say how long to wait for a database.",
            ) from error
        self._retries -= 1
        error.after_ms = self._settings.retry_backoff_ms
        raise error

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.invalidate()
                connection.close()
            except Exception:
                log.debug("a connection could not be closed", exc_info=True)

    def stop(self) -> None:
        self._disconnect()
        self._database.close()
