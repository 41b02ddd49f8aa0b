"""How far a source reads in its next batch, and where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from penstock.connect.api import Offset, Partition, SourceRange, SourceTask
from penstock.connect.spark.reports import Plan, Report

Entry = Mapping[str, Any]
"""`{"partition": {...}, "offset": {...}}`."""


class SourceOffsets(Protocol):
    """Where a source's offsets are kept; see `source_offsets`."""

    @property
    def batch(self) -> int: ...

    def entries(self) -> list[Entry]: ...

    def planned(self) -> list[Plan] | None: ...

    def plan(self, batch: int, plans: Sequence[Plan]) -> None: ...

    def done(self, batch: int, entries: Sequence[Entry]) -> None: ...


def partition_key(partition: Partition) -> str:
    """A part of a source as text: the order of its keys does not matter."""
    return json.dumps(partition, sort_keys=True)


class SourcePlanner:
    """Plans the batches of a source.

    Args:
        tasks: The tasks, started.
        offsets: Where offsets are kept. A batch that was planned before and is not done comes first, as it was.
    """

    def __init__(self, tasks: Sequence[SourceTask], offsets: SourceOffsets) -> None:
        self._tasks = tasks
        self._offsets = offsets
        self._known: dict[str, Entry] = {partition_key(e["partition"]): e for e in offsets.entries()}
        self._batch = offsets.batch
        self._again = offsets.planned()

    @property
    def idle_ms(self) -> int:
        """How long to wait after a plan that found nothing."""
        return min((task.idle_ms for task in self._tasks), default=1000)

    def offset(self, partition: Partition) -> Offset | None:
        """How far a part was read."""
        entry = self._known.get(partition_key(partition))
        return None if entry is None else entry["offset"]

    def next(self) -> list[Plan]:
        """The plans of the tasks that have something to do; one that is not done yet is given again."""
        if self._again is not None:
            return self._again
        batch = self._batch + 1
        plans = []
        for number, task in enumerate(self._tasks):
            ranges = [[self._spelled(r.partition), r.start and dict(r.start), dict(r.end)] for r in task.plan(self)]
            if ranges:
                plans.append({"task": number, "batch": batch, "ranges": ranges})
        if plans:
            self._offsets.plan(batch, plans)
            self._again = plans
        return plans

    def _spelled(self, partition: Partition) -> dict[str, Any]:
        """A part with its fields in the order its offset is kept under: in a topic they make up the key, byte for byte."""
        entry = self._known.get(partition_key(partition))
        return dict(partition if entry is None else entry["partition"])

    def done(self, plans: Sequence[Plan], reports: Sequence[Report]) -> None:
        """The batch is in Kafka."""
        entries = [{"partition": p, "offset": end} for plan in plans for p, _, end in plan["ranges"]]
        self._batch += 1
        self._offsets.done(self._batch, entries)
        self._known |= {partition_key(e["partition"]): e for e in entries}
        self._again = None
        for plan in plans:
            if plan["task"] < len(self._tasks):
                self._tasks[plan["task"]].commit([SourceRange(p, s, e) for p, s, e in plan["ranges"]])

    def topics(self, plans: Sequence[Plan]) -> set[str]:
        """Only the tasks know which topics they write."""
        return set()

    def close(self) -> None:
        """Stop the tasks."""
        stop_all(self._tasks)


def stop_all(tasks: Iterable[SourceTask]) -> None:
    """Stop tasks; a failure of one keeps none of the others open."""
    failure: Exception | None = None
    for task in tasks:
        try:
            task.stop()
        except Exception as error:  # noqa: BLE001 - connector code
            failure = error
    if failure is not None:
        raise failure
