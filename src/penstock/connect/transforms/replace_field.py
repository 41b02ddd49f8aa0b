"""ReplaceField: drops, keeps or renames fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import Check
from penstock.connect.data import ConnectRecord, Schema, SchemaBuilder, Struct
from penstock.connect.data.schema_builder import copy_basics
from penstock.connect.errors import invalid_value
from penstock.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    KeyOrValue,
    PerSchema,
    require_map,
    require_struct,
    stored_values,
)

_PURPOSE = "field replacement"


def _renames(key: str, value: Any) -> None:
    for mapping in value:
        if len(mapping.split(":")) != 2:
            raise invalid_value(key, value, f"Invalid rename mapping: {mapping}")


class ReplaceField(KeyOrValue):
    """Drops, keeps or renames fields of the top level."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="exclude",
            type=ConfigType.LIST,
            default="",
            importance=Importance.MEDIUM,
            doc="Fields to drop, even if they are included.",
        ),
        ConfigKey(
            name="include",
            type=ConfigType.LIST,
            default="",
            importance=Importance.MEDIUM,
            doc="Fields to keep; empty keeps all.",
        ),
        ConfigKey(
            name="renames",
            type=ConfigType.LIST,
            default="",
            validator=Check(_renames, "list of colon-delimited pairs, e.g. foo:bar,abc:xyz"),
            importance=Importance.MEDIUM,
            doc="New names: old:new,old:new.",
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._exclude = frozenset(self.settings["exclude"])
        self._include = frozenset(self.settings["include"])
        self._renames = dict(mapping.split(":") for mapping in self.settings["renames"])
        self._replace: bool = self.settings["replace.null.with.default"]
        self._schemas = PerSchema(self._updated_schema)

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if value is None:
            return schema, None
        if schema is None:
            mapping = require_map(value, _PURPOSE)
            return None, {self._renames.get(name, name): one for name, one in mapping.items() if self._keeps(name)}
        struct = require_struct(value, _PURPOSE)
        updated, kept = self._schemas(schema)
        values = stored_values(struct, replace_null_with_default=self._replace)
        return updated, Struct.of(updated, [values[index] for index in kept])

    def _keeps(self, name: str) -> bool:
        return name not in self._exclude and (not self._include or name in self._include)

    def _updated_schema(self, schema: Schema) -> tuple[Schema, list[int]]:
        builder = copy_basics(schema, SchemaBuilder.struct())
        kept = [field for field in schema.fields if self._keeps(field.name)]
        for field in kept:
            builder.field(self._renames.get(field.name, field.name), field.schema)
        return builder.build(), [field.index for field in kept]


class ReplaceFieldKey(ReplaceField):
    """Fields of keys."""

    is_key = True


class ReplaceFieldValue(ReplaceField):
    """Fields of values."""
