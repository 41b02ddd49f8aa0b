"""What happens after an error that no other handler took."""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum
from typing import Any

log = logging.getLogger("penstock.application")


class StreamThreadExceptionResponse(Enum):
    """The answer of an uncaught exception handler. The application is one query, so the last two mean the same here."""

    REPLACE_THREAD = "REPLACE_THREAD"
    SHUTDOWN_CLIENT = "SHUTDOWN_CLIENT"
    SHUTDOWN_APPLICATION = "SHUTDOWN_APPLICATION"


UncaughtHandler = Callable[[BaseException], Any]


def ask(handler: UncaughtHandler | None, failure: BaseException) -> StreamThreadExceptionResponse:
    """The handler's answer; whatever is no answer ends the application, as no handler does."""
    if handler is None:
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT
    try:
        answer = handler(failure)
    except Exception:
        log.exception("the uncaught exception handler failed")
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT
    try:
        return StreamThreadExceptionResponse(getattr(answer, "value", answer))
    except ValueError:
        names = ", ".join(response.value for response in StreamThreadExceptionResponse)
        log.error("the uncaught exception handler answered %r, which is none of %s", answer, names)  # noqa: TRY400
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT
