"""Databases a source knows the ways of."""

from penstock.connect.connectors.jdbc.source.dialects.dialect import SourceDialect, is_time

__all__ = ["SourceDialect", "is_time", "source_dialect"]


def source_dialect(backend: str) -> SourceDialect:
    """The dialect for SQLAlchemy's name of a kind of database."""
    if backend == "postgresql":
        from penstock.connect.connectors.jdbc.source.dialects.postgresql import PostgresqlSource

        return PostgresqlSource()
    if backend in {"mysql", "mariadb"}:
        from penstock.connect.connectors.jdbc.source.dialects.mysql import MysqlSource

        return MysqlSource()
    if backend == "sqlite":
        from penstock.connect.connectors.jdbc.source.dialects.sqlite import SqliteSource

        return SqliteSource()
    from penstock.connect.connectors.jdbc.source.dialects.generic import GenericSource

    return GenericSource()
