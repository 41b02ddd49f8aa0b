"""How far a sink reads in its next batch, and where it stands: its consumer group says that."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from penstock.connect.config.config_key import ConfigType, parse_type
from penstock.connect.config.java_regex import compile_java
from penstock.connect.errors import ConnectError
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.reports import Plan, Report
from penstock.kafka.admin import TopicSummary
from penstock.kafka.consumer_group import GroupOffset
from penstock.kafka.errors import TopicMissing
from penstock.spark.pace import Pace

log = logging.getLogger("penstock.connect")

PartitionId = tuple[str, int]
# Spark takes a quarter of a second for a batch; a stop waits for its end, five seconds at most unless told otherwise.
TARGET_MS = 4000
MAX_RECORDS = 1_000_000
_REFRESH_SECONDS = 5.0
_SHORTEST_IDLE_MS, _LONGEST_IDLE_MS = 20, 500


class SinkKafka(Protocol):
    """What is asked of Kafka."""

    def topics(self) -> dict[str, TopicSummary]: ...

    def start_offsets(self, partitions: Any) -> dict[PartitionId, int]: ...

    def end_offsets(self, partitions: Any, *, committed: bool = False) -> dict[PartitionId, int]: ...

    def group_offsets(self, group: str, partitions: Any) -> dict[PartitionId, GroupOffset]: ...

    def set_group_offsets(self, group: str, offsets: Mapping[PartitionId, GroupOffset]) -> None: ...


class SinkPlanner:
    """Plans the batches of a sink.

    Args:
        job: The connector.
        kafka: Where offsets are asked and committed.
        clock: Seconds, rising.
    """

    def __init__(self, job: ConnectJob, kafka: SinkKafka, clock: Callable[[], float] = time.monotonic) -> None:
        self._job = job
        self._kafka = kafka
        self._clock = clock
        self._listed: list[str] = parse_type("topics", job.config.get("topics") or "", ConfigType.LIST)
        regex = job.config.get("topics.regex")
        self._pattern = compile_java(regex.strip()) if regex else None
        consumer = job.kafka["consumer"]
        self._read_committed = consumer.get("isolation.level", "read_committed") != "read_uncommitted"
        self._reset = str(consumer.get("auto.offset.reset", "earliest"))
        self._pace = Pace(TARGET_MS, MAX_RECORDS)
        self._batch = -1
        self._next: dict[PartitionId, int] = {}
        self._committed: dict[PartitionId, int] = {}
        self._uncommitted: dict[PartitionId, int] = {}
        self._tasks: dict[PartitionId, int] = {}
        self._wake_at: dict[int, float] = {}
        self._refreshed: float | None = None
        self._missing: set[str] = set()
        self._made = clock()
        self._begun: float | None = None

    @property
    def idle_ms(self) -> int:
        """How long to wait after a plan that found nothing: a fiftieth of the time since there was something."""
        idle = self._clock() - (self._begun if self._begun is not None else self._made)
        return int(min(max(idle * 20, _SHORTEST_IDLE_MS), _LONGEST_IDLE_MS))

    def next(self) -> list[Plan]:
        """The plans of the tasks that have something to do.

        Raises:
            ConnectError: A topic that was read is gone.
        """
        with self._noticing_deletion():
            self._commit_rest()
            self._refresh()
            ends = self._kafka.end_offsets(list(self._next), committed=self._read_committed)
            woken = self._woken()
            self._skip_lost(ends, woken)
        waiting = {at: ends[at] - begin for at, begin in self._next.items() if ends[at] > begin}
        if not waiting and not woken:
            return []
        self._batch += 1
        if waiting:
            self._begun = self._clock()
        taken = share(waiting, self._pace.records)
        reached = {at: self._next[at] + count for at, count in taken.items()}
        return self._plans({**{at: self._next[at] for at in woken}, **reached})

    def _woken(self) -> list[PartitionId]:
        """Partitions of tasks that want to be asked now, because they keep records back and write by the clock."""
        now = self._clock()
        due = {task for task, moment in self._wake_at.items() if moment <= now}
        return [at for at, task in self._tasks.items() if task in due and self._committed[at] < self._next[at]]

    def _plans(self, ends: Mapping[PartitionId, int]) -> list[Plan]:
        ranges: dict[int, list[Sequence[Any]]] = {}
        for at in sorted(ends):
            ranges.setdefault(self._tasks[at], []).append([*at, self._committed[at], self._next[at], ends[at]])
        return [{"task": task, "batch": self._batch, "ranges": found} for task, found in sorted(ranges.items())]

    def _assign(self, partitions: Sequence[PartitionId]) -> None:
        """Give new partitions to the tasks that have the fewest. Old ones stay: a task may have records of them in hand."""
        counts = Counter(self._tasks.values())
        for at in sorted(partitions):
            task = min(range(len(self._job.tasks)), key=lambda number: (counts[number], number))
            self._tasks[at] = task
            counts[task] += 1

    def done(self, plans: Sequence[Plan], reports: Sequence[Report]) -> None:
        """The batch is written: remember and commit how far."""
        if self._begun is not None and _records(plans):
            self._pace.adapt(_records(plans), (self._clock() - self._begun) * 1000)
        for plan in plans:
            self._next.update({(t, p): end for t, p, _, _, end in plan["ranges"]})
        for report in reports:
            self._committed.update({(t, p): offset for t, p, offset in report["committed"]})
            self._uncommitted.update({(t, p): offset for t, p, offset in report["committed"]})
            self._note_wake(report)
        with self._noticing_deletion():
            self._commit_rest()

    def _note_wake(self, report: Report) -> None:
        wake_ms = report.get("wake_ms")
        if wake_ms is None:
            self._wake_at.pop(report.get("task", -1), None)
        else:
            self._wake_at[report["task"]] = self._clock() + wake_ms / 1000

    def topics(self, plans: Sequence[Plan]) -> set[str]:
        """The topics a batch reads."""
        return {found[0] for plan in plans for found in plan["ranges"]}

    def close(self) -> None:
        """Commit what is left."""
        self._commit_rest()

    def _commit_rest(self) -> None:
        if self._uncommitted:
            offsets = {at: GroupOffset(offset) for at, offset in self._uncommitted.items()}
            self._kafka.set_group_offsets(self._job.group, offsets)
            self._uncommitted = {}

    def _refresh(self) -> None:
        """Look for new topics and partitions from time to time."""
        now = self._clock()
        if self._refreshed is not None and now - self._refreshed < _REFRESH_SECONDS:
            return
        known = self._kafka.topics()
        wanted = self._wanted(known)
        self._warn_missing(set(self._listed) - known.keys())
        for topic in {topic for topic, _ in self._next} - known.keys():
            raise self._deleted(topic)
        new = [(t, p) for t in wanted for p in range(known[t].partitions) if (t, p) not in self._next]
        if new:
            begins = self._begins(new)
            self._next |= begins
            self._committed |= begins
            self._assign(new)
        self._refreshed = now

    def _wanted(self, known: Mapping[str, TopicSummary]) -> list[str]:
        if self._pattern is None:
            return [topic for topic in self._listed if topic in known]
        return [name for name, topic in known.items() if not topic.is_internal and self._pattern.fullmatch(name)]

    def _warn_missing(self, missing: set[str]) -> None:
        for topic in sorted(missing - self._missing):
            log.warning("Connector %s waits for the topic %s, which does not exist", self._job.name, topic)
        self._missing = missing

    def _begins(self, partitions: list[PartitionId]) -> dict[PartitionId, int]:
        """Where partitions begin: where the group stands, else as `auto.offset.reset` says."""
        committed = self._kafka.group_offsets(self._job.group, partitions)
        found = {at: committed[at].offset for at in partitions if at in committed}
        left = [at for at in partitions if at not in found]
        if left and self._reset == "none":
            raise ConnectError(
                f"The group {self._job.group} has no offset for {left[0][0]}-{left[0][1]}, and auto.offset.reset is none",
                hint="Set consumer.override.auto.offset.reset to earliest or latest, or set an offset.",
            )
        if left and self._reset == "latest":
            return {**found, **self._kafka.end_offsets(left, committed=self._read_committed)}
        return {**found, **(self._kafka.start_offsets(left) if left else {})}

    @contextmanager
    def _noticing_deletion(self) -> Iterator[None]:
        """Whatever is asked or committed at the moment, a topic that is gone is told with how far it was read."""
        try:
            yield
        except TopicMissing as error:
            raise self._deleted(error.topic) from error

    def _deleted(self, topic: str) -> ConnectError:
        read = {p: offset for (t, p), offset in self._next.items() if t == topic}
        return ConnectError(
            f"The topic {topic}, which connector {self._job.name} has read to {read} (offset by partition), is gone",
            hint="If it is made again, stop the connector and reset its offsets before you resume it.",
        )

    def _skip_lost(self, ends: Mapping[PartitionId, int], woken: Sequence[PartitionId]) -> None:
        """Go on behind records that retention removed; refuse a topic that is another one than before."""
        asked = [at for at, begin in self._next.items() if begin != ends[at] or at in woken]
        starts = self._kafka.start_offsets(asked) if asked else {}
        for at in asked:
            topic, partition = at
            begin = self._next[at]
            if begin > ends[at]:
                raise ConnectError(
                    f"Connector {self._job.name} has read {topic}-{partition} to offset {begin}, but it ends at {ends[at]}: "
                    "the topic was deleted and made again",
                    hint="Stop the connector, reset its offsets (DELETE /connectors/{name}/offsets), and resume it.",
                )
            if begin < starts[at]:
                log.warning(
                    "Connector %s: offsets %d to %d of %s-%d are gone before they were read",
                    self._job.name, begin, starts[at], topic, partition,
                )  # fmt: skip
                self._next[at] = starts[at]
            # Also where a task has them in hand: another one could not read them again.
            self._committed[at] = max(self._committed[at], starts[at])


def _records(plans: Sequence[Plan]) -> int:
    return sum(end - start for plan in plans for _, _, _, start, end in plan["ranges"])


def share(waiting: Mapping[PartitionId, int], budget: int) -> dict[PartitionId, int]:
    """A batch's share of what each partition has waiting: all of the short ones, the same of the others.

    >>> share({("a", 0): 5, ("a", 1): 100}, 25)
    {('a', 0): 5, ('a', 1): 20}
    """
    taken: dict[PartitionId, int] = {}
    left = budget
    for number, (at, count) in enumerate(sorted(waiting.items(), key=lambda item: item[1])):
        taken[at] = min(count, max(1, left // (len(waiting) - number)))
        left -= taken[at]
    return taken
