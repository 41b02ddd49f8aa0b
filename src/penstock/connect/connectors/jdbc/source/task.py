"""The task: polls its tables in turn, and reads the rows of a range."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from sqlalchemy import Connection

from penstock.connect.api import OffsetReader, SourceRange, SourceTask
from penstock.connect.connectors.jdbc.connection import Database
from penstock.connect.connectors.jdbc.database_errors import is_missing_table
from penstock.connect.connectors.jdbc.source import settings as keys
from penstock.connect.connectors.jdbc.source.fields import FieldRules
from penstock.connect.connectors.jdbc.source.open_transactions import OpenTransactions
from penstock.connect.connectors.jdbc.source.poll import Poll
from penstock.connect.connectors.jdbc.source.position import POLLED, Position
from penstock.connect.connectors.jdbc.source.rows import RowReader
from penstock.connect.connectors.jdbc.source.selection import Arguments, Selection
from penstock.connect.connectors.jdbc.source.session import Session
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.data import SourceRecord
from penstock.connect.data.headers import NO_CONNECT_HEADERS
from penstock.connect.errors import ConnectError

log = logging.getLogger("penstock.connect")

TABLES = "tables"
"""Setting of a task: its tables, as JSON."""
_RECORD: Callable[[Any], SourceRecord] = partial(tuple.__new__, SourceRecord)  # what SourceRecord._make does, in C
_PLAN_RANGES = 4  # full ranges of one plan: more tables wait for the next


class JdbcSourceTask(SourceTask):
    """Reads some tables, or a query."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        settings = keys.CONFIG.parse(config)
        self._settings = settings
        self._session = Session(Database(settings, existing=True), settings)
        self._rules = FieldRules(
            keys.numeric_mapping(settings), settings[keys.TIMESTAMP_GRANULARITY].lower(), self._session.database.zone
        )
        self._fetch: int = settings[keys.BATCH_MAX_ROWS]
        self._interval_ms: int = settings[keys.POLL_INTERVAL_MS]
        self._query = query_of(settings)
        transactions = OpenTransactions(self._session.dialect, settings[keys.OPEN_TRANSACTIONS_WAIT_MS])
        selections = [self._session.query(self._query)] if self._query else []
        if not self._query:
            selections = [self._session.table(TableId(*one)) for one in json.loads(config.get(TABLES) or "[]")]
        self._polls = [Poll(one, self._session, settings, transactions) for one in selections]
        self._missing: set[str] = set()
        self._readers: dict[str, RowReader] = {}

    def plan(self, offsets: OffsetReader) -> Sequence[SourceRange]:
        ranges: list[SourceRange] = []
        room = _PLAN_RANGES * 50 * self._fetch
        now = time.monotonic()
        for poll in list(self._polls):
            if poll.due > now:
                continue
            if room <= 0:
                break
            found = self._plan(poll, offsets)
            if found is not None:
                ranges.append(found[0])
                room -= found[1]
                # Those who had a turn stand behind those who had not.
                self._polls.remove(poll)
                self._polls.append(poll)
        due = min((poll.due for poll in self._polls), default=now + self._interval_ms / 1000)
        self.idle_ms = max(1, min(self._interval_ms, int((due - time.monotonic()) * 1000) + 1))
        return ranges

    def _plan(self, poll: Poll, offsets: OffsetReader) -> tuple[SourceRange, int] | None:
        name = poll.selection.name
        try:
            with self._session.connected(f"asking {name} for new rows") as connection:
                found = poll.plan(connection, offsets)
        except ConnectError as error:
            poll.forget()
            if poll.selection.table is None or not _is_missing(error):
                raise
            poll.due = time.monotonic() + self._interval_ms / 1000
            if name not in self._missing:
                self._missing.add(name)
                log.warning("%s is not there, or not any more: %s", name, error)
            return None
        self._missing.discard(name)
        return found

    def read(self, wanted: SourceRange) -> Iterator[SourceRecord]:
        selection = self._selection(wanted)
        try:
            with self._session.connected(f"reading {selection.name}") as connection:
                yield from self._records(connection, selection, wanted)
        except ConnectError as error:
            if selection.table is None or not _is_missing(error):
                raise
            log.warning("The rows of %s up to %s were not read: %s", selection.name, dict(wanted.end), error)

    def _records(self, connection: Connection, selection: Selection, wanted: SourceRange) -> Iterator[SourceRecord]:
        statement, arguments = self._statement(connection, selection, wanted)
        facts = self._session.dialect.facts(connection, selection.table) if selection.table is not None else {}
        with self._session.cursor(connection, statement, arguments) as cursor:
            columns = self._session.columns(connection, cursor, selection)
            key = repr(
                (selection.source, [(c.name, c.kind, c.type_name, c.precision, c.scale) for c in columns], facts)
            )
            reader = self._readers.get(key)
            if reader is None:
                # A table that was altered has another schema from here on.
                name = selection.table.table if selection.table is not None else None
                reader = self._readers[key] = RowReader(name, columns, facts, self._rules)
            topic = self._settings[keys.TOPIC_PREFIX] + (selection.table.table if selection.table is not None else "")
            same = repeat(topic), repeat(None), repeat(None), repeat(None), repeat(reader.schema)
            rest = repeat(None), repeat(NO_CONNECT_HEADERS), repeat(wanted.partition), repeat(None)
            while rows := cursor.fetchmany(self._fetch):
                yield from map(_RECORD, zip(*same, reader.structs(rows), *rest, strict=False))

    def _statement(self, connection: Connection, selection: Selection, wanted: SourceRange) -> tuple[str, Arguments]:
        if POLLED in wanted.end:
            return selection.everything, {}
        # The range decides, not the mode: it may have been planned before the settings were changed.
        end = Position.of(wanted.end)
        start = Position.of(wanted.start or {})
        settings = {**self._settings, keys.MODE: _mode(end), keys.VALIDATE_NON_NULL: False}
        poll = Poll(selection, self._session, settings, OpenTransactions(self._session.dialect, 0))
        return poll.criteria(connection).between(start, end)

    def _selection(self, wanted: SourceRange) -> Selection:
        """What a range is of; also one of a table that has gone to another task since it was planned."""
        if "table" not in wanted.partition:
            if not self._query:
                raise ConnectError(
                    "A batch of a query is not finished, but the connector has no query any more",
                    hint="Set the query again until it is, or reset the connector's offsets.",
                )
            return self._session.query(self._query)
        for poll in self._polls:
            if poll.partition == wanted.partition:
                return poll.selection
        return self._session.table(self._session.database.table_id(str(wanted.partition["table"])))

    def stop(self) -> None:
        self._session.close()
        self._session.database.close()


def _mode(end: Position) -> str:
    if end.timestamp is None:
        return keys.INCREMENTING
    return keys.TIMESTAMP if end.incrementing is None else keys.BOTH


def _is_missing(error: ConnectError) -> bool:
    return error.__cause__ is not None and is_missing_table(error.__cause__)


def query_of(settings: Mapping[str, Any]) -> str:
    """The query, from whichever setting has it."""
    masked = settings[keys.QUERY_MASKED]
    query: str = settings[keys.QUERY] or (masked.value if masked is not None else "")
    return query.strip().rstrip(";").strip()
