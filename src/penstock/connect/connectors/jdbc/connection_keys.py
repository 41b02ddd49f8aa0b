"""The settings of a database connection, shared by source and sink."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from penstock.connect.config import ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import Check, NonEmpty, OneOf, Range
from penstock.connect.errors import invalid_value

CONNECTION_URL = "connection.url"
CONNECTION_USER = "connection.user"
CONNECTION_PASSWORD = "connection.password"  # noqa: S105 - the name of a setting
CONNECTION_ATTEMPTS = "connection.attempts"
CONNECTION_BACKOFF_MS = "connection.backoff.ms"
DIALECT_NAME = "dialect.name"
QUOTE_IDENTIFIERS = "quote.sql.identifiers"
DB_TIMEZONE = "db.timezone"

DIALECTS = {
    "PostgreSqlDatabaseDialect": "postgresql",
    "MySqlDatabaseDialect": "mysql",
    "MariaDbDatabaseDialect": "mysql",
    "SqliteDatabaseDialect": "sqlite",
}
"""Kafka's names of dialects, and SQLAlchemy's."""
GENERIC_DIALECT = "GenericDatabaseDialect"


def _zone(key: str, value: Any) -> None:
    try:
        ZoneInfo(value)
    except (KeyError, OSError, ValueError):
        hint = "Give a name of the time zone database, such as UTC or Europe/Berlin."
        raise invalid_value(key, value, "Not a known time zone", hint=hint) from None


CONNECTION_KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        name=CONNECTION_URL,
        validator=NonEmpty(),
        importance=Importance.HIGH,
        group="Database",
        doc="The database: jdbc:postgresql://host:port/db, jdbc:mysql://host:port/db, jdbc:mariadb://host:port/db, "
        "jdbc:sqlite:/path, or a URL of SQLAlchemy for any other database it has a driver for.",
    ),
    ConfigKey(
        name=CONNECTION_USER,
        default=None,
        importance=Importance.HIGH,
        group="Database",
        doc="The user to connect as; it goes before one in the URL.",
    ),
    ConfigKey(
        name=CONNECTION_PASSWORD,
        type=ConfigType.PASSWORD,
        default=None,
        importance=Importance.HIGH,
        group="Database",
        doc="That user's password.",
    ),
    ConfigKey(
        name=CONNECTION_ATTEMPTS,
        type=ConfigType.INT,
        default=3,
        validator=Range(at_least=1),
        importance=Importance.LOW,
        group="Database",
        doc="How often the connector tries to connect when it starts. A task that runs waits for its database as long as it takes.",
    ),
    ConfigKey(
        name=CONNECTION_BACKOFF_MS,
        type=ConfigType.LONG,
        default=10_000,
        validator=Range(at_least=0),
        importance=Importance.LOW,
        group="Database",
        doc="How long to wait between those attempts, in milliseconds.",
    ),
    ConfigKey(
        name=DIALECT_NAME,
        default="",
        validator=OneOf("", *DIALECTS, GENERIC_DIALECT),
        importance=Importance.LOW,
        group="Database",
        doc="The kind of database. The URL says it; another one here is an error.",
    ),
    ConfigKey(
        name=QUOTE_IDENTIFIERS,
        default="always",
        validator=OneOf("always", "never", ignore_case=True),
        importance=Importance.MEDIUM,
        group="Database",
        doc="Whether names of tables and columns are quoted in statements.",
    ),
    ConfigKey(
        name=DB_TIMEZONE,
        default="UTC",
        validator=Check(_zone, "a known time zone"),
        importance=Importance.MEDIUM,
        group="Database",
        doc="The time zone of dates and times in columns that do not carry one.",
    ),
)
