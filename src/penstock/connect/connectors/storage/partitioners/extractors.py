"""Timestamp extractors: which time of a record counts."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from operator import itemgetter
from typing import Any

from penstock.connect.connectors.storage.partitioners.field import field_path, field_value
from penstock.connect.connectors.storage.partitioners.partitioner import PartitionError
from penstock.connect.data import SinkRecord
from penstock.connect.data.logical import to_millis
from penstock.connect.errors import shown

_TIMESTAMP = itemgetter(SinkRecord._fields.index("timestamp"))


class TimestampExtractor(ABC):
    """Finds the time of a record.

    Args:
        settings: The settings of the connector.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings

    @abstractmethod
    def extract(self, record: SinkRecord) -> int:
        """Milliseconds since the epoch.

        Raises:
            PartitionError: The record has no time.
        """

    def extract_all(self, records: Sequence[SinkRecord]) -> list[int]:
        """The times of records."""
        return [self.extract(record) for record in records]


class WallclockTimestampExtractor(TimestampExtractor):
    """The time at which the record is written."""

    def extract(self, record: SinkRecord) -> int:
        return int(time.time() * 1000)

    def extract_all(self, records: Sequence[SinkRecord]) -> list[int]:
        return [int(time.time() * 1000)] * len(records)


class RecordTimestampExtractor(TimestampExtractor):
    """The timestamp of the record in Kafka."""

    def extract(self, record: SinkRecord) -> int:
        if record.timestamp is None or record.timestamp < 0:
            raise PartitionError("The record has no timestamp")
        return record.timestamp

    def extract_all(self, records: Sequence[SinkRecord]) -> list[int]:
        times = list(map(_TIMESTAMP, records))
        if None in times or (times and min(times) < 0):
            raise PartitionError("A record has no timestamp")
        return times


class RecordFieldTimestampExtractor(TimestampExtractor):
    """The field `timestamp.field` of the value: milliseconds, a Timestamp, their text or an ISO 8601 text."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__(settings)
        self._name: str = settings["timestamp.field"]
        self._path = field_path(self._name)

    def extract(self, record: SinkRecord) -> int:
        found = field_value(record.value, self._path)
        if type(found) is int:
            return found
        if isinstance(found, datetime):
            return to_millis(found)
        if isinstance(found, str):
            return self._read(found)
        kind = "null" if found is None else type(found).__name__
        raise PartitionError(
            f'The field "{self._name}" is {kind}: no time', hint="Milliseconds, a Timestamp or ISO 8601 text are."
        )

    def _read(self, text: str) -> int:
        try:
            return int(text)
        except ValueError:
            pass
        try:
            moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        except ValueError:
            raise PartitionError(
                f'The field "{self._name}" is {shown(text)!r}: neither milliseconds nor ISO 8601'
            ) from None
        return to_millis(moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc))
