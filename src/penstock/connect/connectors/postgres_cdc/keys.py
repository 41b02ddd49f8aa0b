"""The settings of the PostgreSQL change source, under Debezium's names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.java_regex import compile_java
from penstock.connect.config.validators import Check, NonEmpty, OneOf, Range
from penstock.connect.errors import ConfigError, invalid_value

SNAPSHOT_MODES = ("initial", "always", "initial_only", "no_data", "when_needed")
_SLOT = re.compile(r"[a-z0-9_]{1,63}")
_TOPIC = re.compile(r"[A-Za-z0-9._-]+")
# Debezium's ways to hide values. Not to know them would send what was meant to be hidden.
_HIDING = ("column.mask.", "column.truncate.")
_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW


def _slot_name(key: str, value: Any) -> None:
    if not _SLOT.fullmatch(value):
        raise invalid_value(key, value, "A slot's name has lower-case letters, digits and underscores, at most 63")


def _topic_prefix(key: str, value: Any) -> None:
    if not _TOPIC.fullmatch(value):
        raise invalid_value(key, value, "It has letters, digits, dots, hyphens and underscores: topics begin with it")


def _patterns(key: str, value: Any) -> None:
    for pattern in value or ():
        try:
            compile_java(pattern)
        except re.error as error:
            raise invalid_value(key, value, f"Invalid regex {pattern}: {error}") from None


def _key_columns(key: str, value: Any) -> None:
    if value:
        parse_key_columns(value)


def _one_of(*allowed: str) -> OneOf:
    return OneOf(*allowed)


def _list(name: str, doc: str, importance: Importance = _MEDIUM) -> ConfigKey:
    return ConfigKey(
        name=name,
        type=ConfigType.LIST,
        default="",
        validator=Check(_patterns, "regexes"),
        importance=importance,
        doc=doc,
    )


def parse_key_columns(text: str) -> list[tuple[re.Pattern[str], tuple[str, ...]]]:
    """The tables and columns of message.key.columns.

    >>> parse_key_columns("inventory.customers:pk1,pk2;(.*).orders:number")[1][1]
    ('number',)

    Raises:
        ConfigError: It has another form.
    """
    found = []
    for part in filter(None, (entry.strip() for entry in text.split(";"))):
        table, colon, columns = part.rpartition(":")
        names = tuple(filter(None, (name.strip() for name in columns.split(","))))
        if not colon or not names:
            raise invalid_value("message.key.columns", text, "Expected schema.table:column,column;schema.table:column")
        try:
            found.append((compile_java(table.strip()), names))
        except re.error as error:
            raise invalid_value("message.key.columns", text, f"Invalid regex {table}: {error}") from None
    return found


CONNECTION = (
    ConfigKey(name="database.hostname", validator=NonEmpty(), importance=_HIGH, doc="Where the server is."),
    ConfigKey(
        name="database.port",
        type=ConfigType.INT,
        default=5432,
        validator=Range(1, 65535),
        importance=_HIGH,
        doc="The port it listens on.",
    ),
    ConfigKey(
        name="database.user",
        validator=NonEmpty(),
        importance=_HIGH,
        doc="A role with REPLICATION that may read the tables.",
    ),
    ConfigKey(
        name="database.password", type=ConfigType.PASSWORD, default=None, importance=_HIGH, doc="The role's password."
    ),
    ConfigKey(name="database.dbname", validator=NonEmpty(), importance=_HIGH, doc="The database."),
    ConfigKey(
        name="database.sslmode",
        default="prefer",
        validator=_one_of("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
        doc="Whether connections are encrypted, and how the server is checked.",
    ),
    ConfigKey(name="database.sslrootcert", default=None, doc="File with the certificates of trusted authorities."),
    ConfigKey(name="database.sslcert", default=None, doc="File with the client's certificate."),
    ConfigKey(name="database.sslkey", default=None, doc="File with the client's key."),
    ConfigKey(name="database.sslpassword", type=ConfigType.PASSWORD, default=None, doc="Password of the client's key."),
)

STREAMING = (
    ConfigKey(
        name="topic.prefix",
        validator=Check(_topic_prefix, "letters, digits, dots, hyphens, underscores"),
        importance=_HIGH,
        doc="Topics are named prefix.schema.table. Another prefix is another source: offsets are kept under it.",
    ),
    ConfigKey(
        name="plugin.name",
        default="pgoutput",
        validator=_one_of("pgoutput"),
        doc="The server's output plugin; pgoutput comes with PostgreSQL.",
    ),
    ConfigKey(
        name="slot.name",
        default="debezium",
        validator=Check(_slot_name, "[a-z0-9_]{1,63}"),
        doc="The replication slot, made if it is missing. Each connector needs one of its own.",
    ),
    ConfigKey(
        name="slot.drop.on.stop",
        type=ConfigType.BOOLEAN,
        default=False,
        doc="Drop the slot when the connector stops, and lose what changes until its next start. For trials.",
    ),
    ConfigKey(name="publication.name", default="dbz_publication", validator=NonEmpty(), doc="The publication to read."),
    ConfigKey(
        name="publication.autocreate.mode",
        default="all_tables",
        validator=_one_of("all_tables", "filtered", "disabled", "no_tables"),
        doc="What is published if there is no such publication: all tables (takes a superuser), those of the lists below"
        " (and kept up to date with them), nothing; disabled means that somebody else makes it.",
    ),
    ConfigKey(
        name="publish.via.partition.root",
        type=ConfigType.BOOLEAN,
        default=False,
        doc="Whether a publication the connector makes has changes of partitions under the name of their table.",
    ),
    _list("schema.include.list", "Schemas to read; regexes for whole names. All but PostgreSQL's own if not set."),
    _list("schema.exclude.list", "Schemas to leave out. Not together with schema.include.list."),
    _list("table.include.list", "Tables to read, as schema.table; regexes for whole names.", _HIGH),
    _list("table.exclude.list", "Tables to leave out. Not together with table.include.list."),
    _list("column.include.list", "Columns to send, as schema.table.column; regexes. Keys are always sent."),
    _list("column.exclude.list", "Columns to leave out. Not together with column.include.list."),
    ConfigKey(
        name="message.key.columns",
        default=None,
        validator=Check(_key_columns, "schema.table:column,..;.."),
        doc="Columns that make the key of tables whose primary key is another, or that have none.",
    ),
)

SNAPSHOTS = (
    ConfigKey(
        name="snapshot.mode",
        default="initial",
        validator=_one_of(*SNAPSHOT_MODES),
        importance=_HIGH,
        doc="When the rows that are there are read: at the first start (initial), at each start (always), at the first"
        " start and nothing after that (initial_only), never (no_data), at the first start and whenever the slot no longer"
        " has what is needed (when_needed).",
    ),
    ConfigKey(
        name="snapshot.fetch.size",
        type=ConfigType.INT,
        default=20_000,
        validator=Range(at_least=1),
        doc="About how many rows of a snapshot are read in one batch.",
    ),
    ConfigKey(
        name="max.batch.size",
        type=ConfigType.INT,
        default=20_000,
        validator=Range(at_least=1),
        doc="The most changes in one batch. A larger transaction is divided.",
    ),
)

VALUES = (
    ConfigKey(
        name="decimal.handling.mode",
        default="precise",
        validator=_one_of("precise", "double", "string"),
        doc="How numeric and money are sent: as Connect's decimals, as doubles, as text.",
    ),
    ConfigKey(
        name="time.precision.mode",
        default="adaptive",
        validator=_one_of("adaptive", "adaptive_time_microseconds", "connect"),
        doc="How dates and times are sent: as numbers with a unit that fits the column, times always in microseconds,"
        " or as Connect's types, which have milliseconds.",
    ),
    ConfigKey(
        name="interval.handling.mode",
        default="numeric",
        validator=_one_of("numeric", "string"),
        doc="How intervals are sent: microseconds with months of 30.4375 days, or ISO's text.",
    ),
    ConfigKey(
        name="binary.handling.mode",
        default="bytes",
        validator=_one_of("bytes", "base64", "base64-url-safe", "hex"),
        doc="How bytea is sent.",
    ),
    ConfigKey(name="hstore.handling.mode", default="json", validator=_one_of("json", "map"), doc="How hstore is sent."),
    ConfigKey(
        name="tombstones.on.delete",
        type=ConfigType.BOOLEAN,
        default=True,
        doc="Follow each delete by a record without value, so that compaction removes the key.",
    ),
    ConfigKey(
        name="skipped.operations",
        type=ConfigType.LIST,
        default="t",
        doc="Changes that are not sent: c (inserts), u (updates), d (deletes), t (truncates), none.",
    ),
    ConfigKey(
        name="unavailable.value.placeholder",
        default="__debezium_unavailable_value",
        doc="What stands for a large value that an update did not change: PostgreSQL does not send it.",
    ),
    ConfigKey(
        name="heartbeat.interval.ms",
        type=ConfigType.LONG,
        default=0,
        validator=Range(at_least=0),
        doc="How often a record is sent to the heartbeat topic; 0 is never. Not needed to let the server's log be"
        " recycled: offsets move on while nothing happens to the tables.",
    ),
    ConfigKey(
        name="topic.heartbeat.prefix",
        default="__debezium-heartbeat",
        validator=NonEmpty(),
        importance=_LOW,
        doc="The heartbeat topic is this, a dot and topic.prefix.",
    ),
    ConfigKey(
        name="poll.interval.ms",
        type=ConfigType.LONG,
        default=500,
        validator=Range(at_least=1),
        importance=_LOW,
        doc="How long the connector waits for changes before it looks after other things. It wakes with the first change.",
    ),
)

CONFIG = ConfigDef(*CONNECTION, *STREAMING, *SNAPSHOTS, *VALUES)


def check_hiding(config: Mapping[str, str]) -> None:
    """Refuse settings that would hide values.

    Raises:
        ConfigError: There is one.
    """
    for key in config:
        if key.startswith(_HIDING):
            raise ConfigError(
                f"Values are neither masked nor truncated here: {key}",
                key=key,
                hint="column.exclude.list leaves columns out.",
            )


def check_together(settings: Mapping[str, Any]) -> None:
    """What is wrong with settings that depend on each other.

    Raises:
        ConfigError: Two of them exclude each other, or an operation is not known.
    """
    for kind in ("schema", "table", "column"):
        include, exclude = f"{kind}.include.list", f"{kind}.exclude.list"
        if settings[include] and settings[exclude]:
            raise ConfigError(f"{include} and {exclude} cannot be set together", key=include, hint="Set one of them.")
    operations = settings["skipped.operations"]
    unknown = [name for name in operations if name not in {"c", "u", "d", "t", "none"}]
    if unknown or ("none" in operations and len(operations) > 1):
        raise invalid_value("skipped.operations", operations, "Expected some of c, u, d, t, or none")
