"""The planner: how far each partition goes in the next batch. Runs on the driver, once for each batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from penstock.interpreter.context import wall_clock_ms
from penstock.kafka.errors import TopicMissing
from penstock.kafka.ranges import OffsetRange
from penstock.spark.cuts import Budget, TimeLine, cut, together
from penstock.spark.idle import IdleWait, task_inputs
from penstock.spark.job import Job
from penstock.spark.losses import skip_lost, topic_deleted
from penstock.spark.offsets import Offsets, PartitionId, Positions, begins, pack, unpack
from penstock.spark.pace import Pace
from penstock.spark.positions import KafkaOffsets, decide_start
from penstock.spark.tasks.slot import SlotPlan
from penstock.spark.ticks import Ticks
from penstock.topology.nodes import SourceNode
from penstock.topology.topics import reads

_LARGEST_RECORD = 1 << 20  # the size to expect while nothing is known: the largest that brokers take by default


class RecordSamples(Protocol):
    """What the planner wants to know of single records."""

    def time_at(self, positions: Positions) -> dict[PartitionId, int]:
        """Timestamps of the records at some offsets."""

    def sizes(self, positions: Positions) -> dict[str, float]:
        """Bytes of a record by topic, judged by the records at some offsets."""


class Planner:
    """Decides batches for a job.

    Args:
        job: The application.
        kafka: Where offsets are asked.
        samples: Where records are looked at, if a batch cannot take everything.
        clock: Wall clock.
    """

    def __init__(
        self, job: Job, kafka: KafkaOffsets, samples: RecordSamples, clock: Callable[[], int] = wall_clock_ms
    ) -> None:
        self._job = job
        self._kafka = kafka
        self._samples = samples
        self._clock = clock
        self._ticks = Ticks(job)
        limits = job.limits
        self._pace = Pace(limits.target_ms, limits.max_records, limits.interval_ms)
        followed = {t for node in job.topology.global_stores.values() for t in node.source.topics}
        everything = [(topic, p) for topic, count in job.layout.partitions.items() for p in range(count)]
        self._globals = [at for at in everything if at[0] in followed]
        self._inputs = [at for at in everything if at[0] not in followed and at[0] not in job.topology.internal_topics]
        self._groups = together(job.layout, job.topology.internal_topics, self._inputs)
        waited_for = task_inputs(job.layout, job.topology.internal_topics, self._inputs)
        self._idle = IdleWait(waited_for, job.config.max_task_idle_ms)
        self._time_line = TimeLine(samples.time_at, kafka.offsets_for_time)
        self._new: dict[PartitionId, int] = {}
        self._ids: dict[str, str] | None = None

    def initial(self) -> Offsets:
        """Where a new application starts; one whose checkpoint was lost counts its batches on."""
        start = decide_start(self._job, self._kafka, self._inputs, now=self._clock())
        return pack(self._job.start.get("batch", -1), 0, start)

    def next(self, start: Offsets) -> Offsets:
        """The end of the next batch; `start` itself if there is nothing to do."""
        now = self._clock()
        known = unpack(start)
        left = self._left(start, known)
        again = self._made_again(start.get("ids", {}))
        begin = self._begin(known, left, again, now)
        ends = self._ends()
        moved, lost = self._skip_lost(begin, ends, {at for at in known if at[0] in again})
        begin |= moved
        ready = self._idle.ready({at: max(0, ends[at] - begin[at]) for at in self._inputs}, now)
        tick = self._ticks.is_due(start["batch"], start.get("ticked", 0), now)
        if not tick and not moved and not any(ready.values()):
            return start
        return pack(
            start["batch"] + 1,
            now,
            cut(self._groups, begin, ready, self._budget(begin, ready), self._time_line),
            followed=self._kafka.end_offsets(self._globals, committed=True) if self._globals else {},
            begins={at: offset for at, offset in begin.items() if known.get(at) != offset},
            left={at: offset for at, offset in left.items() if at not in begin},
            ids={**start.get("ids", {}), **(self._ids or {})},
            ticked=now if tick else start.get("ticked", 0),
            lost=start.get("lost", 0) + lost,
        )

    def _left(self, start: Offsets, known: Positions) -> dict[PartitionId, int]:
        """How far partitions were read that the last batch did not read, or that this one does not."""
        inputs = set(self._inputs)
        return {**unpack(start, "left"), **{at: offset for at, offset in known.items() if at not in inputs}}

    def _made_again(self, before: Mapping[str, str]) -> set[str]:
        """Topics that are other ones than those that were read under their names.

        Asked once: whatever comes and goes while the application runs makes the query, and so the planner, start again.
        """
        if self._ids is None:
            with suppress(TopicMissing):  # it is said better where its end is asked for
                self._ids = self._kafka.topic_ids(sorted({topic for topic, _ in self._inputs}))
        return {topic for topic, now in (self._ids or {}).items() if before.get(topic, now) != now}

    def _begin(self, known: Positions, left: Positions, other_topics: set[str], now: int) -> dict[PartitionId, int]:
        """Where the next batch begins: the end of the last one, or for new partitions where they are to start."""
        new = [at for at in self._inputs if at not in known and at not in self._new]
        back = {at: left[at] for at in new if at in left}
        others: set[str] = set()
        if back:
            # As a consumer group does, a topic that comes back goes on. One that was made again is another topic.
            ends = self._kafka.end_offsets(back, committed=True)
            others = {at[0] for at, offset in back.items() if at[0] in other_topics or offset > ends[at]}
            self._new |= {at: offset for at, offset in back.items() if at[0] not in others}
            new = [at for at in new if at not in self._new]
        if new:
            topics = {topic for topic, _ in (*known, *back)}
            again = [at for at in new if at[0] in others]
            self._new |= decide_start(self._job, self._kafka, new, now=now, known_topics=topics, made_again=again)
        return {at: known[at] if at in known else self._new[at] for at in self._inputs}

    def _ends(self) -> dict[PartitionId, int]:
        try:
            return self._kafka.end_offsets(self._inputs, committed=True)
        except TopicMissing as error:
            nodes = [n for n in self._job.topology.nodes.values() if isinstance(n, SourceNode)]
            raise topic_deleted(error.topic, {n.name: n.line for n in nodes if reads(n, error.topic)}) from error

    def _skip_lost(
        self, begin: Positions, ends: Positions, again: set[PartitionId]
    ) -> tuple[dict[PartitionId, int], int]:
        asked = {at: offset for at, offset in begin.items() if offset != ends[at] or at in again}
        starts = self._kafka.start_offsets(asked) if asked else {}
        return skip_lost(asked, starts, ends, fail=self._job.fail_on_data_loss, made_again=again)

    def _budget(self, begin: Positions, ready: Positions) -> Budget:
        limits, sizes = self._job.limits, dict[str, float]()
        if sum(ready.values()) * _LARGEST_RECORD > limits.max_bytes:
            sizes = self._samples.sizes({at: begin[at] for at, n in ready.items() if n})
        return Budget(self._pace.allowed(sum(ready.values())), limits.max_bytes, sizes)

    def slots(self, start: Offsets, end: Offsets) -> list[SlotPlan]:
        """The plans of all slots of all levels for a batch."""
        begin, until = begins(start, end), unpack(end)
        followed = tuple((t, p, o) for (t, p), o in sorted(unpack(end, "globals").items()))
        tick = end.get("ticked", 0) != start.get("ticked", 0)
        return [
            SlotPlan(end["batch"], end["clock"], level, slot, tuple(tasks), followed, tick)
            for level in range(self._job.layout.levels)
            for slot, tasks in enumerate(self._tasks(level, begin, until))
        ]

    def _tasks(self, level: int, begin: Positions, until: Positions) -> list[list[Any]]:
        """The tasks of each slot of a level, with their ranges."""
        layout = self._job.layout
        count = layout.slots(level, self._job.slots)
        tasks: list[list[Any]] = [[] for _ in range(count)]
        for pass_ in layout.at_level(level):
            for partition in range(layout.tasks[pass_.subtopology]):
                ranges = tuple(
                    OffsetRange(topic, partition, begin[topic, partition], until[topic, partition])
                    for topic in pass_.topics
                    if (topic, partition) in until
                )
                slot = layout.slot_of(pass_.subtopology, partition, count)
                tasks[slot].append((pass_.subtopology, partition, ranges))
        return tasks

    def learned(self, records: int, elapsed_ms: float) -> None:
        """Take the duration of a batch into account."""
        self._pace.adapt(records, elapsed_ms)
