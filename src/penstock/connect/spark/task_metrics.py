"""What a task has done since its connector was started: records, and what was skipped and why."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from penstock.connect.spark.reports import Report

# A state may be a record in a topic, so that a busy connector does not tell of each batch.
_TELL_ERRORS_SECONDS, _TELL_SECONDS = 1.0, 10.0


class TaskMetrics:
    """Counts of one task; says when there is something to tell."""

    def __init__(self) -> None:
        self._records = 0
        self._dead_letters = 0
        self._retries = 0
        self._skipped: Counter[str] = Counter()
        self._last: dict[str, Any] = {}
        self._told_at: float | None = None
        self._has_news = False
        self._has_errors = False

    def add(self, report: Report) -> None:
        """A batch is done."""
        errors = report.get("errors") or {}
        self._records += report["records"]
        self._dead_letters += errors.get("dead_letters", 0)
        self._retries += errors.get("retries", 0)
        self._skipped.update(errors.get("skipped", {}))
        if report["records"]:
            self._last["last_record_timestamp"] = int(time.time() * 1000)
        if errors.get("last_error"):
            self._last |= {key: errors[key] for key in ("last_error", "last_error_timestamp")}
            self._has_errors = True
        self._has_news = self._has_news or bool(report["records"] or errors.get("last_error"))

    def news(self, now: float) -> dict[str, Any] | None:
        """What is to be told, if it is time to."""
        wait = _TELL_ERRORS_SECONDS if self._has_errors else _TELL_SECONDS
        if not self._has_news or (self._told_at is not None and now - self._told_at < wait):
            return None
        self._told_at, self._has_news, self._has_errors = now, False, False
        return self.shown()

    def shown(self) -> dict[str, Any]:
        """Everything, as the status of the task shows it."""
        return {
            "records": self._records,
            "skipped": dict(self._skipped),
            "dead_letters": self._dead_letters,
            "retries": self._retries,
            **self._last,
        }
