"""HasHeaderKey: records with a header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.config.validators import NonEmpty
from penstock.connect.data import ConnectRecord
from penstock.connect.transforms.predicates.predicate import Predicate


class HasHeaderKey(Predicate):
    """Whether the record has at least one header of a name."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(name="name", validator=NonEmpty(), importance=Importance.MEDIUM, doc="Name of the header."),
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._name: str = self.settings["name"]

    def test(self, record: ConnectRecord) -> bool:
        return record.headers.last(self._name) is not None
