"""A task: one sub-topology and partition (or, in the test driver, a whole topology) ready to process records."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import penstock.interpreter.operators  # noqa: F401 - registers all builders
from penstock.errors import StreamsError
from penstock.handlers import DeadLetter, Origin
from penstock.interpreter.compiler import Compiler
from penstock.interpreter.config import TaskConfig
from penstock.interpreter.context import TaskContext, wall_clock_ms
from penstock.interpreter.guards import Guards, TaskFailed
from penstock.interpreter.punctuation import Cancellable, Schedule
from penstock.interpreter.sink import Collector, build_column_sink, build_raw_sink, build_sink
from penstock.interpreter.source import SourcePartition
from penstock.interpreter.timestamps import resolve_extractor
from penstock.interpreter.tracing import failing_node
from penstock.records import Record
from penstock.state.bytes_store import BytesStore
from penstock.state.caching import Caching
from penstock.topology.nodes import ProcessorNode, SinkNode, SourceNode
from penstock.topology.operators import Edge
from penstock.topology.topics import source_of
from penstock.topology.topology import Topology

log = logging.getLogger("penstock.task")

# Rows that caches hold before they are flushed in the middle of a batch: some 50 MB. Where so many keys come in one batch
# there is little to merge, and what is flushed goes out while the next records are processed.
MAX_HELD = 100_000
_KEPT_INTERVAL_MS = 60_000


class Services:
    """What processors share in a task: schedules, the commit request, and themselves."""

    def __init__(self, run: Callable[[Cancellable, int], None]) -> None:
        self.stream_schedule = Schedule(run)
        self.wall_schedule = Schedule(run)
        self.commit_requested = False
        self.processors: list[tuple[str, Any, Any]] = []
        self.after_flush: list[Callable[[], None]] = []  # what is held back until a batch ends
        self.held: list[Callable[[], int]] = []  # how many records that is


class StoreHome:
    """What stores are built with: bytes below, defaults, and the task they belong to."""

    def __init__(
        self, bytes_store: Callable[[str], BytesStore], context: TaskContext, config: TaskConfig, *, caching: bool
    ) -> None:
        self.bytes_store = bytes_store
        self.context = context
        self.caching = caching
        self.default_key_serde = config.default_key_serde
        self.default_value_serde = config.default_value_serde
        self._application_id = config.application_id

    def drop(self, reason: str) -> Callable[[], None]:
        """A function that counts a record that a store refused."""
        return self.context.dropper("store", reason)

    def changelog_topic(self, store: str) -> str:
        """Name of a store's changelog topic."""
        return f"{self._application_id}-{store}-changelog"


