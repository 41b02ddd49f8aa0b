"""TopicNameMatches: records of some topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.config.java_regex import compile_java
from penstock.connect.config.validators import AllOf, NonEmpty, Regex
from penstock.connect.data import ConnectRecord
from penstock.connect.transforms.predicates.predicate import Predicate


class TopicNameMatches(Predicate):
    """Whether the whole topic matches a pattern."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="pattern",
            validator=AllOf(NonEmpty(), Regex()),
            importance=Importance.MEDIUM,
            doc="Pattern for the whole topic.",
        ),
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._pattern = compile_java(self.settings["pattern"])

    def test(self, record: ConnectRecord) -> bool:
        return record.topic is not None and self._pattern.fullmatch(record.topic) is not None
