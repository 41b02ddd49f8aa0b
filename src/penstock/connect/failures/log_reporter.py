"""Failures in the log."""

from __future__ import annotations

import logging
import traceback

from penstock.connect.config.secrets import NO_SECRETS, Secrets
from penstock.connect.failures.report import ConsumedRecord, Failure
from penstock.connect.failures.settings import ErrorSettings

log = logging.getLogger("penstock.connect.errors")


class LogReporter:
    """Writes failures to the log, if `errors.log.enable` says so.

    Args:
        task: Connector and task: `sink-0`.
        settings: Whether to log, and whether to say which record failed.
        secrets: What must not be in the log.
    """

    def __init__(self, task: str, settings: ErrorSettings, *, secrets: Secrets = NO_SECRETS) -> None:
        self._task = task
        self._settings = settings
        self._secrets = secrets

    def report(self, failure: Failure) -> None:
        """Notes one failure."""
        if self._settings.log:
            # As text: tasks log to handlers that know nothing of secrets.
            trace = self._secrets.redact("".join(traceback.format_exception(failure.error)))
            log.error("%s\n%s", self._secrets.redact(self.message(failure)), trace.rstrip())

    def message(self, failure: Failure) -> str:
        """The line for a failure, as Kafka Connect writes it."""
        text = (
            f"Error encountered in task {self._task}. "
            f"Executing stage '{failure.stage.value}' with class '{failure.executing_class}'"
        )
        record = failure.record
        if self._settings.log_records and isinstance(record, ConsumedRecord):
            text += f", where consumed record is {record.describe()}"
        elif self._settings.log_records and record is not None:
            text += f", where source record is = {record!r}"
        return f"{text}."
