"""How Python's side of Spark ends when the JVM's side is gone before it."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


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


def stop_quietly(context: Any) -> None:
    """Say nothing of the connection for accumulators that the JVM closes.

    PySpark's server for them shows the end of its input as a failure, with a traceback: after Ctrl-C while Spark starts, for
    example, which interrupts the JVM's thread that writes there.

    Args:
        context: The SparkContext.
    """
    server = context._accumulatorServer  # noqa: SLF001 - there is no public way to it
    say = server.handle_error

    def handle_error(request: Any, address: Any) -> None:
        if not isinstance(sys.exc_info()[1], EOFError):
            say(request, address)

    server.handle_error = handle_error
