"""Flatten: nested fields as fields of the top level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.data import ConnectRecord, Schema, SchemaBuilder, Struct, Type
from penstock.connect.data.plain_type import plain_type
from penstock.connect.data.schema_builder import copy_basics
from penstock.connect.errors import DataError
from penstock.connect.transforms.transformation import KeyOrValue, PerSchema, require_map, require_struct

_PURPOSE = "flattening"


class Flatten(KeyOrValue):
    """Nested structs or maps as fields of the top level, their names joined."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="delimiter",
            default=".",
            importance=Importance.MEDIUM,
            doc="What is put between the names of nested fields.",
        ),
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._delimiter: str = self.settings["delimiter"]
        self._schemas = PerSchema(self._updated_schema)

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if value is None:
            return schema, None
        if schema is None:
            flat: dict[str, Any] = {}
            self._flatten_map(require_map(value, _PURPOSE), "", flat)
            return None, flat
        struct = require_struct(value, _PURPOSE)
        updated = self._schemas(struct.schema)
        values: list[Any] = []
        _flatten_values(struct.schema, struct, values)
        return updated, Struct.of(updated, values)

    def _flatten_map(self, value: dict[str, Any], prefix: str, flat: dict[str, Any]) -> None:
        for name, entry in value.items():
            full = self._name(prefix, name)
            if isinstance(entry, dict):
                self._flatten_map(entry, full, flat)
            elif entry is None or plain_type(entry) not in {None, Type.STRUCT}:
                flat[full] = entry
            else:
                raise DataError(
                    f"Flatten transformation was passed a value of type {type(entry).__name__} "
                    f"which is not supported by Connect's data API (for field {full})"
                )

    def _updated_schema(self, schema: Schema) -> Schema:
        builder = copy_basics(schema, SchemaBuilder.struct())
        self._add_fields(schema, "", builder, optional=schema.optional, default=schema.default)
        return builder.build()

    def _add_fields(
        self, schema: Schema, prefix: str, builder: SchemaBuilder, *, optional: bool, default: Struct | None
    ) -> None:
        """Adds the fields below one schema.

        Args:
            schema: A struct's schema.
            prefix: Names of the ancestors, joined.
            builder: The flat schema.
            optional: Whether an ancestor is optional: then every field below is.
            default: The default an ancestor gives this struct.
        """
        for field in schema.fields:
            name = self._name(prefix, field.name)
            inner = field.schema
            own = inner.default
            if own is None and default is not None:
                own = default.get(field.name)
            if inner.type is Type.STRUCT:
                self._add_fields(inner, name, builder, optional=optional or inner.optional, default=own)
            elif inner.type is Type.MAP:
                raise DataError(
                    f"Flatten transformation does not support MAP for record with schemas (for field {name})."
                )
            else:
                builder.field(name, _field_schema(inner, optional=optional or inner.optional, default=own))

    def _name(self, prefix: str, name: str) -> str:
        return f"{prefix}{self._delimiter}{name}" if prefix else name


def _field_schema(schema: Schema, *, optional: bool, default: Any) -> Schema:
    if optional == schema.optional and default is schema.default:
        return schema
    return Schema(
        schema.type,
        optional=optional,
        default=default,
        name=schema.name,
        version=schema.version,
        doc=schema.doc,
        parameters=schema.parameters,
        value_schema=schema.value_schema,
    )


def _flatten_values(schema: Schema, struct: Struct | None, values: list[Any]) -> None:
    """The values below one struct in the order of the flat schema; a null struct gives nulls."""
    for field in schema.fields:
        value = struct.get(field.name) if struct is not None else None
        if field.schema.type is Type.STRUCT:
            _flatten_values(field.schema, value, values)
        else:
            values.append(value)


class FlattenKey(Flatten):
    """Flattens keys."""

    is_key = True


class FlattenValue(Flatten):
    """Flattens values."""
