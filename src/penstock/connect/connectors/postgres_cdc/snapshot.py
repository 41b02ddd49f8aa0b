"""The rows that are there: read in parts, all as of one place in the log.

The driver holds a transaction open that sees the tables as they were at that place, and lends its view to the tasks that read.
A place that belongs to a view is what a new slot gives, and only that: so a temporary one is made and dropped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.connect.connectors.postgres_cdc.connections import Database
from penstock.connect.connectors.postgres_cdc.lsn import lsn_number
from penstock.connect.connectors.postgres_cdc.replication import ReplicationConnection
from penstock.connect.connectors.postgres_cdc.source_settings import SourceSettings
from penstock.connect.errors import ConnectError

# A range of more parts would be a large offset.
_MOST_PARTS = 100
# Tables with partitions have no rows of their own.
_TABLES = """
    SELECT p.schemaname, p.tablename, s.oid::regclass::text, s.oid::bigint, pg_relation_filenode(s.oid)::bigint,
           pg_relation_size(s.oid) / current_setting('block_size')::bigint, greatest(s.reltuples, 0), greatest(s.relpages, 1)
    FROM pg_publication_tables p
    JOIN pg_namespace n ON n.nspname = p.schemaname
    JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = p.tablename
    JOIN LATERAL (SELECT relid FROM pg_partition_tree(c.oid) WHERE isleaf UNION SELECT c.oid) t ON true
    JOIN pg_class s ON s.oid = t.relid AND s.relkind = 'r'
    WHERE p.pubname = %s
"""


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table with rows: a table that is read, or a partition of one.

    Attributes:
        schema: Schema of the table that is read.
        table: Name of it.
        stored_as: Name of the table that has the rows, as SQL writes it.
        oid: Number of that.
        filenode: The file its rows are in: another one after the table was rewritten.
        blocks: How many blocks it has.
        rows_per_block: About how many rows are in one.
    """

    schema: str
    table: str
    stored_as: str
    oid: int
    filenode: int
    blocks: int
    rows_per_block: float

    @property
    def order(self) -> tuple[str, str, str]:
        """Tables are read in this order."""
        return self.schema, self.table, self.stored_as


@dataclass(frozen=True, slots=True)
class Part:
    """Some blocks of a table.

    Attributes:
        schema: Schema of the table that is read.
        table: Name of it.
        stored_as: Name of the table that has the rows, as SQL writes it.
        oid: Number of that.
        filenode: The file its rows are in.
        first: The first block.
        end: The block behind the last one; None is the end of the table.
    """

    schema: str
    table: str
    stored_as: str
    oid: int
    filenode: int
    first: int
    end: int | None

    @property
    def order(self) -> tuple[str, str, str]:
        """Tables are read in this order."""
        return self.schema, self.table, self.stored_as

    def to_list(self) -> list[Any]:
        """In the form offsets have it."""
        return [self.schema, self.table, self.stored_as, self.oid, self.filenode, self.first, self.end]


class Snapshot:
    """A view of the tables, on the driver.

    Args:
        database: Where.
        settings: The connector's.

    Attributes:
        lsn: The view has what was committed before this place in the log.
        name: What other connections call the view by.
        tables: The tables, in the order in which they are read.

    Raises:
        RetriableError: The server does not answer, or somebody has a table locked.
        ConnectError: It refuses.
    """

    def __init__(self, database: Database, settings: SourceSettings) -> None:
        self._database = database
        self._connection = database.sql()
        try:
            self._open(settings)
        except BaseException:
            self._connection.close()
            raise

    def _open(self, settings: SourceSettings) -> None:
        from psycopg import sql

        connection = self._connection
        exporter = ReplicationConnection(self._database)
        try:
            slot = f"{settings.slot[:40]}_view_{connection.info.backend_pid}"
            _, lsn, view, _ = exporter.command(
                f"CREATE_REPLICATION_SLOT {slot} TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT", "taking a snapshot"
            )
            self.lsn = lsn_number(lsn)
            with self._database.errors("taking a snapshot"):
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                connection.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(view)))
                self.tables = self._find_tables(settings)
                # Nobody may rewrite or drop the tables meanwhile; readers and writers are not disturbed.
                connection.execute("SET LOCAL lock_timeout = '10s'")
                for stored in self.tables:
                    connection.execute(f"LOCK TABLE ONLY {stored.stored_as} IN ACCESS SHARE MODE")
                self.tables = self._find_tables(settings)
                (self.name,) = connection.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
        finally:
            exporter.close()

    def _find_tables(self, settings: SourceSettings) -> list[StoredTable]:
        rows = self._connection.execute(_TABLES, (settings.publication,)).fetchall()
        found = [
            StoredTable(schema, table, stored_as, oid, filenode, blocks, tuples / pages)
            for schema, table, stored_as, oid, filenode, blocks, tuples, pages in rows
            if settings.tables.has_table(schema, table)
        ]
        return sorted(found, key=lambda stored: stored.order)

    def parts(self, done: Part | None, rows: int) -> tuple[list[Part], bool]:
        """The next parts, about that many rows together, and whether they are the last ones.

        Args:
            done: The last part that was read; None at the beginning.
            rows: How many rows.
        """
        found: list[Part] = []
        left = float(rows)
        for stored in self.tables:
            first = _first_block(stored, done)
            while first is not None:
                if left <= 0 or len(found) == _MOST_PARTS:
                    return found, False
                # Of a table nobody has analyzed, little is known: blocks of small rows hold about a hundred.
                per_block = stored.rows_per_block or 100.0
                count = max(1, math.ceil(left / per_block))
                end = first + count if first + count < stored.blocks else None
                found.append(
                    Part(stored.schema, stored.table, stored.stored_as, stored.oid, stored.filenode, first, end)
                )
                left -= (count if end is not None else stored.blocks - first) * per_block
                first = end
        return found, True

    def alive(self) -> bool:
        """Whether the view is still there."""
        try:
            with self._database.errors():
                self._connection.execute("SELECT 1")
        except ConnectError:
            self._connection.close()
            return False
        return True

    def close(self) -> None:
        """Let go of the view and of the tables."""
        self._connection.close()


def _first_block(stored: StoredTable, done: Part | None) -> int | None:
    """Where to go on in a table; None if it is done."""
    if done is None or stored.order > done.order:
        return 0
    if stored.order < done.order:
        return None
    # A table that was rewritten since has its rows elsewhere: it is read anew.
    return done.end if stored.filenode == done.filenode else 0


def part_of(given: Sequence[Any]) -> Part:
    """A part from the form offsets have it in."""
    return Part(*given)


def read_at(known: Mapping[str, int], base: int, lsn: int, done: Part | None, parts: Sequence[Part]) -> dict[str, int]:
    """Tables that were read as of another place than the first ones, because the connector was started anew in between.

    Args:
        known: Those known so far.
        base: Where the changes begin.
        lsn: The place of the view that is read now.
        done: The last part that was read before.
        parts: The parts that are read now.
    """
    if lsn == base:
        return dict(known)
    begun = None if done is None else (done.schema, done.table)
    fresh = {f"{p.schema}.{p.table}": lsn for p in parts if (p.schema, p.table) != begun}
    return {**fresh, **known}
