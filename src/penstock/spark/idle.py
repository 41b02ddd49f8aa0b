"""Waiting for partitions without data, as `max.task.idle.ms` says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.spark.layout import Layout
from penstock.spark.offsets import PartitionId, Positions


def task_inputs(layout: Layout, inputs: Iterable[PartitionId]) -> list[tuple[PartitionId, ...]]:
    """The partitions that each task reads from Kafka."""
    topic_tasks = {topic: p.subtopology for p in layout.passes for topic in p.topics}
    found: dict[tuple[int, int], list[PartitionId]] = {}
    for topic, partition in inputs:
        found.setdefault((topic_tasks[topic], partition), []).append((topic, partition))
    return [tuple(group) for group in found.values()]


class IdleWait:
    """Holds a task's records back while another of its partitions is empty.

    The wait for a partition begins when it is first seen empty, whether or not others have data, and ends when it has
    data or the time is over; after that it is not waited for until it had data again. Records that come through a shuffle
    are made in the batch itself: they are not waited for.

    Args:
        tasks: The partitions of each task.
        idle_ms: -1 and 0 wait for nothing: a batch takes what the broker has of every partition anyway.
    """

    def __init__(self, tasks: Sequence[Sequence[PartitionId]], idle_ms: int) -> None:
        self._tasks = [group for group in tasks if len(group) > 1] if idle_ms > 0 else []
        self._idle_ms = idle_ms
        self._empty_since: dict[PartitionId, int] = {}

    def ready(self, available: Positions, now: int) -> dict[PartitionId, int]:
        """What may be processed now of what is available."""
        ready = dict(available)
        for group in self._tasks:
            if self._must_wait(group, available, now):
                ready.update(dict.fromkeys(group, 0))
        return ready

    def _must_wait(self, group: Sequence[PartitionId], available: Positions, now: int) -> bool:
        waiting = False
        for at in group:
            if available[at]:
                self._empty_since.pop(at, None)
            else:
                waiting |= now - self._empty_since.setdefault(at, now) < self._idle_ms
        return waiting
