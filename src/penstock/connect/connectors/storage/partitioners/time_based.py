"""TimeBasedPartitioner and its two common cases: folders named after times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from penstock.connect.connectors.storage.partitioners.extractors import TimestampExtractor
from penstock.connect.connectors.storage.partitioners.joda_pattern import JodaPattern
from penstock.connect.connectors.storage.partitioners.partitioner import Partitioned, Partitioner, PartitionError
from penstock.connect.connectors.storage.partitioners.registry import EXTRACTORS
from penstock.connect.connectors.storage.partitioners.time_zone import LocalTime, parse_zone
from penstock.connect.data import SinkColumns, SinkRecord
from penstock.connect.data.logical import EPOCH, MILLIS_PER_DAY
from penstock.connect.errors import ConfigError, invalid_value

_MAX_KNOWN = 10_000
_MINUTE, _HOUR = 60_000, 3_600_000


class TimeBasedPartitioner(Partitioner):
    """The time of a record, rounded down to `partition.duration.ms` and written as `path.format` says."""

    is_time_based = True
    duration_ms: ClassVar[int | None] = None
    pattern: ClassVar[str] = ""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__(settings)
        self._duration = self.duration_ms or int(settings["partition.duration.ms"])
        if self._duration <= 0:
            raise invalid_value("partition.duration.ms", self._duration, "TimeBasedPartitioner needs a positive number")
        path = self.pattern or settings["path.format"]
        if not path:
            raise ConfigError(
                "TimeBasedPartitioner needs path.format", key="path.format", hint="'year'=YYYY/'month'=MM"
            )
        delimiter: str = settings["directory.delim"]
        try:
            self._pattern = JodaPattern(path if delimiter == "/" else path.replace("/", delimiter))
        except ValueError as error:
            raise invalid_value("path.format", path, str(error)) from error
        for key in ("locale", "timezone"):
            if not settings[key]:
                raise ConfigError(f"{type(self).__name__} needs {key}", key=key, hint="locale=en-US, timezone=UTC")
        if self._pattern.has_names and not settings["locale"].lower().startswith("en"):
            raise invalid_value(
                "locale", settings["locale"], "names of months and days are written in English only",
                hint="Use numbers in path.format (MM instead of MMM).",
            )  # fmt: skip
        self._time = LocalTime(parse_zone(settings["timezone"]))
        self._extractor: TimestampExtractor = EXTRACTORS.find(settings["timestamp.extractor"])(settings)
        self._folders: dict[int, str] = {}

    def folder(self, record: SinkRecord) -> str:
        return self._folder(self._extractor.extract(record))

    def partition(self, records: Sequence[SinkRecord]) -> Partitioned:
        times = self._extractor.extract_all(records)
        if times and (folder := self._folder_of_range(min(times), max(times))) is not None:
            return Partitioned([folder] * len(times), times)
        minutes = [millis // _MINUTE for millis in times]
        folders: dict[int, str] = {}
        for minute in set(minutes):
            folder = self._folder_of_minute(minute)
            if folder is None:
                return Partitioned(list(map(self._folder, times)), times)
            folders[minute] = folder
        return Partitioned(list(map(folders.__getitem__, minutes)), times)

    def folder_of_all(self, columns: SinkColumns) -> str | None:
        found = self._extractor.extract_range(columns)
        return None if found is None else self._folder_of_range(*found)

    def _folder_of_range(self, first: int, last: int) -> str | None:
        """The folder of everything between two near times: mostly all records of a chunk; None if there may be several."""
        if last - first > _HOUR:
            return None
        try:
            offset = self._time.offset(first)
            # Clocks do not change twice in an hour.
            is_one = (
                self._time.offset(last) == offset
                and (first + offset) // self._duration == (last + offset) // self._duration
            )
        except (OverflowError, ValueError, OSError):
            return None  # one of the records is told
        return self._folder(first) if is_one else None

    def _folder_of_minute(self, minute: int) -> str | None:
        """The folder of a whole minute, which saves asking for each record; None if it may have several."""
        begin = minute * _MINUTE
        try:
            offset = self._time.offset(begin)
            if self._duration % _MINUTE or offset % _MINUTE or offset != self._time.offset(begin + _MINUTE - 1):
                return None
        except (OverflowError, ValueError, OSError):
            return None  # one of the records is told
        return self._folder(begin)

    def _folder(self, millis: int) -> str:
        try:
            bucket = (millis + self._time.offset(millis)) // self._duration
            known = self._folders.get(bucket)
            if known is None:
                if len(self._folders) >= _MAX_KNOWN:
                    self._folders.clear()
                local = EPOCH.replace(tzinfo=None) + timedelta(milliseconds=bucket * self._duration)
                known = self._pattern.format(datetime.replace(local, tzinfo=self._time.zone))
                self._folders[bucket] = known
            return known
        except (OverflowError, ValueError, OSError):
            raise PartitionError(
                f"{millis} ms since 1970 is not within the years 1 to 9999",
                hint="Are the times in seconds, microseconds or nanoseconds? Milliseconds are meant.",
            ) from None


class DailyPartitioner(TimeBasedPartitioner):
    """A folder a day: `year=2024/month=02/day=29`."""

    duration_ms = MILLIS_PER_DAY
    pattern = "'year'=YYYY/'month'=MM/'day'=dd"


class HourlyPartitioner(TimeBasedPartitioner):
    """A folder an hour: `year=2024/month=02/day=29/hour=13`."""

    duration_ms = 3_600_000
    pattern = "'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH"
