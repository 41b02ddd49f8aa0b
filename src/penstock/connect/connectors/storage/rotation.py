"""When files are complete. All but the clock goes by what records say, so that it is the same the next time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.connect.connectors.storage.partitioners.time_zone import LocalTime, parse_zone

# How many records there are between two looks at the size: always the same ones.
SIZE_STEP = 1000
MAX_OPEN_FILES = 1000


@dataclass(frozen=True, slots=True)
class Rotation:
    """The settings that say when the files of a partition are complete.

    Attributes:
        records: So many records are in them.
        interval_ms: A record is so much younger than the first one; None for no such limit.
        file_bytes: They have so many bytes; None for no such limit.
        schedule_ms: The clock has passed a multiple of it; None for no such limit.
        time: The clock's zone.
    """

    records: int
    interval_ms: int | None
    file_bytes: int | None
    schedule_ms: int | None
    time: LocalTime | None

    @staticmethod
    def of(settings: Mapping[str, Any]) -> Rotation:
        """From settings."""
        schedule = _positive(settings["rotate.schedule.interval.ms"])
        return Rotation(
            settings["flush.size"],
            _positive(settings["rotate.interval.ms"]),
            _positive(settings["rotate.file.bytes"]),
            schedule,
            LocalTime(parse_zone(settings["timezone"])) if schedule else None,
        )

    def next_scheduled(self, now_ms: int) -> int | None:
        """When the clock completes files that are begun now."""
        if self.schedule_ms is None or self.time is None:
            return None
        return self.time.next_boundary(now_ms, self.schedule_ms)

    def room(self, count: int, waiting: int) -> int:
        """How many of the waiting records may be written before something has to be looked at."""
        free = min(waiting, self.records - count)
        return free if self.file_bytes is None else min(free, SIZE_STEP - count % SIZE_STEP)


def _positive(number: int) -> int | None:
    return number if number > 0 else None
