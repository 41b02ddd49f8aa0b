"""InsertField: where a record is from, or a fixed text, as fields of the key or value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    OPTIONAL_TIMESTAMP_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectRecord,
    Schema,
    SchemaBuilder,
    SinkRecord,
    Struct,
)
from penstock.connect.data.logical import from_millis
from penstock.connect.data.schema_builder import copy_basics
from penstock.connect.errors import ConfigError, DataError
from penstock.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    Apply,
    KeyOrValue,
    PerSchema,
    require_map,
    require_struct,
)

_PURPOSE = "field insertion"
_SUFFIX = "A ! at its end makes the field required, a ? optional, which it is without."


@dataclass(frozen=True, slots=True)
class _Insertion:
    """A field to insert: its name, its schema, and where its value comes from."""

    name: str
    schema: Schema
    value: Callable[[ConnectRecord], Any]


def _key(name: str, what: str) -> ConfigKey:
    return ConfigKey(
        name=name, default=None, importance=Importance.MEDIUM, doc=f"Name of a field for {what}. {_SUFFIX}"
    )


class InsertField(KeyOrValue):
    """Adds topic, partition, offset, timestamp or a fixed text as fields."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        _key("topic.field", "the topic"),
        _key("partition.field", "the partition"),
        _key("offset.field", "the offset (sinks only)"),
        _key("timestamp.field", "the timestamp"),
        _key("static.field", "static.value"),
        ConfigKey(
            name="static.value",
            default=None,
            importance=Importance.MEDIUM,
            doc="The text for static.field.",
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        static = self.settings["static.value"]
        if self.settings["static.field"] is not None and static is None:
            raise ConfigError(
                f"No value specified for static field: {self.settings['static.field']}", key="static.value"
            )
        candidates = (
            self._insertion("topic.field", (STRING_SCHEMA, OPTIONAL_STRING_SCHEMA), lambda record: record.topic),
            self._insertion("partition.field", (INT32_SCHEMA, OPTIONAL_INT32_SCHEMA), lambda record: record.partition),
            self._insertion("offset.field", (INT64_SCHEMA, OPTIONAL_INT64_SCHEMA), _offset),
            self._insertion("timestamp.field", (TIMESTAMP_SCHEMA, OPTIONAL_TIMESTAMP_SCHEMA), _timestamp),
            self._insertion("static.field", (STRING_SCHEMA, OPTIONAL_STRING_SCHEMA), lambda _: static),
        )
        self._insertions = [insertion for insertion in candidates if insertion is not None]
        if not self._insertions:
            raise ConfigError(
                "No field insertion configured",
                hint="Set topic.field, partition.field, offset.field, timestamp.field or static.field.",
            )
        self._replace: bool = self.settings["replace.null.with.default"]
        self._plans = PerSchema(self._plan)
        self._finders = [insertion.value for insertion in self._insertions]

    def _insertion(
        self, key: str, schemas: tuple[Schema, Schema], value: Callable[[ConnectRecord], Any]
    ) -> _Insertion | None:
        name: str | None = self.settings[key]
        if name is None:
            return None
        required, optional = schemas
        return _Insertion(name.removesuffix("!").removesuffix("?"), required if name.endswith("!") else optional, value)

    def compiled(self) -> Apply:
        general = super().compiled()
        if self.is_key:
            return general
        insertions = [
            (one.name, _plain_timestamp if one.value is _timestamp else one.value) for one in self._insertions
        ]

        def insert(record: ConnectRecord) -> ConnectRecord | None:
            # JSON objects without schema are what most records are: half the time of the general way.
            value = record.value
            if record.value_schema is not None or type(value) is not dict:
                return general(record)
            updated = value.copy()
            for name, find in insertions:
                inserted = find(record)
                if inserted is not None:
                    updated[name] = inserted
            return record.with_value(None, updated)

        return insert

    def map_function(self) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
        static: str | None = self.settings["static.value"]
        if self.is_key or static is None or [one.name for one in self._insertions] != [self._static_name()]:
            return None
        fields = {self._insertions[0].name: static}
        return lambda value: {**value, **fields}

    def _static_name(self) -> str | None:
        name: str | None = self.settings["static.field"]
        return None if name is None else name.removesuffix("!").removesuffix("?")

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if value is None:
            return schema, None
        if schema is None:
            updated_map = dict(require_map(value, _PURPOSE))
            for insertion in self._insertions:
                # Schemaless data has the timestamp as a number; what the record lacks is left out.
                inserted = record.timestamp if insertion.value is _timestamp else insertion.value(record)
                if inserted is not None:
                    updated_map[insertion.name] = inserted
            return None, updated_map
        # The transform seen most: its steps are written out, which halves its time.
        if type(value) is not Struct:
            require_struct(value, _PURPOSE)
        updated, defaults = self._plans(schema)
        values = value.values.copy()
        for index, default in defaults:
            if values[index] is None:
                values[index] = default
        values += [find(record) for find in self._finders]
        return updated, Struct.of(updated, values)

    def _plan(self, schema: Schema) -> tuple[Schema, list[tuple[int, Any]]]:
        """The schema with the new fields, and the defaults that stand for null fields."""
        fields = schema.fields if self._replace else ()
        defaults = [(field.index, field.schema.default) for field in fields if field.schema.default is not None]
        return self._updated_schema(schema), defaults

    def _updated_schema(self, schema: Schema) -> Schema:
        builder = copy_basics(schema, SchemaBuilder.struct())
        for field in schema.fields:
            builder.field(field.name, field.schema)
        for insertion in self._insertions:
            builder.field(insertion.name, insertion.schema)
        return builder.build()


def _offset(record: ConnectRecord) -> int:
    if not isinstance(record, SinkRecord):
        raise DataError(f"Only SinkRecord supported for [{_PURPOSE}], found: {type(record).__name__}")
    return record.offset


def _timestamp(record: ConnectRecord) -> Any:
    return None if record.timestamp is None else from_millis(record.timestamp)


def _plain_timestamp(record: ConnectRecord) -> Any:
    return record.timestamp


class InsertFieldKey(InsertField):
    """Inserts into keys."""

    is_key = True


class InsertFieldValue(InsertField):
    """Inserts into values."""
