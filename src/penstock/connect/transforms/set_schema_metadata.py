"""SetSchemaMetadata: name and version of the schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.data import ConnectRecord, Schema, Struct, Type
from penstock.connect.errors import ConfigError, DataError
from penstock.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    KeyOrValue,
    PerSchema,
    stored_values,
)


class SetSchemaMetadata(KeyOrValue):
    """Sets the name, the version, or both, of the key's or value's schema."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(name="schema.name", default=None, importance=Importance.HIGH, doc="Name to set."),
        ConfigKey(
            name="schema.version",
            type=ConfigType.INT,
            default=None,
            importance=Importance.HIGH,
            doc="Version to set.",
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._name: str | None = self.settings["schema.name"]
        self._version: int | None = self.settings["schema.version"]
        if self._name is None and self._version is None:
            raise ConfigError("Neither schema name nor version configured", hint="Set schema.name or schema.version.")
        self._replace: bool = self.settings["replace.null.with.default"]
        self._schemas = PerSchema(self._updated_schema)

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if schema is None:
            if value is None:
                return None, None
            raise DataError(
                "Schema required for [updating schema metadata]", hint="Schemaless data has no name and no version."
            )
        updated = self._schemas(schema)
        if isinstance(value, Struct):
            return updated, Struct.of(updated, stored_values(value, replace_null_with_default=self._replace))
        return updated, value

    def _updated_schema(self, schema: Schema) -> Schema:
        return Schema(
            schema.type,
            optional=schema.optional,
            default=schema.default,
            name=self._name if self._name is not None else schema.name,
            version=self._version if self._version is not None else schema.version,
            doc=schema.doc,
            parameters=schema.parameters,
            fields=schema.fields if schema.type is Type.STRUCT else (),
            key_schema=schema.key_schema,
            value_schema=schema.value_schema,
        )


class SetSchemaMetadataKey(SetSchemaMetadata):
    """Schemas of keys."""

    is_key = True


class SetSchemaMetadataValue(SetSchemaMetadata):
    """Schemas of values."""
