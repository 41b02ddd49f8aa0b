"""InsertHeader: one more header on each record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.config.validators import NonEmpty
from penstock.connect.data import ConnectRecord, parse_string
from penstock.connect.transforms.transformation import Transformation


class InsertHeader(Transformation):
    """Adds a header with a fixed value."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(name="header", validator=NonEmpty(), importance=Importance.HIGH, doc="Name of the header."),
        ConfigKey(
            name="value.literal",
            validator=NonEmpty(),
            importance=Importance.HIGH,
            doc="Value of the header; numbers, dates, lists and maps are recognised.",
        ),
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._name: str = self.settings["header"]
        self._literal = parse_string(self.settings["value.literal"])

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        return record.new_record(headers=record.headers.add(self._name, self._literal.value, self._literal.schema))
