"""Errors without secrets, for answers to requests."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.connect.config.secrets import Secrets
from penstock.connect.errors import ConnectError
from penstock.errors import PenstockError

log = logging.getLogger("penstock.connect.worker")


@contextmanager
def redacted_errors(secrets: Secrets) -> Iterator[None]:
    """What is raised in the block tells no secrets.

    Raises:
        ConnectError: In place of an error that nobody foresaw; the log has its trace.
    """
    try:
        yield
    except TimeoutError:
        raise  # says nothing, and callers know it
    except PenstockError as error:
        error.message, error.hint = secrets.redact(error.message), secrets.redact(error.hint)
        error.args = (error.message,)
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - connector code
        trace = "".join(traceback.format_exception(error))
        log.error("Connector code failed in a request: %s", secrets.redact(trace).rstrip())  # noqa: TRY400 - redacted
        raise ConnectError(secrets.redact(f"{type(error).__name__}: {error}")) from None
