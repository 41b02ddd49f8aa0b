"""Time, so that tests can have their own."""

from __future__ import annotations

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        ...

    def wait(self, millis: int) -> bool:
        """Waits.

        Returns:
            False if waiting was cut short because the task is to stop.
        """
        ...


class SystemClock:
    """The machine's clock. `stop` ends all waiting."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def wait(self, millis: int) -> bool:
        """Waits, unless the task is to stop."""
        return not self._stopped.wait(millis / 1000)

    def stop(self) -> None:
        """Ends waiting, now and later."""
        self._stopped.set()
