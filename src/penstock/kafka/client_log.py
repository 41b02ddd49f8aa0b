"""The client library's log, in Python's logging under `penstock.kafka.client`, each complaint once a minute.

While a broker is away the library repeats the same line twenty times a second.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable

logger = logging.getLogger("penstock.kafka.client")

REPEAT_SECONDS = 60.0
_CHANGING = re.compile(r"\d+ms\b|\bafter \d+|thrd:\S+|#\w+-\d+")
_REMEMBERED = 1_000


class NotRepeated(logging.Filter):
    """Lets a line pass if the same one, but for names and timings, has not passed within the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._passed: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        line = _CHANGING.sub("", record.getMessage())
        now = self._clock()
        before = self._passed.get(line)
        if before is not None and now - before < REPEAT_SECONDS:
            return False
        if len(self._passed) >= _REMEMBERED:
            self._passed.clear()
        self._passed[line] = now
        return True


logger.addFilter(NotRepeated())
# Silent unless the application configures logging, as a library should be.
logger.addHandler(logging.NullHandler())
