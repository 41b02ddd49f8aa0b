"""Calls from Spark's JVM into this process, also where it has many files open.

py4j waits for them by `select`, which knows no file numbers above 1,023: a listener that gets a higher one ends without
a word, and a query waits for its batches for ever. A Connect worker of a few hundred connectors has as many open, and its
listener is a new one whenever its JVM died.
"""

from __future__ import annotations

import select
import selectors
from typing import Any

from py4j import java_gateway


class _Unlimited:
    """Stands for the module `select` in py4j."""

    error = select.error

    @staticmethod
    def select(readers: list[Any], writers: list[Any], failing: list[Any], timeout: float | None = None) -> Any:
        """As `select.select`; py4j asks for readers only."""
        if writers or failing:
            return select.select(readers, writers, failing, timeout)
        with selectors.DefaultSelector() as selector:
            for reader in readers:
                selector.register(reader, selectors.EVENT_READ)
            return [key.fileobj for key, _ in selector.select(timeout)], [], []


def take_calls_on_any_file() -> None:
    """Let the listeners that py4j opens from now on have any file number."""
    java_gateway.select = _Unlimited
