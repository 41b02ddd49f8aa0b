"""Rows of a snapshot, read by tasks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from penstock.connect.connectors.postgres_cdc.catalog import Catalog
from penstock.connect.connectors.postgres_cdc.connections import Database
from penstock.connect.connectors.postgres_cdc.envelope import envelope, source
from penstock.connect.connectors.postgres_cdc.pgoutput import Relation, RelationColumn
from penstock.connect.connectors.postgres_cdc.snapshot import Part
from penstock.connect.connectors.postgres_cdc.source_settings import SourceSettings
from penstock.connect.connectors.postgres_cdc.table_shape import TableShape
from penstock.connect.data import SourceRecord

if TYPE_CHECKING:
    import psycopg

# Generated columns are not in the stream of changes either.
_COLUMNS = """
    SELECT attname, atttypid::bigint, atttypmod FROM pg_attribute
    WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum
"""


class SnapshotReader:
    """Reads parts of tables.

    Args:
        database: Where.
        settings: The connector's.
        catalog: Knows about tables and types.
        connection: Gives a connection to read on.
    """

    def __init__(
        self,
        database: Database,
        settings: SourceSettings,
        catalog: Catalog,
        connection: Callable[[], psycopg.Connection[tuple[Any, ...]]],
    ) -> None:
        self._database = database
        self._settings = settings
        self._catalog = catalog
        self._connection = connection

    def read(
        self, view: str, parts: Sequence[Part], lsn: int, *, is_first: bool, is_last: bool
    ) -> Iterator[SourceRecord]:
        """The rows of parts.

        Args:
            view: The name of the view to read them in. If it is gone they are read as they are now: the changes since the
                view's place in the log come later, so that the end is the same.
            parts: The parts.
            lsn: The view's place in the log.
            is_first: Whether the snapshot begins with them.
            is_last: Whether it ends with them.
        """
        connection = self._connection()
        micros = time.time_ns() // 1000
        with self._database.errors("reading a snapshot"):
            _begin(connection, view)
            try:
                rows = chain.from_iterable(self._rows(connection, part, lsn, micros) for part in parts)
                mark = "first" if is_first else "true"
                last: SourceRecord | None = None
                for record in rows:
                    if last is not None:
                        yield _marked(last, mark)
                        mark = "true"
                    last = record
                if last is not None:
                    yield _marked(last, "last" if is_last else mark)
            finally:
                if not connection.closed:
                    connection.execute("ROLLBACK")

    def _rows(
        self, connection: psycopg.Connection[tuple[Any, ...]], part: Part, lsn: int, micros: int
    ) -> Iterator[SourceRecord]:
        from psycopg import sql

        row = connection.execute("SELECT pg_relation_filenode(%s::oid)::bigint", (part.oid,)).fetchone()
        if row is None or row[0] != part.filenode:
            return  # it was rewritten or dropped; it is read anew, if it is still there
        columns = connection.execute(_COLUMNS, (part.oid,)).fetchall()
        relation = Relation(
            part.oid,
            part.schema,
            part.table,
            "f",
            tuple(RelationColumn(name, type_oid, typmod, in_identity=False) for name, type_oid, typmod in columns),
        )
        shape = TableShape(relation, self._catalog, self._settings)
        origin = source(
            prefix=self._settings.prefix,
            database=self._database.name,
            schema=part.schema,
            table=part.table,
            micros=micros,
            lsn=lsn,
            tx_id=None,
            snapshot="true",
        )
        names = sql.SQL(", ").join(sql.Identifier(name) for name, _, _ in columns)
        bounds = f"ctid >= '({part.first},0)'"
        if part.end is not None:
            bounds += f" AND ctid < '({part.end},0)'"
        statement = sql.SQL("COPY (SELECT {} FROM ONLY {} WHERE {}) TO STDOUT").format(
            names,
            sql.SQL(part.stored_as),  # regclass has quoted it
            sql.SQL(bounds),  # made of numbers
        )
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for texts in copy.rows():
                found = list(texts)
                value = envelope(shape.envelope, None, shape.value(found), origin, "r")
                yield SourceRecord(
                    shape.topic,
                    None,
                    shape.key_schema,
                    shape.key(found),
                    shape.envelope,
                    value,
                    None,
                    source_partition=self._settings.partition,
                )


def _begin(connection: psycopg.Connection[tuple[Any, ...]], view: str) -> None:
    """Begin a transaction that sees a view, or if that is gone what is there now."""
    from psycopg import errors, sql

    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    try:
        connection.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(view)))
    except (errors.InvalidParameterValue, errors.UndefinedObject):
        connection.execute("ROLLBACK")
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")


def _marked(record: SourceRecord, mark: str) -> SourceRecord:
    """A row of a snapshot that says that it is the first or the last one."""
    if mark != "true":
        origin = record.value["source"]
        values = list(origin.values)
        values[origin.schema.field("snapshot").index] = mark
        place = record.value.schema.field("source").index
        record.value.values[place] = type(origin).of(origin.schema, values)
    return record
