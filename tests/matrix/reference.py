"""What Spark must give: a test driver for each task, fed by hand as the semantics say.

A task is a sub-topology and a partition. It takes the records of its partitions by head timestamp, equal ones by (topic,
partition); what it writes to a repartition topic goes to the task of the key's partition, merged there in the same way.
Spark may cut the input into any batches, so the batches it made are an input here.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from penstock import Topology, TopologyTestDriver
from penstock.interpreter.global_tables import GlobalTables
from penstock.interpreter.source import SourcePartition
from penstock.interpreter.task import Task
from penstock.kafka.murmur2 import partition_for
from penstock.records import Headers
from penstock.spark.layout import Layout, Pass, lay_out
from penstock.testing.driver import _Outputs
from penstock.topology.subtopologies import Subtopology

Partition = tuple[str, int]


class Record(NamedTuple):
    """A record of a topic."""

    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: tuple[tuple[str, bytes | None], ...] = ()


class Written(NamedTuple):
    """A record that a task wrote, and where to."""

    topic: str
    partition: int
    record: Record


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch: how far each partition was read, by when, and whether wall-clock punctuation was due."""

    ends: Mapping[Partition, int]
    globals_to: Mapping[Partition, int] = field(default_factory=dict)
    clock: int = 0
    tick: bool = False


class _Sent(_Outputs):
    """Takes what a task writes, with the partition it chose."""

    def __init__(self, partitions: Mapping[str, int], internal: Collection[str]) -> None:
        super().__init__()
        self._partitions = partitions
        self._internal = internal
        self._without_key = itertools.count()
        self.written: list[Written] = []

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: Headers,
        partition: int | None,
    ) -> None:
        if partition is None:
            partition = self._by_key(topic, key)
        self.written.append(Written(topic, partition, Record(key, value, timestamp, tuple(headers))))

    def _by_key(self, topic: str, key: bytes | None) -> int:
        if key is not None:
            return partition_for(key, self._partitions[topic])
        # Any partition would do. Between tasks they take turns; of a user's topic the client library chooses one.
        return next(self._without_key) % self._partitions[topic] if topic in self._internal else -1

    def partition_count(self, topic: str) -> int:
        return self._partitions[topic]

    def take(self) -> list[Written]:
        written, self.written = self.written, []
        self._without_key = itertools.count()
        return written


class TaskDriver(TopologyTestDriver):
    """The test driver for one task: a sub-topology, and what it sends to others stays outside."""

    def __init__(
        self,
        topology: Topology,
        subtopology: Subtopology,
        partition: int,
        sent: _Sent,
        *,
        config: Mapping[str, Any],
        clock: int,
    ) -> None:
        self.sent = sent
        self._id = f"{subtopology.id}_{partition}"
        self._partition = partition
        super().__init__(_part(topology, subtopology), config, wall_clock=clock)

    def _start(self, metadata: Mapping[str, int]) -> None:
        self._outputs = self.sent
        self._internal: set[str] = set()
        self._globals = GlobalTables(
            self._topology, config=self._config, bytes_store=self._bytes_store, system_time=self._clock
        )
        self._task = Task(
            self._topology,
            config=self._config,
            collector=self.sent,
            bytes_store=self._bytes_store,
            task_id=self._id,
            global_stores=self._globals.stores,
            metadata=metadata,
            system_time=self._clock,
        )

    def _source(self, topic: str) -> SourcePartition:
        return self._task.source(topic, self._partition)

    def set_clock(self, now: int) -> None:
        """Move the wall clock without punctuation: Spark runs that after the records of a batch."""
        self._now = now

    def take(self) -> list[Written]:
        """What a pass wrote; in each of them records without a key take turns anew."""
        return self.sent.take()


def _part(topology: Topology, subtopology: Subtopology) -> Topology:
    part = Topology()
    part.nodes = {name: topology.nodes[name] for name in subtopology.nodes}
    part.stores = {name: topology.stores[name] for name in subtopology.stores}
    part.global_stores = topology.global_stores
    part.added = list(subtopology.nodes)
    return part


