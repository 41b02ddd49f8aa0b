"""ExtractField: one field instead of the whole key or value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.data import ConnectRecord, Field, Schema
from penstock.connect.errors import IllegalArgumentError
from penstock.connect.transforms.field_path import FIELD_SYNTAX_VERSION, FieldPath
from penstock.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    KeyOrValue,
    PerSchema,
    require_map_or_null,
    require_struct_or_null,
)

_PURPOSE = "field extraction"


class ExtractField(KeyOrValue):
    """One field instead of the whole key or value."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(name="field", importance=Importance.MEDIUM, doc="The field to keep."),
        FIELD_SYNTAX_VERSION,
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._path = FieldPath.parse(self.settings["field"], self.settings["field.syntax.version"])
        self._replace: bool = self.settings["replace.null.with.default"]
        self._fields = PerSchema(self._field)

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if schema is None:
            mapping = require_map_or_null(value, _PURPOSE)
            return None, None if mapping is None else self._path.value_in_map(mapping)
        struct = require_struct_or_null(value, _PURPOSE)
        field = self._fields(schema)
        if struct is None:
            return field.schema, None
        return field.schema, self._path.value_in_struct(struct, replace_null_with_default=self._replace)

    def _field(self, schema: Schema) -> Field:
        field = self._path.field(schema)
        if field is None:
            raise IllegalArgumentError(f"Unknown field: {self._path.text}")
        return field


class ExtractFieldKey(ExtractField):
    """Extracts from keys."""

    is_key = True


class ExtractFieldValue(ExtractField):
    """Extracts from values."""
