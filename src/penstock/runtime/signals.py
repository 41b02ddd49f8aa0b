"""Ctrl-C and SIGTERM as an event, for as long as a program waits for them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """Set an event on SIGINT and SIGTERM instead of what they do otherwise.

    Handlers belong to the main thread: in another one nothing changes, and the event is never set.
    """
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    before: dict[signal.Signals, Any] = {
        number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
