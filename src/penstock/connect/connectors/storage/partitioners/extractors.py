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
from penstock.connect.data import SinkColumns, SinkRecord
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

    def __init_subclass__(cls, **given: Any) -> None:
        """Who finds other times does not inherit the short way of its base."""
        super().__init_subclass__(**given)
        if vars(cls).keys() & {"extract", "extract_all"} and "extract_range" not in vars(cls):
            cls.extract_range = TimestampExtractor.extract_range  # type: ignore[method-assign]

    @abstractmethod
    def extract(self, record: SinkRecord) -> int:
        """Milliseconds since the epoch.

        Raises:
            PartitionError: The record has no time.
        """

    def extract_all(self, records: Sequence[SinkRecord]) -> list[int]:
        """The times of records."""
        return [self.extract(record) for record in records]

    def extract_range(self, columns: SinkColumns) -> tuple[int, int] | None:
        """The first and the last time of records, where that takes no look at each of them."""
        return None


class WallclockTimestampExtractor(TimestampExtractor):
    """The time at which the record is written."""

    def extract(self, record: SinkRecord) -> int:
        return int(time.time() * 1000)

    def extract_all(self, records: Sequence[SinkRecord]) -> list[int]:
        return [int(time.time() * 1000)] * len(records)

    def extract_range(self, columns: SinkColumns) -> tuple[int, int] | None:
        now = int(time.time() * 1000)
        return now, now


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

    def extract_range(self, columns: SinkColumns) -> tuple[int, int] | None:
        times: Any = columns.timestamps
        try:
            first, last = min(times), max(times)
        except TypeError:
            return None  # one of them has none
        return None if first is None or first < 0 else (first, last)


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
