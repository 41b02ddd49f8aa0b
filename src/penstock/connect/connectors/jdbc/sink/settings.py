"""The settings of the JDBC sink, and what they must have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import NonEmpty, NonEmptyList, OneOf, Range
from penstock.connect.connectors.jdbc.connection_keys import CONNECTION_ATTEMPTS, CONNECTION_KEYS
from penstock.connect.errors import ConfigError

TABLE_NAME_FORMAT = "table.name.format"
TABLE_TYPES = "table.types"
INSERT_MODE = "insert.mode"
PK_MODE = "pk.mode"
PK_FIELDS = "pk.fields"
FIELDS_WHITELIST = "fields.whitelist"
DELETE_ENABLED = "delete.enabled"
AUTO_CREATE = "auto.create"
AUTO_EVOLVE = "auto.evolve"
SCHEMA_INFER = "schema.infer"
BATCH_SIZE = "batch.size"
MAX_RETRIES = "max.retries"
RETRY_BACKOFF_MS = "retry.backoff.ms"
DATE_TIMEZONE = "date.timezone"
TIMESTAMP_FIELDS = "timestamp.fields.list"
TIMESTAMP_PRECISION = "timestamp.precision.mode"
REPLACE_NULL = "replace.null.with.default"
STRING_COLUMN = "string.output.value.column.name"

KAFKA_FIELDS = ("__connect_topic", "__connect_partition", "__connect_offset")


class InsertMode(Enum):
    """How a record becomes a row."""

    INSERT = "insert"
    UPSERT = "upsert"
    UPDATE = "update"


class PkMode(Enum):
    """Where the primary key of a row is from."""

    NONE = "none"
    KAFKA = "kafka"
    RECORD_KEY = "record_key"
    RECORD_VALUE = "record_value"


def _key(name: str, default: Any, doc: str, group: str, **more: Any) -> ConfigKey:
    return ConfigKey(name=name, default=default, doc=doc, group=group, **more)


_CONNECTION = [
    key
    if key.name != CONNECTION_ATTEMPTS
    else replace(
        key,
        doc=f"How often a task tries to connect when it starts. One that runs follows {MAX_RETRIES} and {RETRY_BACKOFF_MS}.",
    )
    for key in CONNECTION_KEYS
]
_WRITES, _MAPPING, _TABLES, _RETRIES = "Writes", "Data mapping", "Tables", "Retries"

CONFIG = ConfigDef(
    *_CONNECTION,
    _key(
        INSERT_MODE,
        InsertMode.INSERT.value,
        "insert: a new row for each record. upsert: a new row, or the row with that key is changed; writing a record again "
        "changes nothing. update: the row with that key is changed if there is one.",
        _WRITES,
        validator=OneOf(*(mode.value for mode in InsertMode), ignore_case=True),
        importance=Importance.HIGH,
    ),
    _key(
        BATCH_SIZE,
        3000,
        "The most records of one statement.",
        _WRITES,
        type=ConfigType.INT,
        validator=Range(at_least=1),
    ),
    _key(
        DELETE_ENABLED,
        False,
        f"Whether a record without value deletes the row with its key. Needs {PK_MODE}=record_key.",
        _WRITES,
        type=ConfigType.BOOLEAN,
    ),
    _key(
        TABLE_NAME_FORMAT,
        "${topic}",
        "The table of a topic, where ${topic} stands for the topic's name: shop.${topic}. Dots separate schema and table.",
        _MAPPING,
        validator=NonEmpty(),
    ),
    _key(
        TABLE_TYPES,
        "TABLE",
        "What may be written to.",
        _MAPPING,
        type=ConfigType.LIST,
        validator=NonEmptyList(),
        importance=Importance.LOW,
    ),
    _key(
        PK_MODE,
        PkMode.NONE.value,
        "Where the primary key is from. none: there is none. kafka: topic, partition and offset. record_key: the key, or "
        "fields of it. record_value: fields of the value.",
        _MAPPING,
        validator=OneOf(*(mode.value for mode in PkMode), ignore_case=True),
        importance=Importance.HIGH,
    ),
    _key(
        PK_FIELDS,
        "",
        "The columns of the primary key. kafka: three names, or none for __connect_topic, __connect_partition and "
        "__connect_offset. record_key: one name for a key that is a single value; fields of a struct, or none for all. "
        "record_value: fields, or none for all.",
        _MAPPING,
        type=ConfigType.LIST,
    ),
    _key(
        FIELDS_WHITELIST,
        "",
        "The fields of values to write, besides the key; all of them if it is empty.",
        _MAPPING,
        type=ConfigType.LIST,
    ),
    _key(
        SCHEMA_INFER,
        False,
        "Whether values without schema (plain JSON) are written too: columns get the types the values have.",
        _MAPPING,
        type=ConfigType.BOOLEAN,
    ),
    _key(
        REPLACE_NULL,
        True,
        "Whether a null is replaced by the default its field has.",
        _MAPPING,
        type=ConfigType.BOOLEAN,
    ),
    _key(
        STRING_COLUMN,
        "record_value",
        "The column for values that are plain text.",
        _MAPPING,
        validator=NonEmpty(),
        importance=Importance.LOW,
    ),
    _key(
        DATE_TIMEZONE,
        "UTC",
        "UTC: a date is the day it says. DB_TIMEZONE: the day that its midnight in UTC is in db.timezone.",
        _MAPPING,
        validator=OneOf("DB_TIMEZONE", "UTC", ignore_case=True),
        importance=Importance.LOW,
    ),
    _key(
        TIMESTAMP_FIELDS,
        "",
        "Fields of values, of type INT64, that are times since 1970 in the unit of timestamp.precision.mode.",
        _MAPPING,
        type=ConfigType.LIST,
        importance=Importance.LOW,
    ),
    _key(
        TIMESTAMP_PRECISION,
        "microseconds",
        "The unit of the fields in timestamp.fields.list. Columns keep microseconds.",
        _MAPPING,
        validator=OneOf("microseconds", "nanoseconds", ignore_case=True),
        importance=Importance.LOW,
    ),
    _key(
        AUTO_CREATE,
        False,
        "Whether a table that is missing is created.",
        _TABLES,
        type=ConfigType.BOOLEAN,
    ),
    _key(
        AUTO_EVOLVE,
        False,
        "Whether columns that are missing are added, if they are optional or have a default. Nothing is ever dropped.",
        _TABLES,
        type=ConfigType.BOOLEAN,
    ),
    _key(
        MAX_RETRIES,
        10,
        "How often a batch is tried again after an error that may pass, before the task fails.",
        _RETRIES,
        type=ConfigType.INT,
        validator=Range(at_least=0),
    ),
    _key(
        RETRY_BACKOFF_MS,
        3000,
        "How long to wait before each of those, in milliseconds.",
        _RETRIES,
        type=ConfigType.INT,
        validator=Range(at_least=0),
    ),
)


@dataclass(frozen=True, slots=True)
class SinkSettings:
    """The parsed settings, apart from those of the connection."""

    table_format: str
    table_types: tuple[str, ...]
    insert_mode: InsertMode
    pk_mode: PkMode
    pk_fields: tuple[str, ...]
    whitelist: frozenset[str]
    delete_enabled: bool
    auto_create: bool
    auto_evolve: bool
    infer: bool
    batch_size: int
    max_retries: int
    retry_backoff_ms: int
    utc_dates: bool
    timestamp_fields: frozenset[str]
    nanoseconds: bool
    replace_null: bool
    string_column: str

    @staticmethod
    def of(config: Mapping[str, Any]) -> SinkSettings:
        """The settings of a configuration.

        Raises:
            ConfigError: A setting is wrong, or two do not fit.
        """
        parsed = CONFIG.parse(config)
        settings = SinkSettings(
            table_format=parsed[TABLE_NAME_FORMAT],
            table_types=tuple(kind.upper() for kind in parsed[TABLE_TYPES]),
            insert_mode=InsertMode(parsed[INSERT_MODE].lower()),
            pk_mode=PkMode(parsed[PK_MODE].lower()),
            pk_fields=tuple(parsed[PK_FIELDS]),
            whitelist=frozenset(parsed[FIELDS_WHITELIST]),
            delete_enabled=parsed[DELETE_ENABLED],
            auto_create=parsed[AUTO_CREATE],
            auto_evolve=parsed[AUTO_EVOLVE],
            infer=parsed[SCHEMA_INFER],
            batch_size=parsed[BATCH_SIZE],
            max_retries=parsed[MAX_RETRIES],
            retry_backoff_ms=parsed[RETRY_BACKOFF_MS],
            utc_dates=parsed[DATE_TIMEZONE].upper() == "UTC",
            timestamp_fields=frozenset(parsed[TIMESTAMP_FIELDS]),
            nanoseconds=parsed[TIMESTAMP_PRECISION].lower() == "nanoseconds",
            replace_null=parsed[REPLACE_NULL],
            string_column=parsed[STRING_COLUMN],
        )
        settings._check()
        return settings

    def _check(self) -> None:
        if self.delete_enabled and self.pk_mode is not PkMode.RECORD_KEY:
            raise ConfigError(
                f"Primary key mode must be 'record_key' when delete support is enabled: {PK_MODE} is {self.pk_mode.value}",
                key=PK_MODE,
                hint=f"A record without value has nothing but its key. Set {PK_MODE}=record_key.",
            )
        if self.insert_mode is not InsertMode.INSERT and self.pk_mode is PkMode.NONE:
            raise ConfigError(
                f"{INSERT_MODE}={self.insert_mode.value} needs a primary key, but {PK_MODE} is none",
                key=PK_MODE,
                hint=f"Set {PK_MODE} to record_key, record_value or kafka.",
            )
        if self.pk_mode is PkMode.KAFKA and len(self.pk_fields) not in {0, len(KAFKA_FIELDS)}:
            raise ConfigError(
                f"{PK_FIELDS} has {len(self.pk_fields)} names, but {PK_MODE}=kafka needs three: for topic, partition, offset",
                key=PK_FIELDS,
                hint=f"Leave {PK_FIELDS} out for {', '.join(KAFKA_FIELDS)}.",
            )
        if "TABLE" not in self.table_types and "VIEW" not in self.table_types:
            raise ConfigError(f"{TABLE_TYPES} must name TABLE, VIEW or both", key=TABLE_TYPES)
