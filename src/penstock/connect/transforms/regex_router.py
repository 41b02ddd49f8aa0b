"""RegexRouter: another topic for records whose topic matches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.config.java_regex import compile_java, python_replacement
from penstock.connect.config.validators import Regex
from penstock.connect.data import ConnectRecord
from penstock.connect.errors import invalid_value
from penstock.connect.transforms.transformation import Transformation

_MAX_TOPICS = 10_000


class RegexRouter(Transformation):
    """Gives records another topic if the whole topic matches a pattern."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(name="regex", validator=Regex(), importance=Importance.HIGH, doc="Pattern for the whole topic."),
        ConfigKey(
            name="replacement", importance=Importance.HIGH, doc="The new topic; $1 is the first group of the pattern."
        ),
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._pattern = compile_java(self.settings["regex"])
        try:
            self._template = python_replacement(self.settings["replacement"], self._pattern)
        except re.error as error:
            raise invalid_value("replacement", self.settings["replacement"], str(error)) from None
        self._topics: dict[str, str] = {}

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        if record.topic is None:
            return record
        topic = self._topics.get(record.topic)
        if topic is None:
            topic = self._route(record.topic)
        return record if topic == record.topic else record.new_record(topic=topic)

    def _route(self, topic: str) -> str:
        match = self._pattern.fullmatch(topic)
        routed = topic if match is None else match.expand(self._template)
        if len(self._topics) >= _MAX_TOPICS:
            self._topics.clear()
        self._topics[topic] = routed
        return routed
