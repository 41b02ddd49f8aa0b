"""A host whose queries do what a test says, so that an application's life can be tested without Spark and Kafka."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock import StreamsBuilder
from penstock.errors import StreamsError
from penstock.runtime.application import KafkaStreams
from penstock.runtime.host import Progress
from penstock.runtime.supervisor import Patience


class Failed(StreamsError):
    def __init__(self, message: str, *, kind: str = "TaskFailed", transient: bool = False) -> None:
        self.kind = kind
        self.transient = transient
        super().__init__(message)


@dataclass
class End:
    failure: BaseException | None = None


@dataclass
class ABatch:
    number: int

    def as_dict(self) -> dict[str, Any]:
        return {"batch": self.number}


class ScriptedQuery:
    def __init__(self, *, paused: bool) -> None:
        self.paused = paused
        self.idle = True
        self.stopped = threading.Event()
        self.stop_fails: BaseException | None = None
        self.may_stop = threading.Event()
        self.may_stop.set()
        self._events: queue.Queue[End | ABatch] = queue.Queue()
        self._batches: list[ABatch] = []

    def happen(self, event: End | ABatch | BaseException) -> None:
        """Let the query end, fail, or finish a batch."""
        self._events.put(End(event) if isinstance(event, BaseException) else event)

    def poll(self, seconds: float) -> End | None:
        try:
            event = self._events.get(timeout=seconds)
        except queue.Empty:
            return End() if self.stopped.is_set() else None
        if isinstance(event, ABatch):
            self._batches.append(event)
            return None
        return event

    def stop(self) -> None:
        self.may_stop.wait(10)
        self.stopped.set()
        if self.stop_fails is not None:
            raise self.stop_fails

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def new_batches(self) -> list[ABatch]:
        new, self._batches = self._batches, []
        return new


@dataclass
class ScriptedHost:
    """`queries` has every query that was started; `refusals` are raised by the next starts, one each."""

    queries: queue.Queue[ScriptedQuery] = field(default_factory=queue.Queue)
    refusals: list[BaseException] = field(default_factory=list)
    prepared: threading.Event = field(default_factory=threading.Event)
    may_prepare: threading.Event = field(default_factory=threading.Event)
    changed: threading.Event = field(default_factory=threading.Event)
    closed: int = 0
    close_fails: BaseException | None = None
    tended: int = 0
    restore_listener: Any = None

    def tell_restores(self, listener: Any) -> None:
        self.restore_listener = listener

    def prepare(self, progress: Progress | None) -> None:
        if progress is not None:
            progress("starting Spark")
        self.prepared.set()
        self.may_prepare.wait(10)

    def start(self, *, paused: bool) -> ScriptedQuery:
        if self.refusals:
            raise self.refusals.pop(0)
        query = ScriptedQuery(paused=paused)
        self.queries.put(query)
        return query

    def topics_changed(self) -> bool:
        changed = self.changed.is_set()
        self.changed.clear()
        return changed

    def tend(self) -> None:
        self.tended += 1

    def metrics(self) -> Mapping[str, Any]:
        return {"batches-total": 7, "offsets": {"orders": {"0": 12}}}

    def close(self) -> None:
        self.closed += 1
        if self.close_fails is not None:
            raise self.close_fails

    def next_query(self) -> ScriptedQuery:
        return self.queries.get(timeout=10)


class ScriptedStreams(KafkaStreams):
    """An application on a scripted host, with no waits between restarts."""

    host: ScriptedHost

    def __init__(self, config: Mapping[str, Any] | None = None, /, **settings: Any) -> None:
        builder = StreamsBuilder()
        builder.stream("orders").to("copies")
        super().__init__(
            builder, {"application.id": "app", "bootstrap.servers": "nowhere:1", **(config or {})}, **settings
        )
        self._supervisor.POLL_SECONDS = 0.01
        self.states: list[str] = []
        self.set_state_listener(lambda new, old: self.states.append(new.value))

    def _open_host(self, spark: Any) -> ScriptedHost:
        self.host = ScriptedHost()
        self.host.may_prepare.set()
        return self.host

    def _patience(self) -> Patience:
        given = super()._patience()
        return Patience(transient_ms=given.transient_ms, attempts=given.attempts, first_wait=0.0, longest_wait=0.0)

    def started(self) -> ScriptedQuery:
        """Start, and return the first query."""
        self.start()
        return self.host.next_query()

    def reached(self, state: KafkaStreams.State) -> None:
        """Wait for a state."""
        deadline = threading.Event()
        for _ in range(1000):
            if self.state is state:
                return
            deadline.wait(0.01)
        raise AssertionError(f"{self.state} instead of {state}: {self.states}")
