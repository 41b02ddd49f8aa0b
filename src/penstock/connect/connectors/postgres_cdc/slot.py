"""The replication slot and the publication: made where they are missing, refused where they do not fit."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.connect.connectors.postgres_cdc.connections import Database
from penstock.connect.connectors.postgres_cdc.lsn import lsn_number
from penstock.connect.connectors.postgres_cdc.source_settings import SourceSettings
from penstock.connect.errors import ConfigError, ConnectError, RetriableError

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger("penstock.connect")

_PATIENCE_SECONDS = 5.0
_DROP = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s"
_SLOT = "SELECT plugin, database, confirmed_flush_lsn::text, wal_status FROM pg_replication_slots WHERE slot_name = %s"
_PUBLISHED = "SELECT schemaname, tablename FROM pg_publication_tables WHERE pubname = %s ORDER BY 1, 2"
_PUBLICATION = "SELECT puballtables FROM pg_publication WHERE pubname = %s"
_FILTERED = """
    SELECT r.prrelid::regclass::text FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
    WHERE p.pubname = %s AND (r.prqual IS NOT NULL OR r.prattrs IS NOT NULL) LIMIT 1
"""
_ORDINARY = """
    SELECT n.nspname, c.relname, c.relkind = 'p' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AND NOT c.relispartition ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot.

    Attributes:
        confirmed: What was committed before this place of the log is not sent again.
        lost: Whether the server has thrown away what the slot needs.
    """

    confirmed: int
    lost: bool


def find_slot(connection: psycopg.Connection[Any], database: Database, name: str) -> Slot | None:
    """The slot of that name; None if there is none.

    Raises:
        ConfigError: It belongs to another database or plugin.
    """
    with database.errors(f"looking for the slot {name}"):
        row = connection.execute(_SLOT, (name,)).fetchone()
    if row is None:
        return None
    plugin, where, confirmed, status = row
    if plugin != "pgoutput" or where != database.name:
        raise ConfigError(
            f"The replication slot {name} is there already, for {plugin or 'physical replication'}"
            f" and the database {where}",
            key="slot.name",
            hint="Set slot.name to a name of its own.",
        )
    return Slot(lsn_number(confirmed) if confirmed else 0, status == "lost" or confirmed is None)


def create_slot(connection: psycopg.Connection[Any], database: Database, name: str) -> Slot:
    """A new slot. The server waits for the transactions that run now to end."""
    with database.errors(f"creating the slot {name}"):
        row = connection.execute("SELECT lsn::text FROM pg_create_logical_replication_slot(%s, 'pgoutput')", (name,))
        (lsn,) = row.fetchone() or ("0/0",)
    log.info("The replication slot %s was created at %s", name, lsn)
    return Slot(lsn_number(lsn), lost=False)


def drop_slot(connection: psycopg.Connection[Any], database: Database, name: str) -> None:
    """Drop a slot, if it is there. The server may take a moment to notice that nobody streams it any more."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            with database.errors(f"dropping the slot {name}"):
                connection.execute(_DROP, (name,))
                return
        except RetriableError:
            if connection.closed or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def ensure_publication(connection: psycopg.Connection[Any], database: Database, settings: SourceSettings) -> None:
    """Makes the publication if it is missing, as publication.autocreate.mode says.

    Raises:
        ConnectError: It is missing and nobody is to make it.
    """
    from psycopg import sql

    name, mode = settings.publication, settings.parsed["publication.autocreate.mode"]
    _refuse_filters(connection, database, settings)
    with database.errors(f"looking for the publication {name}"):
        row = connection.execute(_PUBLICATION, (name,)).fetchone()
    if mode == "disabled":
        if row is None:
            raise ConnectError(
                f"There is no publication {name} in the database {database.name}",
                hint="CREATE PUBLICATION, or set publication.autocreate.mode=filtered.",
            )
        return
    wanted = _wanted(connection, database, settings) if mode == "filtered" else []
    tables = sql.SQL(", ").join(sql.Identifier(*table) for table in wanted)
    identifier = sql.Identifier(name)
    with database.errors(f"creating the publication {name}"):
        if row is None:
            what = {"all_tables": sql.SQL(" FOR ALL TABLES"), "no_tables": sql.SQL("")}
            scope = what[mode] if mode in what else sql.SQL(" FOR TABLE ") + tables
            root = settings.parsed["publish.via.partition.root"]
            option = sql.SQL(" WITH (publish_via_partition_root = true)" if root else "")
            connection.execute(sql.SQL("CREATE PUBLICATION {}").format(identifier) + scope + option)
        elif mode == "filtered" and not row[0] and wanted != _published(connection, name):
            connection.execute(sql.SQL("ALTER PUBLICATION {} SET TABLE ").format(identifier) + tables)


def _wanted(connection: psycopg.Connection[Any], database: Database, settings: SourceSettings) -> list[tuple[str, str]]:
    with database.errors("looking for tables"):
        rows = connection.execute(_ORDINARY).fetchall()
    found = [(schema, table) for schema, table, _ in rows if schema not in {"pg_catalog", "information_schema"}]
    wanted = [table for table in found if settings.tables.has_table(*table)]
    divided = next(
        (f"{schema}.{table}" for schema, table, is_divided in rows if is_divided and (schema, table) in wanted), None
    )
    if divided is not None and not settings.parsed["publish.via.partition.root"]:
        raise ConfigError(
            f"The table {divided} has partitions, and changes would come under their names",
            key="publish.via.partition.root",
            hint="Set publish.via.partition.root=true, or make the publication yourself.",
        )
    if not wanted:
        raise ConfigError(
            f"The database {database.name} has no table that is to be read",
            key="table.include.list",
            hint="Names are written schema.table. Tables: "
            + (", ".join(".".join(table) for table in found)[:500] or "none"),
        )
    return wanted


def _published(connection: psycopg.Connection[Any], name: str) -> list[tuple[str, str]]:
    return [(schema, table) for schema, table in connection.execute(_PUBLISHED, (name,))]


def _refuse_filters(connection: psycopg.Connection[Any], database: Database, settings: SourceSettings) -> None:
    """A snapshot reads whole tables, so it would have rows and columns that a publication's own filters keep out."""
    if connection.info.server_version < 150_000 or settings.snapshot_mode == "no_data":
        return
    with database.errors("looking at the publication"):
        row = connection.execute(_FILTERED, (settings.publication,)).fetchone()
    if row is not None:
        raise ConfigError(
            f"The publication {settings.publication} has a row filter or a column list for {row[0]}",
            key="publication.name",
            hint="Use table.include.list and column.include.list instead, or snapshot.mode=no_data.",
        )
