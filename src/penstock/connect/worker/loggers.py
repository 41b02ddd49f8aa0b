"""Levels of loggers, under the names and levels of Kafka's REST API."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from penstock.connect.errors import NotFoundError

ROOT = "root"
TRACE = 5
LEVELS = {
    "OFF": logging.CRITICAL + 10,
    "FATAL": logging.CRITICAL,
    "CRITICAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "WARNING": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": TRACE,
    "ALL": 1,
}
_NAMES = {
    LEVELS["OFF"]: "OFF",
    logging.CRITICAL: "FATAL",
    logging.ERROR: "ERROR",
    logging.WARNING: "WARN",
    logging.INFO: "INFO",
    logging.DEBUG: "DEBUG",
    TRACE: "TRACE",
    1: "ALL",
}


class Loggers:
    """The loggers of this process, and when requests changed them."""

    def __init__(self) -> None:
        self._modified: dict[str, int] = {}
        self._lock = threading.Lock()

    def levels(self) -> dict[str, dict[str, Any]]:
        """All loggers with a level of their own, by name."""
        names = [name for name in _existing() if logging.getLogger(name).level != logging.NOTSET]
        return {name: self._shown(name) for name in sorted([*names, ROOT])}

    def level(self, name: str) -> dict[str, Any]:
        """The level a logger has, its own or that of one above.

        Raises:
            NotFoundError: There is no such logger.
        """
        if name != ROOT and name not in _existing():
            raise NotFoundError(f"Logger {name} not found.")
        return self._shown(name)

    def set_level(self, name: str, level: str) -> list[str]:
        """Changes a logger and those below it; the ones that had another level.

        Raises:
            NotFoundError: There is no such level.
        """
        value = LEVELS.get(level.upper())
        if value is None:
            raise NotFoundError(f"invalid log level '{level}'.")
        below = [ROOT] if name == ROOT else [one for one in _existing() if one.startswith(f"{name}.")]
        with self._lock:
            changed = [one for one in {name, *below} if _logger(one).level != value]
            for one in changed:
                _logger(one).setLevel(value)
                self._modified[one] = int(time.time() * 1000)
        return sorted(changed)

    def _shown(self, name: str) -> dict[str, Any]:
        level = _logger(name).getEffectiveLevel()
        shown = _NAMES.get(level, logging.getLevelName(level))
        return {"level": shown, "last_modified": self._modified.get(name)}


def _logger(name: str) -> logging.Logger:
    return logging.getLogger() if name == ROOT else logging.getLogger(name)


def _existing() -> list[str]:
    return [name for name, logger in logging.root.manager.loggerDict.items() if isinstance(logger, logging.Logger)]
