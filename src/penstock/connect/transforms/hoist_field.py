"""HoistField: the key or value as the only field of a struct or map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.data import ConnectRecord, Schema, SchemaBuilder, Struct
from penstock.connect.transforms.transformation import KeyOrValue, PerSchema


class HoistField(KeyOrValue):
    """Wraps the key or value in a struct, or in a map if it has no schema."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="field",
            importance=Importance.MEDIUM,
            doc="Name of the one field.",
        ),
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._name: str = self.settings["field"]
        self._schemas = PerSchema(lambda schema: SchemaBuilder.struct().field(self._name, schema).build())

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if schema is None:
            return None, {self._name: value}
        updated = self._schemas(schema)
        return updated, Struct.of(updated, [value])


class HoistFieldKey(HoistField):
    """Wraps keys."""

    is_key = True


class HoistFieldValue(HoistField):
    """Wraps values."""
