"""How Spark's Python processes end when the JVM is gone before them."""

from __future__ import annotations

import sys
from types import TracebackType


def end_quietly() -> None:
    """Say nothing of a connection that broke off because Spark has ended.

    Spark's runner of a data source finds the end of its input, tries to report that as a failure to the JVM, which is gone,
    and dies with three tracebacks on the terminal of a user who has pressed Ctrl-C.
    """
    say = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not isinstance(error, (BrokenPipeError, ConnectionResetError)):
            say(kind, error, trace)

    sys.excepthook = hook
