"""Wall-clock punctuation on Spark: a batch without data, whenever the shortest interval has passed."""

from __future__ import annotations

import logging
from contextlib import suppress

from penstock.interpreter.global_tables import GlobalTables
from penstock.interpreter.guards import TaskFailed
from penstock.interpreter.sink import Collector
from penstock.interpreter.task import Task
from penstock.records import Headers
from penstock.spark.job import Job
from penstock.state.bytes_store import MemoryBytesStore
from penstock.topology.nodes import ProcessorNode
from penstock.topology.operators import Process, TableTransformValues

log = logging.getLogger("penstock.planner")


class _Nowhere(Collector):
    """A collector for a task that gets no records."""

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: Headers,
        partition: int | None,
    ) -> None:
        """Forget it."""

    def partition_count(self, topic: str) -> int:
        """One."""
        return 1


def may_punctuate(job: Job, subtopology: int) -> bool:
    """Whether a sub-topology has user processors: only they schedule punctuators."""
    nodes = (job.topology.nodes[name] for name in job.layout.subtopologies[subtopology].nodes)
    return any(isinstance(n, ProcessorNode) and isinstance(n.operator, Process | TableTransformValues) for n in nodes)


def wall_clock_interval(job: Job) -> int | None:
    """The shortest interval of the wall-clock punctuators that processors schedule in `init`; None if there are none.

    Only a processor knows what it schedules, so each is made once here, without records, and asked.
    """
    asked = [part.nodes for number, part in job.layout.subtopologies.items() if may_punctuate(job, number)]
    intervals: list[int] = []
    for nodes in asked:
        try:
            task = Task(
                job.topology,
                config=job.config,
                collector=_Nowhere(),
                bytes_store=lambda name: MemoryBytesStore(),
                nodes=nodes,
                global_stores=_globals(job),
            )
        except Exception:
            log.exception("a processor cannot be made to ask it for its punctuators; wall-clock punctuation is off")
            continue
        intervals += task.services.wall_schedule.intervals()
        with suppress(TaskFailed):  # the task has logged it
            task.close()
    return min(intervals, default=None)


def _globals(job: Job) -> dict[str, object]:
    if not job.topology.global_stores:
        return {}
    tables = GlobalTables(
        job.topology, config=job.config, bytes_store=lambda name: MemoryBytesStore(), system_time=lambda: 0
    )
    return tables.stores
