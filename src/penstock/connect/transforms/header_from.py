"""HeaderFrom: fields of the key or value as headers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import NonEmptyList, OneOf
from penstock.connect.data import ConnectHeaders, ConnectRecord, Field, Header, Schema, SchemaBuilder, Struct
from penstock.connect.data.schema_builder import copy_basics
from penstock.connect.errors import ConfigError, DataError
from penstock.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    PerSchema,
    Transformation,
    require_map,
    require_struct,
    stored_values,
)


class HeaderFrom(Transformation):
    """Copies or moves fields of the key or value to headers."""

    is_key: ClassVar[bool] = False
    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="fields",
            type=ConfigType.LIST,
            validator=NonEmptyList(),
            importance=Importance.HIGH,
            doc="Fields to copy or move.",
        ),
        ConfigKey(
            name="headers",
            type=ConfigType.LIST,
            validator=NonEmptyList(),
            importance=Importance.HIGH,
            doc="Names of the headers, in the order of the fields.",
        ),
        ConfigKey(
            name="operation",
            validator=OneOf("move", "copy"),
            importance=Importance.HIGH,
            doc="move: the fields are removed from the key or value; copy: they stay.",
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        fields, headers = self.settings["fields"], self.settings["headers"]
        if len(fields) != len(headers):
            raise ConfigError(
                "'fields' config must have the same number of elements as 'headers' config.", key="fields"
            )
        self._pairs: list[tuple[str, str]] = list(zip(fields, headers, strict=True))
        self._move = self.settings["operation"] == "move"
        self._purpose = f"header {self.settings['operation']}"
        self._replace: bool = self.settings["replace.null.with.default"]
        self._fields = PerSchema(self._header_fields)
        self._remaining = PerSchema(self._remaining_fields)

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        schema, value = (record.key_schema, record.key) if self.is_key else (record.value_schema, record.value)
        if schema is None:
            updated, value, added = self._schemaless(value)
        else:
            updated, value, added = self._with_schema(schema, require_struct(value, self._purpose))
        headers = ConnectHeaders((*record.headers, *added))
        if self.is_key:
            return record.new_record(key_schema=updated, key=value, headers=headers)
        return record.new_record(value_schema=updated, value=value, headers=headers)

    def _schemaless(self, value: Any) -> tuple[None, Any, list[Header]]:
        updated = dict(require_map(value, self._purpose))
        added = [Header(header, updated.get(name)) for name, header in self._pairs]
        if self._move:
            for name, _ in self._pairs:
                updated.pop(name, None)
        return None, updated, added

    def _with_schema(self, schema: Schema, struct: Struct) -> tuple[Schema, Struct, list[Header]]:
        values = stored_values(struct, replace_null_with_default=self._replace)
        pairs = zip(self._fields(schema), self._pairs, strict=True)
        added = [Header(header, values[field.index], field.schema) for field, (_, header) in pairs]
        if not self._move:
            return schema, struct, added
        updated, kept = self._remaining(schema)
        return updated, Struct.of(updated, [values[index] for index in kept]), added

    def _header_fields(self, schema: Schema) -> list[Field]:
        fields = []
        for name, header in self._pairs:
            field = schema.field(name)
            if field is None:
                known = ", ".join(one.name for one in schema.fields)
                raise DataError(f"Field does not exist: {name} (for header {header})", hint=f"Fields: {known}.")
            fields.append(field)
        return fields

    def _remaining_fields(self, schema: Schema) -> tuple[Schema, list[int]]:
        moved = {name for name, _ in self._pairs}
        builder = copy_basics(schema, SchemaBuilder.struct())
        kept = [field for field in schema.fields if field.name not in moved]
        for field in kept:
            builder.field(field.name, field.schema)
        return builder.build(), [field.index for field in kept]


class HeaderFromKey(HeaderFrom):
    """Headers from keys."""

    is_key = True


class HeaderFromValue(HeaderFrom):
    """Headers from values."""