class Task:
    """A compiled sub-topology with its stores.

    Args:
        topology: The whole topology.
        nodes: Names of this task's nodes; None for all of them.
        task_id: `<sub-topology>_<partition>`.
        config: The application's settings, as a task needs them.
        collector: Takes what the sinks write.
        bytes_store: Gives the ordered bytes map of a store.
        global_stores: Stores that every task reads, kept up to date elsewhere.
        metadata: What the last commit kept (`commit_metadata`).
        system_time: The wall clock.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        config: TaskConfig,
        collector: Collector,
        bytes_store: Callable[[str], BytesStore],
        nodes: Iterable[str] | None = None,
        task_id: str = "0_0",
        global_stores: Mapping[str, Any] | None = None,
        metadata: Mapping[str, int] | None = None,
        system_time: Callable[[], int] = wall_clock_ms,
    ) -> None:
        self.topology = topology
        self.config = config
        self.context = TaskContext(config.application_id, task_id, system_time)
        self.context.restore(metadata or {})
        self._names = list(topology.nodes if nodes is None else nodes)
        self._collector = collector
        self._guards = Guards(config, self.context, self._send_dead_letter)
        self.services = Services(self._punctuate)
        self.stores = self._build_stores(bytes_store)
        self._compiler = Compiler(
            topology,
            self.context,
            config,
            {**(global_stores or {}), **self.stores},
            self._build_sink,
            self.services,
            self._guards.guard if self._guards.guards_nodes else None,
            lambda node, store: build_raw_sink(node, config, collector, store),
            lambda node: build_column_sink(node, self.context, config, collector, self._build_sink(node)),
        )
        self._sources = {n: s for n in self._names if isinstance(s := topology.nodes[n], SourceNode)}
        self._by_topic = {config.topic(t, internal=s.internal): s for s in self._sources.values() for t in s.topics}
        self._forwards = {n: self._compiler.forward_to(n, Edge.STREAM) for n in self._sources}
        self._partitions: dict[tuple[str, int], SourcePartition] = {}
        self._caches = [store for store in self.stores.values() if isinstance(store, Caching)]
        self._init_processors()

    def _build_stores(self, bytes_store: Callable[[str], BytesStore]) -> dict[str, Any]:
        used = dict.fromkeys(
            store
            for name in self._names
            if isinstance(node := self.topology.nodes[name], ProcessorNode)
            for store in node.stores
        )
        home = StoreHome(bytes_store, self.context, self.config, caching=self.config.caching)
        return {name: self.topology.stores[name].build(home) for name in used}

    def _build_sink(self, node: SinkNode) -> Callable[..., None]:
        return build_sink(node, self.context, self.config, self._collector, self._guards)

    def _init_processors(self) -> None:
        order = {name: i for i, name in enumerate(self.topology.nodes)}
        self.services.processors.sort(key=lambda entry: order.get(entry[0], 0))
        self.context.clear_record()
        for name, processor, context in self.services.processors:
            init = getattr(processor, "init", None)
            if init is not None:
                try:
                    init(context)
                except Exception as error:
                    raise self.failed(error, name) from error
        self.services.stream_schedule.name_no_more()
        self.services.wall_schedule.name_no_more()

    def source(self, topic: str, partition: int) -> SourcePartition:
        """The entry for records of a topic partition. Pattern sources take any topic that matches."""
        found = self._partitions.get((topic, partition))
        if found is None:
            found = self._partitions[topic, partition] = self._open(topic, partition)
        return found

    def _open(self, topic: str, partition: int) -> SourcePartition:
        node = self._by_topic.get(topic) or source_of(self.topology, topic)
        if node is None or node.name not in self._forwards:
            known = ", ".join(sorted(self._by_topic)) or "none"
            raise StreamsError(
                f"task {self.context.task_id} got a record of topic {topic!r}, which it does not read",
                hint=f"Its topics: {known}.",
            )
        extractor = (
            node.timestamp_extractor if node.timestamp_extractor is not None else self.config.timestamp_extractor
        )
        return SourcePartition(
            node=node.name,
            topic=topic,
            partition=partition,
            key_serde=self.config.key_serde(node.key_serde, f"source {node.name}"),
            value_serde=self.config.value_serde(node.value_serde, f"source {node.name}"),
            extract=resolve_extractor(None if node.internal else extractor, self.context),
            partition_time=self.context.saved(f"partition time {topic}-{partition}", -1),
            context=self.context,
            guards=self._guards,
            forward=self._forwards[node.name],
            after=self.services.stream_schedule,
            loop=self._compiler.loop_below(node.name),
        )

    def failed(self, error: BaseException, node: str | None = None) -> TaskFailed:
        """The error that ends the task, saying where and why; give it whatever escaped from processing."""
        return error if isinstance(error, TaskFailed) else self._guards.failure(error, node)

    def refused(self, topic: str, record: Record[Any, Any], error: Exception) -> None:
        """Kafka does not take an output; returns if the production handler says to go on without it.

        The record that it was made of is not known any more: outputs go out in chunks.
        """
        sinks = (n for n in self._names if isinstance(s := self.topology.nodes[n], SinkNode) and self._writes(s, topic))
        sink = next(sinks, None)
        if sink is None:
            raise error  # a changelog, or the dead letter topic
        with self.context.without_record():
            if not self._guards.production_failed(sink, record, error, Origin.SEND):
                raise self._guards.failure(error, sink) from error  # to send the same again cannot help
        self.context.dropped["production error"] = self.context.dropped.get("production error", 0) + 1

    def _writes(self, sink: SinkNode, topic: str) -> bool:
        return not isinstance(sink.topic, str) or self.config.topic(sink.topic, internal=sink.internal) == topic

    def _send_dead_letter(self, letter: DeadLetter) -> None:
        self._collector.send(letter.topic, letter.key, letter.value, letter.timestamp, letter.headers, None)

    def _punctuate(self, entry: Cancellable, now: int) -> None:
        context = self.context
        context.clear_record()
        context.timestamp = max(now, 0)
        try:
            entry.callback(now)
        except TaskFailed:
            raise
        except Exception as error:
            if not self._guards.guards_nodes:
                raise self.failed(error, entry.node) from error
            self._guards.processing_failed(entry.node, Record(None, None, max(now, 0)), error)

    def punctuate_wall_clock(self) -> bool:
        """Run the wall-clock punctuators that are due; True if any ran."""
        now = self.context.system_time()
        return self.services.wall_schedule.fire(now) if self.services.wall_schedule.next_due <= now else False

    def flush(self) -> None:
        """Forward what the caches hold, in topological order, and hand all changes to the bytes stores."""
        store = None
        try:
            for store in self.stores.values():
                store.flush()
            store = None
            for release in self.services.after_flush:  # what came out of caches, too
                release()
        except TaskFailed:
            raise
        except Exception as error:
            raise self.failed(error, failing_node(error) or (store and self._user_of(store.name))) from error

    def relieve(self) -> None:
        """Flush if the caches hold much; to be called between records."""
        if sum(cache.held for cache in self._caches) + sum(held() for held in self.services.held) >= MAX_HELD:
            self.context.clear_record()
            self.flush()

    def _user_of(self, store: str) -> str | None:
        """The node that a store belongs to: where to look if the store cannot write a value."""
        for name in self._names:
            node = self.topology.nodes[name]
            if isinstance(node, ProcessorNode) and store in node.stores:
                return name
        return None

    def commit_metadata(self) -> dict[str, int]:
        """What must be kept with a commit beside offsets and stores."""
        return self.context.commit_metadata()

    def operator_clocks(self) -> dict[str, int]:
        """Stream times of the operators.

        Kafka Streams loses them when a task moves, and may then take a late record once. A host whose tasks move all the
        time keeps them, so that where a task runs never changes a result.
        """
        return self._compiler.clocks()

    def set_operator_clocks(self, clocks: Mapping[str, int]) -> None:
        """Continue with these operator stream times."""
        self._compiler.set_clocks(clocks)

    def due_times(self) -> dict[str, int]:
        """When punctuators are due.

        Kafka Streams begins anew when a task moves. A host whose tasks move all the time keeps them, so that long intervals
        come to their end. Short ones of the wall clock are not worth it: they would change all the time.
        """
        stream, wall = self.services.stream_schedule, self.services.wall_schedule
        kept = {f"stream {name}": due for name, due in stream.due_times().items()}
        return kept | {f"wall {n}": due for n, due in wall.due_times(at_least=_KEPT_INTERVAL_MS).items()}

    def set_due_times(self, due_times: Mapping[str, int]) -> None:
        """Continue with these due times; to be called before any record."""
        for clock, schedule in (("stream ", self.services.stream_schedule), ("wall ", self.services.wall_schedule)):
            schedule.go_on({n.removeprefix(clock): due for n, due in due_times.items() if n.startswith(clock)})

    def close(self) -> None:
        """Close processors and stores; every one gets its turn even if another fails."""
        first: BaseException | None = None
        for name, processor, context in self.services.processors:
            context.close()
            close = getattr(processor, "close", None)
            try:
                if close is not None:
                    close()
            except Exception as error:
                log.exception("processor %s failed to close", name)
                first = first or self.failed(error, name)
        for store in self.stores.values():
            store.close()
        if first is not None:
            raise first
