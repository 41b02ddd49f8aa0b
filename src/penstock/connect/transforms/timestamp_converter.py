"""TimestampConverter: timestamps as text, numbers, dates, times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.config.validators import OneOf
from penstock.connect.data import (
    DATE_NAME,
    DATE_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_DATE_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    OPTIONAL_TIME_SCHEMA,
    OPTIONAL_TIMESTAMP_SCHEMA,
    STRING_SCHEMA,
    TIME_NAME,
    TIME_SCHEMA,
    TIMESTAMP_NAME,
    TIMESTAMP_SCHEMA,
    ConnectRecord,
    Schema,
    SchemaBuilder,
    Struct,
    Type,
)
from penstock.connect.data.date_format import SimpleDateFormat
from penstock.connect.data.logical import MILLIS_PER_DAY, from_millis, to_millis
from penstock.connect.data.schema_builder import copy_basics
from penstock.connect.errors import ConfigError, ConnectError, DataError, shown
from penstock.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    KeyOrValue,
    PerSchema,
    require_map,
    require_struct_or_null,
    stored_values,
)

_PURPOSE = "converting timestamp formats"
_SCHEMAS = {
    "string": (STRING_SCHEMA, OPTIONAL_STRING_SCHEMA),
    "unix": (INT64_SCHEMA, OPTIONAL_INT64_SCHEMA),
    "Date": (DATE_SCHEMA, OPTIONAL_DATE_SCHEMA),
    "Time": (TIME_SCHEMA, OPTIONAL_TIME_SCHEMA),
    "Timestamp": (TIMESTAMP_SCHEMA, OPTIONAL_TIMESTAMP_SCHEMA),
}
_SOURCES = {DATE_NAME: "Date", TIME_NAME: "Time", TIMESTAMP_NAME: "Timestamp"}
# How many milliseconds a unit has, or how many units a millisecond has.
_PRECISIONS = {"seconds": (1000, 1), "milliseconds": (1, 1), "microseconds": (1, 1000), "nanoseconds": (1, 1_000_000)}


class TimestampConverter(KeyOrValue):
    """Converts a timestamp, which is one field or the whole key or value, to another form."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="field",
            default="",
            importance=Importance.HIGH,
            doc="The field that is a timestamp; empty if the whole key or value is one.",
        ),
        ConfigKey(
            name="target.type",
            validator=OneOf(*_SCHEMAS),
            importance=Importance.HIGH,
            doc="What to make of it.",
        ),
        ConfigKey(
            name="format",
            default="",
            importance=Importance.MEDIUM,
            doc="A SimpleDateFormat pattern, in UTC: for the text that is written with target.type=string, "
            "and for the text that is read if the timestamp is a text.",
        ),
        ConfigKey(
            name="unix.precision",
            default="milliseconds",
            validator=OneOf("nanoseconds", "microseconds", "milliseconds", "seconds"),
            importance=Importance.LOW,
            doc="The unit of timestamps that are numbers, read or written. Digits below a millisecond are lost.",
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._field: str = self.settings["field"]
        self._target: str = self.settings["target.type"]
        self._precision = _PRECISIONS[self.settings["unix.precision"]]
        self._format = _date_format(self.settings["format"])
        if self._target == "string" and self._format is None:
            raise ConfigError(
                "TimestampConverter requires format option to be specified when using string timestamps", key="format"
            )
        self._replace: bool = self.settings["replace.null.with.default"]
        self._schemas = PerSchema(self._updated_schema)
        self._read: dict[str, Callable[[Any], int]] = {
            "string": self._from_text,
            "unix": self._from_unix,
            **dict.fromkeys(("Date", "Time", "Timestamp"), _from_instant),
        }
        self._write: Callable[[int], Any] = {
            "string": self._to_text,
            "unix": self._to_unix,
            "Date": lambda millis: from_millis(millis - millis % MILLIS_PER_DAY),
            "Time": lambda millis: from_millis(millis % MILLIS_PER_DAY),
            "Timestamp": from_millis,
        }[self._target]

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if schema is None:
            if value is None or not self._field:
                return None, self._convert(value, None)
            updated_map = dict(require_map(value, _PURPOSE))
            updated_map[self._field] = self._convert(updated_map.get(self._field), None)
            return None, updated_map
        if not self._field:
            return self._schema(schema), self._convert(value, _source(schema))
        struct = require_struct_or_null(value, _PURPOSE)
        updated = self._schemas(schema)
        return updated, None if struct is None else self._convert_struct(struct, updated)

    def _convert_struct(self, struct: Struct, updated: Schema) -> Struct:
        values = stored_values(struct, replace_null_with_default=self._replace)
        field = struct.schema.field(self._field)
        if field is not None:
            values[field.index] = self._convert(values[field.index], _source(field.schema))
        return Struct.of(updated, values)

    def _convert(self, value: Any, source: str | None) -> Any:
        if value is None:
            return None
        return self._write(self._read[source or _inferred(value)](value))

    def _schema(self, schema: Schema) -> Schema:
        return _SCHEMAS[self._target][1 if schema.optional else 0]

    def _updated_schema(self, schema: Schema) -> Schema:
        builder = copy_basics(schema, SchemaBuilder.struct())
        for field in schema.fields:
            builder.field(field.name, self._schema(field.schema) if field.name == self._field else field.schema)
        if schema.optional:
            builder.optional()
        if schema.default is not None:
            plain = builder.build()
            builder.default(self._convert_struct(schema.default, plain))
        return builder.build()

    def _from_text(self, value: Any) -> int:
        if not isinstance(value, str):
            raise DataError(f"Expected string timestamp to be a str, but found {type(value).__name__}")
        if self._format is None:
            raise DataError(
                f"The timestamp {shown(value)} is a text and TimestampConverter has no format to read it",
                hint="Set format, for example yyyy-MM-dd HH:mm:ss.",
            )
        millis = self._format.parse(value)
        if millis is None:
            raise DataError(
                f"Could not parse timestamp: value ({shown(value)}) does not match pattern ({self._format.pattern})"
            )
        return millis

    def _from_unix(self, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise DataError(f"Expected Unix timestamp to be an int, but found {type(value).__name__}")
        millis, parts = self._precision
        return _truncated(value * millis, parts)

    def _to_text(self, millis: int) -> str:
        assert self._format is not None  # checked when configured
        return self._format.format(millis)

    def _to_unix(self, value: int) -> int:
        millis, parts = self._precision
        return _truncated(value * parts, millis)


def _date_format(pattern: str) -> SimpleDateFormat | None:
    if not pattern.strip():
        return None
    try:
        return SimpleDateFormat(pattern)
    except ValueError as error:
        raise ConfigError(
            f"TimestampConverter requires a SimpleDateFormat-compatible pattern for string timestamps: {pattern}",
            key="format",
            hint=f"{error}.",
        ) from None


def _source(schema: Schema) -> str:
    """What a schema's timestamps are."""
    found = _SOURCES.get(schema.name or "")
    if found is not None:
        return found
    if schema.type is Type.INT64:
        return "unix"
    if schema.type is Type.STRING:
        return "string"
    raise ConnectError(f"Schema {schema!r} does not correspond to a known timestamp type format")


def _inferred(value: Any) -> str:
    """What a timestamp without schema is."""
    if isinstance(value, datetime):
        return "Timestamp"
    if isinstance(value, int) and not isinstance(value, bool):
        return "unix"
    if isinstance(value, str):
        return "string"
    raise DataError(f"TimestampConverter does not support {type(value).__name__} objects as timestamps")


def _from_instant(value: Any) -> int:
    if not isinstance(value, datetime):
        raise DataError(f"Expected the timestamp to be a datetime, but found {type(value).__name__}")
    return to_millis(value)


def _truncated(value: int, divisor: int) -> int:
    """Division that cuts off towards zero, as Java divides."""
    return value // divisor if value >= 0 else -(-value // divisor)


class TimestampConverterKey(TimestampConverter):
    """Timestamps in keys."""

    is_key = True


class TimestampConverterValue(TimestampConverter):
    """Timestamps in values."""
