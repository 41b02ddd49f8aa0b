"""The nodes of a cluster, taken in turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

_ASIDE_SECONDS = 60.0


class Nodes:
    """Which node to ask next: each in turn, and one that did not answer only after a minute, or if none did.

    >>> nodes = Nodes(["http://a", "http://b"])
    >>> nodes.next(), nodes.next(), nodes.next()
    ('http://a', 'http://b', 'http://a')
    >>> nodes.failed("http://b")
    >>> nodes.next(), nodes.next()
    ('http://a', 'http://a')

    Args:
        urls: The nodes.
        now: The time in seconds.
    """

    def __init__(self, urls: Sequence[str], now: Callable[[], float] = time.monotonic) -> None:
        self._urls = [url.rstrip("/") for url in urls]
        self._now = now
        self._aside: dict[str, float] = {}
        self._turn = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._urls)

    def next(self) -> str:
        """The node to ask."""
        with self._lock:
            now, count = self._now(), len(self._urls)
            order = [self._urls[(self._turn + step) % count] for step in range(count)]
            # If all are aside, the one that has been so for longest.
            url = min(order, key=lambda url: max(0.0, self._aside.get(url, now) - now))
            self._turn = (self._urls.index(url) + 1) % count
            return url

    def failed(self, url: str) -> None:
        """This one did not answer."""
        with self._lock:
            self._aside[url] = self._now() + _ASIDE_SECONDS

    def answered(self, url: str) -> None:
        """This one did."""
        if url in self._aside:
            with self._lock:
                self._aside.pop(url, None)
