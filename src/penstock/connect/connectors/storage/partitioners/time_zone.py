"""Time zones as settings name them, and where local days begin."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from penstock.connect.data.logical import MILLIS_PER_DAY
from penstock.connect.errors import invalid_value

_OFFSET = re.compile(r"([+-])(\d{2}):?(\d{2})")
# Within so many milliseconds a zone's distance from UTC is the same: it changed at full half minutes only.
_STEP_MS = 30_000
_MAX_KNOWN = 100_000


def parse_zone(name: str) -> tzinfo:
    """The zone of a name (`Europe/Oslo`) or a distance from UTC (`+01:00`).

    Raises:
        ConfigError: There is none.
    """
    match = _OFFSET.fullmatch(name)
    if match is not None:
        distance = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return timezone(-distance if match[1] == "-" else distance)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise invalid_value("timezone", name, "no such time zone", hint="UTC, Europe/Oslo, +01:00 are some.") from None


class LocalTime:
    """Milliseconds since the epoch as milliseconds of local time, and back."""

    def __init__(self, zone: tzinfo) -> None:
        self.zone = zone
        self._known: dict[int, int] = {}

    def offset(self, millis: int) -> int:
        """Distance from UTC at an instant, in milliseconds."""
        step = millis // _STEP_MS
        found = self._known.get(step)
        if found is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            moment = datetime.fromtimestamp(millis / 1000, self.zone)
            found = int((moment.utcoffset() or timedelta()).total_seconds() * 1000)
            self._known[step] = found
        return found

    def next_boundary(self, millis: int, interval_ms: int) -> int:
        """The next instant that is a whole number of intervals behind local midnight."""
        local = millis + self.offset(millis)
        midnight = local - local % MILLIS_PER_DAY
        return millis + (midnight + ((local - midnight) // interval_ms + 1) * interval_ms - local)
