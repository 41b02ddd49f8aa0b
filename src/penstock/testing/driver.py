"""TopologyTestDriver: a topology run record by record in one process, with mock clocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from typing_extensions import Self

from penstock.durations import Duration, Instant, duration_ms, instant_ms
from penstock.errors import PenstockError
from penstock.interpreter.context import wall_clock_ms
from penstock.interpreter.global_tables import GlobalTables
from penstock.interpreter.sink import Collector
from penstock.interpreter.source import Prepared, SourcePartition
from penstock.interpreter.task import Task
from penstock.records import NO_HEADERS, Headers
from penstock.runtime.settings import Settings
from penstock.serde import resolve_serde
from penstock.state.bytes_store import BytesStore, MemoryBytesStore
from penstock.testing.stores import typed_store, untyped_store
from penstock.testing.topics import TestInputTopic, TestOutputTopic
from penstock.topology.topics import sink_of, source_of, source_topics
from penstock.topology.topology import Topology

_Output = tuple["bytes | None", "bytes | None", int, Headers]


# A topology that feeds itself may go on for ever; no test pipes a record that leads to so many others.
_ENDLESS = 100_000


class _Outputs(Collector):
    """Takes what the sinks write; a record is seen after the commit of the record that caused it."""

    def __init__(self) -> None:
        self.pending: list[tuple[str, bytes | None, bytes | None, int, Headers]] = []

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: Headers,
        partition: int | None,
    ) -> None:
        self.pending.append((topic, key, value, timestamp, headers))

    def partition_count(self, topic: str) -> int:
        return 1


class TopologyTestDriver:
    """Runs a topology as one task with one partition for each topic.

    `pipe_input` processes a record completely before it returns: caches are flushed after every record, repartition
    topics feed back at once, stream time moves with the records, and the wall clock only when you advance it.

    Args:
        topology: A Topology or a StreamsBuilder.
        config: Settings by Kafka's keys; `application.id` is optional here.
        wall_clock: Where the wall clock starts; now by default.
    """

    def __init__(
        self, topology: Any, config: Mapping[str, Any] | None = None, *, wall_clock: Instant | None = None
    ) -> None:
        self._settings = config if isinstance(config, Settings) else Settings(config)
        self._topology: Topology = topology if isinstance(topology, Topology) else topology.build(self._settings)
        self._now = wall_clock_ms() if wall_clock is None else instant_ms(wall_clock, "wall clock")
        self._bytes: dict[str, MemoryBytesStore] = {}
        self._outputs = _Outputs()
        self._written: dict[str, deque[_Output]] = {}
        self._offsets: dict[str, int] = {}
        self._queues: dict[str, deque[Prepared]] = {}
        self._deadlines: dict[str, int] = {}
        self._config = self._settings.task_config()
        self._closed = False
        self._start({})

    def _start(self, metadata: Mapping[str, int]) -> None:
        self._globals = GlobalTables(
            self._topology, config=self._config, bytes_store=self._bytes_store, system_time=self._clock
        )
        self._task = Task(
            self._topology,
            config=self._config,
            collector=self._outputs,
            bytes_store=self._bytes_store,
            global_stores=self._globals.stores,
            metadata=metadata,
            system_time=self._clock,
        )
        self._internal = {self._config.topic(t, internal=True) for t in self._topology.internal_topics}

    def _clock(self) -> int:
        return self._now

    def _bytes_store(self, name: str) -> BytesStore:
        return self._bytes.setdefault(name, MemoryBytesStore())

    def create_input_topic(
        self,
        name: str,
        key_serde: Any = None,
        value_serde: Any = None,
        *,
        start: Instant | None = None,
        auto_advance: Duration = 0,
    ) -> TestInputTopic:
        """A topic to pipe records into. Serdes default to those of the topology's source."""
        node = source_of(self._topology, name) or self._global_source(name)
        if node is None:
            known = sorted({*source_topics(self._topology), *self._globals.topics})
            raise PenstockError(
                f"the topology reads no topic {name!r}", hint=f"It reads: {', '.join(known) or 'none'}."
            )
        key = resolve_serde(key_serde) if key_serde is not None else self._config.key_serde(node.key_serde, name)
        value = (
            resolve_serde(value_serde) if value_serde is not None else self._config.value_serde(node.value_serde, name)
        )
        at = self._now if start is None else instant_ms(start, "start")
        return TestInputTopic(self, name, key, value, at, duration_ms(auto_advance, "auto_advance"))

    def _global_source(self, topic: str) -> Any:
        for node in self._topology.global_stores.values():
            if topic in node.source.topics:
                return node.source
        return None

    def create_output_topic(self, name: str, key_serde: Any = None, value_serde: Any = None) -> TestOutputTopic:
        """A topic to read results from. Serdes default to those of the topology's sink."""
        sink = sink_of(self._topology, name)
        key, value = (key_serde, value_serde)
        if key is None:
            key = sink.key_serde if sink is not None else None
        if value is None:
            value = sink.value_serde if sink is not None else None
        where = f"output topic {name}"
        return TestOutputTopic(self, name, self._config.key_serde(key, where), self._config.value_serde(value, where))

    def pipe(
        self, topic: str, key: bytes | None, value: bytes | None, timestamp: int, headers: Headers = NO_HEADERS
    ) -> None:
        """Pipe raw bytes into a topic and run until nothing is left to do."""
        if self._closed:
            raise PenstockError("the test driver is closed", hint="Pipe records inside the with block.")
        self._enqueue(topic, key, value, timestamp, headers)
        self._run()

    def _enqueue(self, topic: str, key: bytes | None, value: bytes | None, timestamp: int, headers: Headers) -> None:
        offset = self._offsets.get(topic, 0)
        self._offsets[topic] = offset + 1
        if topic in self._globals.topics:
            self._globals.update(topic, 0, offset, timestamp, key, value, headers)
            return
        try:
            prepared = self._source(topic).prepare(offset, timestamp, key, value, headers)
        except Exception as error:
            raise self._task.failed(error) from error
        if prepared is not None:
            self._queues.setdefault(topic, deque()).append(prepared)

    def _source(self, topic: str) -> SourcePartition:
        return self._task.source(topic, 0)

    def _run(self) -> None:
        """Take the record with the smallest timestamp, process it, commit, feed back, until nothing is processable."""
        topic: str | None = None
        for _ in range(_ENDLESS):
            # Outputs of a tick or a failed record also count.
            self._capture()
            topic = self._next_topic()
            if topic is None:
                return
            record = self._queues[topic].popleft()
            try:
                self._source(topic).process(record)
            except Exception as error:
                self._capture()
                raise self._task.failed(error) from error
            self._task.flush()
        raise PenstockError(
            f"one record has led to {_ENDLESS} others, the last in topic {topic}",
            hint="Does the topology write to a topic that it reads? Then it must stop at some point.",
        )

    def _next_topic(self) -> str | None:
        heads = [(queue[0].timestamp, topic) for topic, queue in self._queues.items() if queue]
        if not heads or not self._processable():
            return None
        return min(heads)[1]

    def _processable(self) -> bool:
        idle = self._config.max_task_idle_ms
        if idle <= 0:
            return True
        # Each empty input has until its deadline to bring a record; then the task goes on without it.
        ready = True
        for topic in (*source_topics(self._topology), *self._internal):
            if self._queues.get(topic):
                self._deadlines.pop(topic, None)
            elif self._now < self._deadlines.setdefault(topic, self._now + idle):
                ready = False
        return ready

    def _capture(self) -> None:
        pending, self._outputs.pending = self._outputs.pending, []
        for topic, key, value, timestamp, headers in pending:
            self._written.setdefault(topic, deque()).append((key, value, timestamp, headers))
            if topic in self._internal or topic in self._globals.topics or source_of(self._topology, topic) is not None:
                self._enqueue(topic, key, value, timestamp, headers)

    def outputs(self, topic: str) -> deque[_Output]:
        """What waits to be read from a topic."""
        return self._written.get(topic, deque())

    def advance_wall_clock_time(self, by: Duration) -> None:
        """Move the wall clock, run the wall-clock punctuators that are due, and commit."""
        self._now += duration_ms(by, "advance")
        try:
            self._task.punctuate_wall_clock()
        finally:
            self._task.flush()
            self._run()

    @property
    def produced_topic_names(self) -> set[str]:
        """All topics that were written to, internal ones included."""
        return set(self._written)

    @property
    def dropped_records(self) -> int:
        """Dropped records as Kafka counts them; `metrics` has them by reason."""
        return self._task.context.dropped_total + self._globals.context.dropped_total

    @property
    def metrics(self) -> Mapping[str, int]:
        """Dropped records by reason, and the total."""
        total = {"dropped-records-total": self.dropped_records}
        return {**self._globals.context.dropped, **self._task.context.dropped, **total}

    def get_state_store(self, name: str) -> Any:
        """A custom store; built-in kinds have getters of their own."""
        return untyped_store(self._store(name), name)

    def get_all_state_stores(self) -> dict[str, Any]:
        """All stores by name."""
        return {**self._globals.stores, **self._task.stores}

    def get_key_value_store(self, name: str) -> Any:
        """A key-value store (timestamps of table stores are left out), or None."""
        return typed_store(self._store(name), "key_value")

    def get_timestamped_key_value_store(self, name: str) -> Any:
        """A key-value store with timestamps, or None."""
        return typed_store(self._store(name), "timestamped_key_value")

    def get_versioned_key_value_store(self, name: str) -> Any:
        """A versioned store, or None."""
        return typed_store(self._store(name), "versioned")

    def get_window_store(self, name: str) -> Any:
        """A window store (timestamps of table stores are left out), or None."""
        return typed_store(self._store(name), "window")

    def get_timestamped_window_store(self, name: str) -> Any:
        """A window store with timestamps, or None."""
        return typed_store(self._store(name), "timestamped_window")

    def get_session_store(self, name: str) -> Any:
        """A session store, or None."""
        return typed_store(self._store(name), "session")

    def _store(self, name: str) -> Any:
        return self.get_all_state_stores().get(name)

    def restart(self) -> None:
        """Stop the task and start a new one over the same state, as after a restart of the application."""
        self._task.flush()
        self._capture()
        metadata = self._task.commit_metadata()
        self._task.close()
        self._globals.close()
        self._start(metadata)

    def close(self) -> None:
        """Close processors and stores, and forget the state."""
        if not self._closed:
            self._closed = True
            try:
                self._task.close()
            finally:
                self._globals.close()
                self._bytes.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
