"""ValueToKey: a key made of fields of the value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import NonEmptyList
from penstock.connect.data import ConnectRecord, Schema, SchemaBuilder, Struct
from penstock.connect.errors import DataError
from penstock.connect.transforms.field_path import FIELD_SYNTAX_VERSION, FieldPath
from penstock.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    PerSchema,
    Transformation,
    require_map,
    require_struct,
)

_PURPOSE = "copying fields from value to key"


class ValueToKey(Transformation):
    """Replaces the key by a struct or map of some fields of the value."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="fields",
            type=ConfigType.LIST,
            validator=NonEmptyList(unique=True),
            importance=Importance.HIGH,
            doc="Fields of the value that make the key, in this order.",
        ),
        FIELD_SYNTAX_VERSION,
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        version = self.settings["field.syntax.version"]
        self._paths = [FieldPath.parse(name, version) for name in self.settings["fields"]]
        self._replace: bool = self.settings["replace.null.with.default"]
        self._schemas = PerSchema(self._key_schema)

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        if record.value_schema is None:
            value = require_map(record.value, _PURPOSE)
            return record.with_key(None, {path.text: path.value_in_map(value) for path in self._paths})
        struct = require_struct(record.value, _PURPOSE)
        schema = self._schemas(struct.schema)
        replace = self._replace
        key = [path.value_in_struct(struct, replace_null_with_default=replace) for path in self._paths]
        return record.with_key(schema, Struct.of(schema, key))

    def _key_schema(self, schema: Schema) -> Schema:
        builder = SchemaBuilder.struct()
        for path in self._paths:
            field = path.field(schema)
            if field is None:
                known = ", ".join(one.name for one in schema.fields)
                raise DataError(f"Field does not exist: {path.text}", hint=f"Fields of the value: {known}.")
            builder.field(path.text, field.schema)
        return builder.build()
