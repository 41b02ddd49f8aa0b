"""The settings of the JDBC source."""

from __future__ import annotations

import re
from typing import Any

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.java_regex import compile_java
from penstock.connect.config.validators import Check, NoControlCharacters, OneOf, Range
from penstock.connect.connectors.jdbc.connection_keys import CONNECTION_KEYS
from penstock.connect.errors import invalid_value

MODE = "mode"
INCREMENTING_COLUMN = "incrementing.column.name"
INCREMENTING_MAPPING = "incrementing.column.mapping"
INCREMENTING_INITIAL = "incrementing.initial"
TIMESTAMP_COLUMNS = "timestamp.column.name"
TIMESTAMP_MAPPING = "timestamp.columns.mapping"
TIMESTAMP_INITIAL = "timestamp.initial"
TIMESTAMP_DELAY_MS = "timestamp.delay.interval.ms"
TIMESTAMP_GRANULARITY = "timestamp.granularity"
OPEN_TRANSACTIONS_WAIT_MS = "open.transactions.wait.ms"
WHITELIST = "table.whitelist"
BLACKLIST = "table.blacklist"
INCLUDE = "table.include.list"
EXCLUDE = "table.exclude.list"
CATALOG_PATTERN = "catalog.pattern"
SCHEMA_PATTERN = "schema.pattern"
TABLE_TYPES = "table.types"
QUERY = "query"
QUERY_MASKED = "query.masked"
QUERY_SUFFIX = "query.suffix"
QUERY_TIMEOUT_MS = "query.timeout.ms"
QUERY_RETRIES = "query.retry.attempts"
TOPIC_PREFIX = "topic.prefix"
POLL_INTERVAL_MS = "poll.interval.ms"
BATCH_MAX_ROWS = "batch.max.rows"
TABLE_POLL_INTERVAL_MS = "table.poll.interval.ms"
STARTUP_POLLING_LIMIT_MS = "table.monitoring.startup.polling.limit.ms"
NUMERIC_PRECISION_MAPPING = "numeric.precision.mapping"
NUMERIC_MAPPING = "numeric.mapping"
VALIDATE_NON_NULL = "validate.non.null"
ISOLATION = "transaction.isolation.mode"

BULK, INCREMENTING, TIMESTAMP, BOTH = "bulk", "incrementing", "timestamp", "timestamp+incrementing"
MODES = (BULK, TIMESTAMP, INCREMENTING, BOTH)
CONNECT_LOGICAL = "connect_logical"
GRANULARITIES = (
    CONNECT_LOGICAL,
    *(f"{unit}_{form}" for unit in ("micros", "nanos") for form in ("long", "string", "iso_datetime_string")),
)
NONE, PRECISION_ONLY, BEST_FIT, EAGER_DOUBLE = "none", "precision_only", "best_fit", "best_fit_eager_double"
_MAPPINGS = OneOf(NONE, PRECISION_ONLY, BEST_FIT, EAGER_DOUBLE, ignore_case=True)
ISOLATIONS = ("DEFAULT", "READ_UNCOMMITTED", "READ_COMMITTED", "REPEATABLE_READ", "SERIALIZABLE")


def _regexes(key: str, value: Any) -> None:
    for one in value:
        try:
            compile_java(one)
        except re.error as error:
            raise invalid_value(key, value, f"Invalid regex {one}: {error}") from None


def _mapping(key: str, value: Any) -> None:
    mapping_of(key, value)
    _regexes(key, [one.rpartition(":")[0] for one in value])


def mapping_of(key: str, value: list[str]) -> list[tuple[str, list[str]]]:
    """Pairs of a regular expression of tables and columns, from `regex:[column|column]` or `regex:column`.

    >>> mapping_of("timestamp.columns.mapping", [r".*orders:[changed|created]"])
    [('.*orders', ['changed', 'created'])]
    """
    found = []
    for one in value:
        table, _, columns = one.rpartition(":")
        names = [name.strip() for name in columns.strip().removeprefix("[").removesuffix("]").split("|")]
        if not table or not all(names):
            raise invalid_value(key, value, f"{one!r} is not of the form regex:[column|column]")
        found.append((table, names))
    return found


