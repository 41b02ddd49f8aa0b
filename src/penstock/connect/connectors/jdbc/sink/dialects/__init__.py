"""Kinds of databases, by SQLAlchemy's names."""

from penstock.connect.connectors.jdbc.connection import Database
from penstock.connect.connectors.jdbc.sink.dialects.dialect import MARK, Dialect, Rows
from penstock.connect.connectors.jdbc.sink.dialects.merge import MergeDialect
from penstock.connect.connectors.jdbc.sink.dialects.mysql import MySqlDialect
from penstock.connect.connectors.jdbc.sink.dialects.postgresql import PostgresDialect
from penstock.connect.connectors.jdbc.sink.dialects.sqlite import SqliteDialect
from penstock.connect.connectors.jdbc.sink.settings import SinkSettings

DIALECTS: dict[str, type[Dialect]] = {
    "postgresql": PostgresDialect,
    "cockroachdb": PostgresDialect,
    "mysql": MySqlDialect,
    "mariadb": MySqlDialect,
    "sqlite": SqliteDialect,
    "oracle": MergeDialect,
    "mssql": MergeDialect,
    "db2": MergeDialect,
    "ibm_db_sa": MergeDialect,
    "hana": MergeDialect,
    "sybase": MergeDialect,
}


def dialect_of(database: Database, settings: SinkSettings) -> Dialect:
    """What a database speaks."""
    return DIALECTS.get(database.backend, Dialect)(database, settings)


__all__ = ["DIALECTS", "MARK", "Dialect", "Rows", "dialect_of"]
