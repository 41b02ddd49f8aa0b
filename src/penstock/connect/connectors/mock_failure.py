"""What the mock connectors have in common: a failure after some time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType
from penstock.connect.config.validators import OneOf, Range
from penstock.connect.errors import ConnectError

CONNECTOR_FAILURE = "connector-failure"
TASK_FAILURE = "task-failure"
NO_FAILURE = ""

MOCK_CONFIG = ConfigDef(
    ConfigKey(
        name="mock_mode",
        default=NO_FAILURE,
        validator=OneOf(NO_FAILURE, CONNECTOR_FAILURE, TASK_FAILURE),
        doc="What fails: the connector, its tasks, or nothing.",
    ),
    ConfigKey(
        name="delay_ms",
        type=ConfigType.LONG,
        default=15_000,
        validator=Range(at_least=0),
        doc="Milliseconds from the start to the failure.",
    ),
)


class MockFailure:
    """A failure that is due some time after the start, if the configuration has the mode for it."""

    def __init__(self, config: Mapping[str, str], mode: str) -> None:
        settings = MOCK_CONFIG.parse(config)
        self._wanted = settings["mock_mode"] == mode
        self._seconds = settings["delay_ms"] / 1000
        self._due: float | None = None
        self._timer: threading.Timer | None = None

    def start(self, tell: Callable[[Exception], None] | None = None) -> None:
        """The time begins.

        Args:
            tell: Called with the failure when it is due; without it `check` raises it.
        """
        if self._wanted:
            self._due = time.monotonic() + self._seconds
            if tell is not None:
                self._timer = threading.Timer(self._seconds, tell, [self._error()])
                self._timer.daemon = True
                self._timer.start()

    def check(self) -> None:
        """Raises ConnectError if the failure is due."""
        if self._due is not None and time.monotonic() >= self._due:
            raise self._error()

    def stop(self) -> None:
        """It does not happen any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _error(self) -> ConnectError:
        return ConnectError("Testing failure: mock_mode asked for it")