_MODE_KEYS = (
    ConfigKey(
        name=MODE,
        validator=OneOf(*MODES),
        importance=Importance.HIGH,
        group="Mode",
        doc="How new rows are found. bulk: all rows at each poll; incrementing: rows with a larger number in a column; "
        "timestamp: rows with a later time; timestamp+incrementing: by both, which finds changed rows and keeps rows of the "
        "same time apart.",
    ),
    ConfigKey(
        name=INCREMENTING_COLUMN,
        default="",
        group="Mode",
        doc="The column whose numbers grow with each new row. Empty: the table's own auto-increment or identity column.",
    ),
    ConfigKey(
        name=INCREMENTING_MAPPING,
        type=ConfigType.LIST,
        default=[],
        validator=Check(_mapping, "regex:column, ..."),
        group="Mode",
        doc="That column for tables by their full names, the first match counts.",
    ),
    ConfigKey(
        name=INCREMENTING_INITIAL,
        type=ConfigType.LONG,
        default=-1,
        group="Mode",
        doc="Rows with larger numbers are read where there is no offset yet. Lower it if a column has negative numbers.",
    ),
    ConfigKey(
        name=TIMESTAMP_COLUMNS,
        type=ConfigType.LIST,
        default=[],
        group="Mode",
        doc="The columns that tell when a row was changed; of several the first that is not null.",
    ),
    ConfigKey(
        name=TIMESTAMP_MAPPING,
        type=ConfigType.LIST,
        default=[],
        validator=Check(_mapping, "regex:[column|column], ..."),
        group="Mode",
        doc="Those columns for tables by their full names, the first match counts.",
    ),
    ConfigKey(
        name=TIMESTAMP_INITIAL,
        type=ConfigType.LONG,
        default=None,
        group="Mode",
        doc="Rows with later times are read where there is no offset yet: milliseconds since 1970; -1 is the database's time "
        "at the first poll. Not set: since 1970.",
    ),
    ConfigKey(
        name=TIMESTAMP_DELAY_MS,
        type=ConfigType.LONG,
        default=0,
        validator=Range(at_least=0),
        importance=Importance.HIGH,
        group="Mode",
        doc="How old a row must be to be read. Set it where other clocks than the database's set the time column.",
    ),
    ConfigKey(
        name=OPEN_TRANSACTIONS_WAIT_MS,
        type=ConfigType.LONG,
        default=30_000,
        validator=Range(at_least=0),
        group="Mode",
        doc="How long to wait for transactions that may still commit rows below those already seen (PostgreSQL, MySQL and "
        "MariaDB); 0 reads on at once, as Kafka's connector does, and loses such rows.",
    ),
)
_TABLE_KEYS = (
    ConfigKey(
        name=WHITELIST,
        type=ConfigType.LIST,
        default=[],
        group="Tables",
        doc="The tables to read, by name, with or without schema. Not together with another list.",
    ),
    ConfigKey(
        name=BLACKLIST,
        type=ConfigType.LIST,
        default=[],
        group="Tables",
        doc="The tables not to read. Not together with another list.",
    ),
    ConfigKey(
        name=INCLUDE,
        type=ConfigType.LIST,
        default=[],
        validator=Check(_regexes, "regular expressions"),
        group="Tables",
        doc="Regular expressions of the full names of tables to read.",
    ),
    ConfigKey(
        name=EXCLUDE,
        type=ConfigType.LIST,
        default=[],
        validator=Check(_regexes, "regular expressions"),
        group="Tables",
        doc="Regular expressions of the full names of tables not to read, of those table.include.list has.",
    ),
    ConfigKey(
        name=CATALOG_PATTERN,
        default=None,
        group="Tables",
        doc="The catalogs to look for tables in: a name, % and _ as in LIKE. MySQL's databases are catalogs; not set is the one "
        "of the URL.",
    ),
    ConfigKey(
        name=SCHEMA_PATTERN,
        default=None,
        importance=Importance.HIGH,
        group="Tables",
        doc="The schemas to look for tables in: a name, % and _ as in LIKE. Not set: all but the system's.",
    ),
    ConfigKey(
        name=TABLE_TYPES,
        type=ConfigType.LIST,
        default=["TABLE"],
        importance=Importance.LOW,
        group="Tables",
        doc="Which kinds of tables: TABLE, VIEW, and in PostgreSQL PARTITIONED TABLE, MATERIALIZED VIEW, FOREIGN TABLE.",
    ),
    ConfigKey(
        name=TABLE_POLL_INTERVAL_MS,
        type=ConfigType.LONG,
        default=60_000,
        validator=Range(at_least=1),
        importance=Importance.LOW,
        group="Tables",
        doc="How often to look for new and dropped tables.",
    ),
    ConfigKey(
        name=STARTUP_POLLING_LIMIT_MS,
        type=ConfigType.LONG,
        default=10_000,
        importance=Importance.LOW,
        group="Tables",
        doc="How long Kafka's connector waits for the tables when it starts. Here it looks once, and again after "
        "table.poll.interval.ms.",
    ),
)
_QUERY_KEYS = (
    ConfigKey(
        name=QUERY,
        default="",
        group="Query",
        doc="A query to read instead of tables. Modes other than bulk wrap it, so that it may have a WHERE of its own.",
    ),
    ConfigKey(
        name=QUERY_MASKED,
        type=ConfigType.PASSWORD,
        default=None,
        group="Query",
        doc="The same for a query nobody should see.",
    ),
    ConfigKey(
        name=QUERY_SUFFIX,
        default="",
        importance=Importance.LOW,
        group="Query",
        doc="Text for the end of each statement, such as a locking clause.",
    ),
    ConfigKey(
        name=QUERY_TIMEOUT_MS,
        type=ConfigType.LONG,
        default=0,
        validator=Range(at_least=0),
        importance=Importance.LOW,
        group="Query",
        doc="How long a statement may take before the database ends it (PostgreSQL, MySQL, MariaDB); it is then tried again. "
        "0 is no limit.",
    ),
    ConfigKey(
        name=QUERY_RETRIES,
        type=ConfigType.INT,
        default=-1,
        importance=Importance.LOW,
        group="Query",
        doc="How often in a row statements may fail with an error that can pass, a deadlock for instance, before the task "
        "fails; -1 is without end. Lost connections do not count.",
    ),
)
_RECORD_KEYS = (
    ConfigKey(
        name=TOPIC_PREFIX,
        validator=NoControlCharacters(),
        importance=Importance.HIGH,
        group="Records",
        doc="The topic is this and the table's name; with a query this alone.",
    ),
    ConfigKey(
        name=POLL_INTERVAL_MS,
        type=ConfigType.INT,
        default=5000,
        validator=Range(at_least=0),
        importance=Importance.HIGH,
        group="Records",
        doc="How long to wait before a table without further rows is asked again.",
    ),
    ConfigKey(
        name=BATCH_MAX_ROWS,
        type=ConfigType.INT,
        default=1000,
        validator=Range(at_least=1),
        importance=Importance.LOW,
        group="Records",
        doc="How many rows are fetched at once. A batch of the worker has up to 50 times as many of each table.",
    ),
    ConfigKey(
        name=NUMERIC_PRECISION_MAPPING,
        type=ConfigType.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        group="Records",
        doc="Old name of numeric.mapping=precision_only.",
    ),
    ConfigKey(
        name=NUMERIC_MAPPING,
        default=None,
        validator=Check(lambda key, value: None if value is None else _MAPPINGS(key, value), str(_MAPPINGS)),
        importance=Importance.LOW,
        group="Records",
        doc="What NUMERIC and DECIMAL become. none: Decimal; precision_only: integers if the scale is 0; best_fit: integers, or "
        "float64 with a scale, up to 18 digits; best_fit_eager_double: integers, or float64 whatever the digits with a scale.",
    ),
    ConfigKey(
        name=TIMESTAMP_GRANULARITY,
        default=CONNECT_LOGICAL,
        validator=OneOf(*GRANULARITIES, ignore_case=True),
        importance=Importance.LOW,
        group="Records",
        doc="What timestamps become: Connect's own of milliseconds, or micro- or nanoseconds as numbers, as texts of them, "
        "or as ISO texts.",
    ),
    ConfigKey(
        name=VALIDATE_NON_NULL,
        type=ConfigType.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        group="Mode",
        doc="Whether to fail at the start if the incrementing column, or every time column, may be null: such rows are not found.",
    ),
    ConfigKey(
        name=ISOLATION,
        default="DEFAULT",
        validator=OneOf(*ISOLATIONS, ignore_case=True),
        importance=Importance.LOW,
        group="Database",
        doc="The isolation of the transactions that read.",
    ),
)
CONFIG = ConfigDef(*CONNECTION_KEYS, *_MODE_KEYS, *_TABLE_KEYS, *_QUERY_KEYS, *_RECORD_KEYS)


def numeric_mapping(settings: dict[str, Any]) -> str:
    """The mapping, by its new or its old setting."""
    found = settings[NUMERIC_MAPPING]
    if found is None:
        return PRECISION_ONLY if settings[NUMERIC_PRECISION_MAPPING] else NONE
    return str(found).lower()
