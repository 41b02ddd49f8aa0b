"""TimestampRouter: a topic for each day, or hour, or month."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.config.validators import Check
from penstock.connect.data import ConnectRecord
from penstock.connect.data.date_format import SimpleDateFormat
from penstock.connect.errors import DataError, invalid_value
from penstock.connect.transforms.transformation import Transformation


def _pattern(key: str, value: Any) -> None:
    try:
        SimpleDateFormat(value)
    except ValueError as error:
        raise invalid_value(key, value, str(error)) from None


class TimestampRouter(Transformation):
    """Puts the record's timestamp into its topic."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="topic.format",
            default="${topic}-${timestamp}",
            importance=Importance.HIGH,
            doc="The new topic; ${topic} and ${timestamp} are replaced.",
        ),
        ConfigKey(
            name="timestamp.format",
            default="yyyyMMdd",
            validator=Check(_pattern, "date pattern"),
            importance=Importance.HIGH,
            doc="Pattern for the timestamp (Java's SimpleDateFormat), in UTC.",
        ),
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._topic_format: str = self.settings["topic.format"]
        self._format = SimpleDateFormat(self.settings["timestamp.format"])

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        if record.timestamp is None:
            raise DataError(f"Timestamp missing on record of topic {record.topic}")
        timestamp = self._format.format(record.timestamp)
        topic = self._topic_format.replace("${topic}", record.topic or "").replace("${timestamp}", timestamp)
        return record.new_record(topic=topic)
