"""Restarts of connectors that failed, for those who want them: `errors.restart.max.attempts`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from penstock.connect.config import ConfigDef
from penstock.connect.errors import ConfigError
from penstock.connect.validation.connector_keys import ERROR_KEYS, RESTART_ATTEMPTS, RESTART_DELAY

_LONGEST_DELAY_MS = 600_000
_KEYS = ConfigDef(*(key for key in ERROR_KEYS if key.name in {RESTART_ATTEMPTS, RESTART_DELAY}))


@dataclass(slots=True)
class _Attempts:
    """How often a connector was restarted since somebody last looked after it."""

    made: int = 0
    timer: threading.Timer | None = None


class AutoRestart:
    """Restarts connectors after a while, each time after twice as long.

    Args:
        restart: Restarts a connector.
    """

    def __init__(self, restart: Callable[[str], object]) -> None:
        self._restart = restart
        self._attempts: dict[str, _Attempts] = {}
        self._lock = threading.Lock()

    def failed(self, name: str, settings: Mapping[str, str | None]) -> str:
        """A connector, or one of its tasks, failed.

        Returns:
            What becomes of it, for its status; empty if somebody has to look after it.
        """
        try:
            parsed = _KEYS.parse({key: value for key, value in settings.items() if value is not None})
        except ConfigError:
            return ""  # a reference that could not be looked up: that is why it failed, and it must be told
        allowed, delay_ms = parsed[RESTART_ATTEMPTS], parsed[RESTART_DELAY]
        with self._lock:
            attempts = self._attempts.setdefault(name, _Attempts())
            if attempts.timer is None:
                if allowed != -1 and attempts.made >= allowed:
                    return f"\nIt was restarted {attempts.made} times without success." if allowed else ""
                delay = min(delay_ms * 2**attempts.made, _LONGEST_DELAY_MS) / 1000
                attempts.made += 1
                attempts.timer = threading.Timer(delay, self._run, (name,))
                attempts.timer.daemon = True
                attempts.timer.start()
            of = "" if allowed == -1 else f" of {allowed}"
            return f"\nIt is restarted after {attempts.timer.interval:g} seconds: attempt {attempts.made}{of}."

    def forget(self, name: str) -> None:
        """Somebody looks after the connector: what was planned is off, and attempts are counted anew."""
        with self._lock:
            attempts = self._attempts.pop(name, None)
        if attempts is not None and attempts.timer is not None:
            attempts.timer.cancel()

    def _run(self, name: str) -> None:
        with self._lock:
            attempts = self._attempts.get(name)
            if attempts is None:
                return
            attempts.timer = None
        self._restart(name)
