"""Waiting for partitions without data, as `max.task.idle.ms` says."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from penstock.spark.layout import Layout
from penstock.spark.offsets import PartitionId, Positions

Lane = tuple[PartitionId, ...]  # partitions of which any one may bring the next record of an input


def task_inputs(layout: Layout, internal: Container[str], inputs: Iterable[PartitionId]) -> list[tuple[Lane, ...]]:
    """The inputs of each task: partitions of Kafka, and for a shuffle all partitions that it may bring records of.

    Args:
        layout: Tasks and what they read.
        internal: Topics that are shuffles.
        inputs: The partitions that are read from Kafka.
    """
    wanted = list(inputs)
    tasks: dict[tuple[int, int], list[Lane]] = {}
    for subtopology, topics in _first_topics(layout).items():
        shuffles = [_above(layout, internal, topic) for topic in topics if topic in internal]
        lanes = [tuple(at for at in wanted if at[0] in above) for above in shuffles]
        for partition in range(layout.tasks[subtopology]):
            own: list[Lane] = [(at,) for at in wanted if at[0] in topics and at[1] == partition]
            tasks[subtopology, partition] = own + [lane for lane in lanes if lane]
    return [tuple(lanes) for lanes in tasks.values() if lanes]


def _first_topics(layout: Layout) -> dict[int, set[str]]:
    """What each sub-topology reads; not the answers to its own questions."""
    return {p.subtopology: set(p.topics) for p in layout.passes if p.index == 0}


def _above(layout: Layout, internal: Container[str], topic: str) -> set[str]:
    """The topics of Kafka whose records may reach a shuffle in the same batch."""
    first = _first_topics(layout)
    found, todo = {topic}, [topic]
    while todo:
        below = todo.pop()
        for part in layout.subtopologies.values():
            if below in internal and below in part.sink_topics:
                new = first[part.id] - found
                found |= new
                todo += new
    return {one for one in found if one not in internal}


class IdleWait:
    """Holds a task's records back while another of its inputs is empty.

    The wait for an input begins when it is first seen empty, whether or not others have data, and ends when it has
    data or the time is over; after that it is not waited for until it had data again. Records that come through a shuffle
    are made in the batch itself: what is held back of them are the records they are made of.

    Args:
        tasks: The inputs of each task.
        idle_ms: -1 and 0 wait for nothing: a batch takes what the broker has of every partition anyway.
    """

    def __init__(self, tasks: Sequence[Sequence[Lane]], idle_ms: int) -> None:
        self._tasks = [lanes for lanes in tasks if len(lanes) > 1] if idle_ms > 0 else []
        self._idle_ms = idle_ms
        self._empty_since: dict[Lane, int] = {}

    def ready(self, available: Positions, now: int) -> dict[PartitionId, int]:
        """What may be processed now of what is available."""
        ready = dict(available)
        if not self._tasks:
            return ready
        waiting = self._waiting(available, now)
        left = self._tasks
        while held := [lanes for lanes in left if waiting.intersection(lanes) or _starved(lanes, available, ready)]:
            left = [lanes for lanes in left if lanes not in held]
            ready.update((at, 0) for lanes in held for lane in lanes for at in lane)
        return ready

    def _waiting(self, available: Positions, now: int) -> set[Lane]:
        """The inputs that are waited for."""
        found = set()
        for lane in {lane for lanes in self._tasks for lane in lanes}:
            if _has_some(lane, available):
                self._empty_since.pop(lane, None)
            elif now - self._empty_since.setdefault(lane, now) < self._idle_ms:
                found.add(lane)
        return found


def _has_some(lane: Lane, of: Positions) -> bool:
    return any(of[at] for at in lane)


def _starved(lanes: Sequence[Lane], available: Positions, ready: Positions) -> bool:
    """Whether there are records of an input, but all of them are held back for another task."""
    return any(_has_some(lane, available) and not _has_some(lane, ready) for lane in lanes)