class Reference:
    """Runs all tasks of a topology.

    Args:
        topology: The topology.
        partitions: Partition counts of the users' topics.
        config: Settings; `application.id` among them.
    """

    def __init__(self, topology: Topology, partitions: Mapping[str, int], config: Mapping[str, Any]) -> None:
        self._topology = topology
        self._config = config
        self._layout: Layout = lay_out(topology, partitions)
        prefix = f"{config['application.id']}-"
        self._internal = {topic: f"{prefix}{topic}" for topic in topology.internal_topics}
        self._partitions = {**partitions, **{self._internal.get(t, t): n for t, n in self._layout.partitions.items()}}
        self._tasks: dict[tuple[int, int], TaskDriver] = {}
        self._global_topics = {t for node in topology.global_stores.values() for t in node.source.topics}
        self._globals: list[tuple[str, Record]] = []

    def run(self, batches: Sequence[Batch], inputs: Mapping[Partition, Sequence[Record]]) -> dict[str, list[Written]]:
        """What each task writes to the users' topics."""
        results: dict[str, list[Written]] = {}
        begin: Mapping[Partition, int] = {}
        followed: Mapping[Partition, int] = {}
        for batch in batches:
            self._follow(inputs, followed, batch.globals_to)
            taken = {p: inputs.get(p, ())[begin.get(p, 0) : end] for p, end in batch.ends.items()}
            for task, written in self._batch(batch, taken):
                results.setdefault(task, []).extend(written)
            begin, followed = batch.ends, batch.globals_to
        return results

    @property
    def dropped(self) -> int:
        """Dropped records of all tasks."""
        return sum(task._task.context.dropped_total for task in self._tasks.values())

    def close(self) -> None:
        for task in self._tasks.values():
            task.close()

    def _follow(
        self, inputs: Mapping[Partition, Sequence[Record]], begin: Mapping[Partition, int], end: Mapping[Partition, int]
    ) -> None:
        new = [
            (topic, record)
            for (topic, partition), to in sorted(end.items())
            for record in inputs.get((topic, partition), ())[begin.get((topic, partition), 0) : to]
        ]
        self._globals += new
        for task in self._tasks.values():
            _pipe(task, new)

    def _batch(self, batch: Batch, taken: Mapping[Partition, Sequence[Record]]) -> Iterator[tuple[str, list[Written]]]:
        moving: dict[Partition, dict[str, list[Record]]] = {}  # repartition topic -> sending task -> records
        for pass_ in self._layout.passes:
            for partition in range(self._layout.tasks[pass_.subtopology]):
                task = f"{pass_.subtopology}_{partition}"
                lanes = self._lanes(pass_, partition, taken, moving)
                if not lanes and not batch.tick:
                    continue
                kept = []
                for written in self._process(pass_, partition, lanes, batch):
                    if written.topic in self._internal.values():
                        target = moving.setdefault((written.topic, written.partition), {})
                        target.setdefault(task, []).append(written.record)
                    else:
                        kept.append(written)
                yield task, kept

    def _lanes(
        self,
        pass_: Pass,
        partition: int,
        taken: Mapping[Partition, Sequence[Record]],
        moving: dict[Partition, dict[str, list[Record]]],
    ) -> list[tuple[str, Sequence[Record]]]:
        """The inputs of a pass, in the order that decides between equal timestamps."""
        lanes: list[tuple[str, Sequence[Record]]] = []
        for topic in sorted(self._internal.get(t, t) for t in pass_.topics):
            sent = moving.pop((topic, partition), {})
            parts = [taken.get((topic, partition), ()), *(sent[source] for source in sorted(sent))]
            lanes += [(topic, records) for records in parts if records]
        return lanes

    def _process(
        self, pass_: Pass, partition: int, lanes: list[tuple[str, Sequence[Record]]], batch: Batch
    ) -> list[Written]:
        driver = self._driver(pass_.subtopology, partition, batch.clock)
        driver.set_clock(batch.clock)
        _pipe(driver, merged(lanes))
        if pass_.index == 0:
            driver.advance_wall_clock_time(0)
        return driver.take()

    def _driver(self, subtopology: int, partition: int, clock: int) -> TaskDriver:
        key = (subtopology, partition)
        if key not in self._tasks:
            part = self._layout.subtopologies[subtopology]
            sent = _Sent(self._partitions, self._internal.values())
            driver = TaskDriver(self._topology, part, partition, sent, config=self._config, clock=clock)
            _pipe(driver, self._globals)
            self._tasks[key] = driver
        return self._tasks[key]


def _pipe(driver: TaskDriver, records: Sequence[tuple[str, Record]] | Iterator[tuple[str, Record]]) -> None:
    for topic, record in records:
        driver.pipe(topic, record.key, record.value, record.timestamp, Headers(record.headers))


def merged(lanes: Sequence[tuple[str, Sequence[Record]]]) -> Iterator[tuple[str, Record]]:
    """Records of several partitions: always the one with the smallest timestamp at the head of its partition."""
    positions = [0] * len(lanes)
    while True:
        heads = [
            (records[position].timestamp, i)
            for i, ((_, records), position) in enumerate(zip(lanes, positions, strict=True))
            if position < len(records)
        ]
        if not heads:
            return
        _, chosen = min(heads)
        topic, records = lanes[chosen]
        yield topic, records[positions[chosen]]
        positions[chosen] += 1
