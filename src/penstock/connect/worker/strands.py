"""Work of connectors: in order for one connector, side by side for different ones.

A connector that hangs holds up its own work only. A thread exists as long as its connector has something to do.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Strands:
    """One queue of work for each name."""

    def __init__(self) -> None:
        self._queues: dict[str, deque[tuple[Callable[[], Any], Future[Any]]]] = {}
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)

    def submit(self, name: str, work: Callable[[], T]) -> Future[T]:
        """Runs some work when everything that was submitted under the same name before is done."""
        future: Future[T] = Future()
        with self._lock:
            queue = self._queues.get(name)
            if queue is not None:
                queue.append((work, future))
                return future
            self._queues[name] = deque([(work, future)])
        threading.Thread(target=self._run, args=(name,), name=f"connector-{name}", daemon=True).start()
        return future

    def wait(self, timeout: float) -> list[str]:
        """Waits until nothing is left to do; the names that still have work after the timeout."""
        with self._idle:
            self._idle.wait_for(lambda: not self._queues, timeout)
            return sorted(self._queues)

    def _run(self, name: str) -> None:
        while True:
            with self._lock:
                queue = self._queues[name]
                if not queue:
                    del self._queues[name]
                    self._idle.notify_all()
                    return
                work, future = queue.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - whoever waits for the future gets it
                future.set_exception(error)
