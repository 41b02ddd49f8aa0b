"""Which fields of a record become columns, and which of them are the primary key."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from penstock.connect.connectors.jdbc.sink.settings import (
    FIELDS_WHITELIST,
    KAFKA_FIELDS,
    PK_FIELDS,
    PK_MODE,
    PkMode,
    SinkSettings,
)
from penstock.connect.data import INT32_SCHEMA, INT64_SCHEMA, STRING_SCHEMA, Schema, Type
from penstock.connect.errors import DataError


class Origin(Enum):
    """Where the value of a column is in a record."""

    TOPIC = "topic"
    PARTITION = "partition"
    OFFSET = "offset"
    KEY = "key"
    KEY_FIELD = "field of the key"
    VALUE_FIELD = "field of the value"


@dataclass(frozen=True, slots=True)
class SinkField:
    """A column to be written.

    Attributes:
        name: The name records give it.
        schema: Its schema.
        origin: Where its value is.
        index: Which field of the struct it is.
        is_key: Whether it belongs to the primary key.
    """

    name: str
    schema: Schema
    origin: Origin
    index: int = 0
    is_key: bool = False


@dataclass(frozen=True, slots=True)
class Fields:
    """The columns of records with one pair of schemas.

    Attributes:
        keys: Those of the primary key.
        others: The rest.
        ordered: All of them, as a table that is created has them: in the order of the value.
    """

    keys: tuple[SinkField, ...]
    others: tuple[SinkField, ...]
    ordered: tuple[SinkField, ...]


def fields_of(settings: SinkSettings, table: str, key_schema: Schema | None, value_schema: Schema | None) -> Fields:
    """The columns of records with these schemas.

    Args:
        settings: Says what is the key.
        table: The table's name, for messages.
        key_schema: Schema of the keys.
        value_schema: Schema of the values; None for records that delete.

    Raises:
        DataError: The schemas do not have what the settings ask for.
    """
    if value_schema is not None and value_schema.type is not Type.STRUCT:
        raise DataError(f"Table {table}: values must be structs, but their schema is {value_schema!r}")
    keys = _KEYS[settings.pk_mode](settings, table, key_schema, value_schema)
    named = {field.name for field in keys}
    others = tuple(
        SinkField(field.name, field.schema, Origin.VALUE_FIELD, field.index)
        for field in (value_schema.fields if value_schema is not None else ())
        if field.name not in named and (not settings.whitelist or field.name in settings.whitelist)
    )
    if not keys and not others:
        raise DataError(
            f"Table {table}: the record has no field to write",
            hint=f"{FIELDS_WHITELIST} must name fields of the value: {_names(value_schema)}.",
        )
    return Fields(keys, others, _ordered(keys + others, value_schema))


def _ordered(fields: tuple[SinkField, ...], value_schema: Schema | None) -> tuple[SinkField, ...]:
    by_name = {field.name: field for field in fields}
    if value_schema is None:
        return fields
    from_value = [by_name.pop(field.name) for field in value_schema.fields if field.name in by_name]
    return (*by_name.values(), *from_value)


def _none(settings: SinkSettings, table: str, key: Schema | None, value: Schema | None) -> tuple[SinkField, ...]:
    return ()


def _kafka(settings: SinkSettings, table: str, key: Schema | None, value: Schema | None) -> tuple[SinkField, ...]:
    origins = (Origin.TOPIC, Origin.PARTITION, Origin.OFFSET)
    schemas = (STRING_SCHEMA, INT32_SCHEMA, INT64_SCHEMA)
    names = settings.pk_fields or KAFKA_FIELDS
    return tuple(
        SinkField(name, schema, origin, is_key=True)
        for name, schema, origin in zip(names, schemas, origins, strict=True)
    )


def _record_key(settings: SinkSettings, table: str, key: Schema | None, value: Schema | None) -> tuple[SinkField, ...]:
    if key is None:
        raise DataError(
            f"Table {table}: {PK_MODE} is record_key, but the key has no schema",
            hint="Use a key converter that gives one, schema.infer=true, or another pk.mode.",
        )
    if key.type is Type.STRUCT:
        return _struct_fields(settings, table, key, Origin.KEY_FIELD)
    if not key.type.is_primitive:
        raise DataError(f"Table {table}: {PK_MODE} is record_key, but keys of type {key.type} cannot be a primary key")
    if len(settings.pk_fields) != 1:
        raise DataError(
            f"Table {table}: the key is a single value of type {key.type}, so that {PK_FIELDS} needs exactly one name, "
            f"not {len(settings.pk_fields)}",
            hint=f"Set {PK_FIELDS} to the name of the column.",
        )
    return (SinkField(settings.pk_fields[0], key, Origin.KEY, is_key=True),)


def _record_value(
    settings: SinkSettings, table: str, key: Schema | None, value: Schema | None
) -> tuple[SinkField, ...]:
    if value is None:
        raise DataError(f"Table {table}: {PK_MODE} is record_value, but the value has no schema")
    return _struct_fields(settings, table, value, Origin.VALUE_FIELD)


def _struct_fields(settings: SinkSettings, table: str, schema: Schema, origin: Origin) -> tuple[SinkField, ...]:
    found = []
    for name in settings.pk_fields or [field.name for field in schema.fields]:
        field = schema.field(name)
        if field is None:
            part = "key" if origin is Origin.KEY_FIELD else "value"
            raise DataError(
                f"Table {table}: {PK_FIELDS} names {name}, which the record's {part} does not have",
                hint=f"Its fields: {_names(schema)}.",
            )
        found.append(SinkField(name, field.schema, origin, field.index, is_key=True))
    return tuple(found)


_KEYS = {
    PkMode.NONE: _none,
    PkMode.KAFKA: _kafka,
    PkMode.RECORD_KEY: _record_key,
    PkMode.RECORD_VALUE: _record_value,
}


def _names(schema: Schema | None) -> str:
    return ", ".join(field.name for field in schema.fields) if schema is not None else "none"
