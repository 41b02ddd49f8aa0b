"""Logs without secrets, whoever writes them."""

from __future__ import annotations

import logging
from collections.abc import Callable

from penstock.connect.config.secrets import Secrets


class RedactedLog(logging.Filter):
    """A filter for handlers: secrets are blanked out in messages and tracebacks.

    Args:
        secrets: What is secret at the moment; connectors come and go.
    """

    def __init__(self, secrets: Callable[[], Secrets]) -> None:
        super().__init__()
        self._secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        secrets = self._secrets()
        message = record.getMessage()
        redacted = secrets.redact(message)
        if redacted != message:
            record.msg, record.args = redacted, ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = secrets.redact(record.exc_text)
        return True
