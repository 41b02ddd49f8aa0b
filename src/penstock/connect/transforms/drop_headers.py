"""DropHeaders: removes headers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import NonEmptyList
from penstock.connect.data import ConnectRecord
from penstock.connect.transforms.transformation import Transformation


class DropHeaders(Transformation):
    """Removes all headers of some names."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="headers",
            type=ConfigType.LIST,
            validator=NonEmptyList(),
            importance=Importance.HIGH,
            doc="Names of the headers to remove.",
        ),
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._names: list[str] = self.settings["headers"]

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        return record.new_record(headers=record.headers.remove(*self._names))
