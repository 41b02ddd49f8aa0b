"""The states of an application, and which may follow which."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from enum import Enum

from penstock.errors import StreamsError

log = logging.getLogger("penstock.application")


class StreamsState(Enum):
    """Where an application is in its life."""

    CREATED = "CREATED"
    REBALANCING = "REBALANCING"
    RUNNING = "RUNNING"
    PENDING_SHUTDOWN = "PENDING_SHUTDOWN"
    NOT_RUNNING = "NOT_RUNNING"
    PENDING_ERROR = "PENDING_ERROR"
    ERROR = "ERROR"

    @property
    def is_running_or_rebalancing(self) -> bool:
        """Whether it was started and does not end."""
        return self in {StreamsState.RUNNING, StreamsState.REBALANCING}

    @property
    def is_final(self) -> bool:
        """Whether nothing can follow: a new application object is needed."""
        return not NEXT[self]


NEXT = {
    StreamsState.CREATED: {StreamsState.REBALANCING, StreamsState.PENDING_SHUTDOWN},
    StreamsState.REBALANCING: {StreamsState.RUNNING, StreamsState.PENDING_SHUTDOWN, StreamsState.PENDING_ERROR},
    StreamsState.RUNNING: {StreamsState.REBALANCING, StreamsState.PENDING_SHUTDOWN, StreamsState.PENDING_ERROR},
    StreamsState.PENDING_SHUTDOWN: {StreamsState.NOT_RUNNING},
    StreamsState.PENDING_ERROR: {StreamsState.ERROR},
    StreamsState.NOT_RUNNING: set(),
    StreamsState.ERROR: set(),
}

StateListener = Callable[[StreamsState, StreamsState], None]


class Lifecycle:
    """The state of one application. Threads may ask and move it; the listener hears of every change, in order."""

    def __init__(self, application_id: str) -> None:
        self._application_id = application_id
        self._lock = threading.Lock()
        self._state = StreamsState.CREATED
        self._listener: StateListener | None = None
        self._untold: deque[tuple[StreamsState, StreamsState]] = deque()
        self._telling = False
        self.ended = threading.Event()

    @property
    def state(self) -> StreamsState:
        """Where it is."""
        return self._state

    def listen(self, listener: StateListener | None) -> None:
        """Tell `listener(new, old)` every change."""
        self.require_created("a state listener")
        self._listener = listener

    def require_created(self, what: str) -> None:
        """Refuse what can only be set before the start."""
        if self._state is not StreamsState.CREATED:
            raise StreamsError(
                f"{what} can only be set before start(); the application {self._application_id} is {self._state.value}",
                hint="Set it right after the KafkaStreams object is made.",
            )

    def begin(self) -> bool:
        """Start: once, and only if it was not closed before."""
        return self._move(StreamsState.REBALANCING, {StreamsState.CREATED})

    def move(self, new: StreamsState) -> bool:
        """Go to a state, if that is allowed from where it is."""
        return self._move(new, set(StreamsState))

    def _move(self, new: StreamsState, among: set[StreamsState]) -> bool:
        with self._lock:
            old = self._state
            if new not in NEXT[old] or old not in among:
                return False
            self._state = new
            self._untold.append((new, old))
        log.info("%s: %s -> %s", self._application_id, old.value, new.value)
        self._tell()
        if new.is_final:
            self.ended.set()
        return True

    def _tell(self) -> None:
        """Call the listener outside the lock, so that it may do anything, `close` included; one call at a time."""
        while True:
            with self._lock:
                if self._telling or not self._untold:
                    return
                self._telling = True
                new, old = self._untold.popleft()
            try:
                if self._listener is not None:
                    self._listener(new, old)
            except Exception:
                log.exception("the state listener of %s failed", self._application_id)
            finally:
                with self._lock:
                    self._telling = False
