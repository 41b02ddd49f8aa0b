"""A task as one worker process hosts it: the compiled interpreter over the state of the batch in hand."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from zlib import crc32

from penstock.interpreter.guards import TaskFailed
from penstock.interpreter.task import Task
from penstock.kafka.clients import open_range_consumer
from penstock.kafka.ranges import OffsetRange
from penstock.spark.job import Job
from penstock.spark.layout import Pass, pass_number
from penstock.spark.rows import Row
from penstock.spark.tasks.changelog import TaskChangelog
from penstock.spark.tasks.collector import TaskCollector
from penstock.spark.tasks.commits import Commit
from penstock.spark.tasks.crashes import crash_point
from penstock.spark.tasks.globals import close_global_stores, global_stores
from penstock.spark.tasks.inputs import Inbound, feed
from penstock.spark.tasks.outputs import SlotOutput
from penstock.spark.tasks.surviving import offsets_of, surviving
from penstock.spark.ticks import TickNote
from penstock.state.disk.task_state import TaskState

log = logging.getLogger("penstock.slot")

_LOST = "removed by retention"
_RUN = "run"

_hosts: dict[tuple[str, str], TaskHost] = {}
_consumers: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Work:
    """What a task has to do in a pass.

    Attributes:
        batch: Number of the batch.
        clock: Wall clock of the batch; a replay sees the same.
        ranges: Ranges of Kafka partitions to read.
        inbound: What upstream tasks sent.
        globals_to: How far each partition of the global topics is to be followed.
    """

    batch: int
    clock: int
    ranges: Sequence[OffsetRange]
    inbound: Sequence[Inbound] = ()
    globals_to: tuple[tuple[str, int, int], ...] = ()


@dataclass(slots=True)
class Done:
    """What a pass of a task did."""

    records_in: int
    records_out: int
    dropped: int
    state_rows: int
    state_bytes: int
    segment_bytes: int
    elapsed_us: int
    commit: Commit | None
    rows: list[Row]


def host(job: Job, subtopology: int, partition: int) -> TaskHost:
    """The host of a task in this process."""
    task_id = f"{subtopology}_{partition}"
    key = (job.run, task_id)
    if key not in _hosts:
        for old in [k for k in _hosts if k[0] != job.run]:
            _hosts.pop(old).forget()  # another run of the application, or another application: its memory is stale
        _hosts[key] = TaskHost(job, subtopology, partition)
    return _hosts[key]


def close_all() -> None:
    """Close what all tasks of this process have open."""
    for one in list(_hosts.values()):
        one.forget()
    _hosts.clear()
    close_global_stores()


def range_consumer(job: Job) -> Any:
    """This process's consumer for ranges."""
    consumer = _consumers.get(job.run)
    if consumer is None:
        for old in list(_consumers):
            _consumers.pop(old).close()
        consumer = _consumers[job.run] = open_range_consumer(job.kafka["consumer"], group_id=job.commits_group)
    return consumer


def _metadata(task: Task, run: str) -> dict[str, int]:
    """What a task keeps beside its stores, by kind: s for what every commit saves, c for clocks of operators, p for when
    punctuators are due. Those begin anew with the application, so its run is kept, too.
    """
    saved = {f"s{name}": value for name, value in task.commit_metadata().items()}
    saved |= {f"c{name}": value for name, value in task.operator_clocks().items()}
    due_times = task.due_times()
    if due_times:
        saved |= {f"p{name}": due for name, due in due_times.items()} | {_RUN: crc32(run.encode())}
    return saved


class TaskHost:
    """One task in one process."""

    def __init__(self, job: Job, subtopology: int, partition: int) -> None:
        self.job = job
        self.task_id = f"{subtopology}_{partition}"
        self.subtopology = subtopology
        self.partition = partition
        self._nodes = job.layout.subtopologies[subtopology].nodes
        self._passes = job.layout.pass_count[subtopology]
        restore = job.config.app_configs.get("penstock.restore", "auto")
        self._state = TaskState(
            job.local_folder(self.task_id), job.state_folder(self.task_id), begins_anew=restore != "auto"
        )
        self._task: Task | None = None
        self._collector = TaskCollector(job, self.task_id)
        self._changelog = TaskChangelog(job, subtopology, partition)
        self._globals: dict[str, Any] = {}
        self._tick_note = TickNote(job, self.task_id)
        self._clock = 0
        self._dropped_before = 0

    @property
    def dropped(self) -> int:
        """Records that the last pass dropped; outputs that Kafka refuses are known when the slot has committed."""
        return 0 if self._task is None else self._task.context.dropped_total - self._dropped_before

    def sequence(self, batch: int, index: int) -> int:
        """Number of a pass over all batches."""
        return pass_number(batch, index)

    def run(self, pass_: Pass, work: Work, output: SlotOutput | None) -> Done:
        """Process a pass. Nothing is final until the slot has committed and `publish` was called.

        Args:
            pass_: Which pass.
            work: Its input.
            output: Where records go; None if the pass was committed before and only its rows are needed.
        """
        started = time.perf_counter_ns()
        first, sequence = self.sequence(work.batch, 0), self.sequence(work.batch, pass_.index)
        self._clock = work.clock
        last = self.sequence(work.batch - 1, self._passes - 1)
        continued = self._state.begin(first, sequence, last)
        tables = global_stores(self.job, work.globals_to, self._now)
        if not continued or self._task is None or tables is not self._globals:
            if self._close_task():
                # What they wrote while they were closed is no part of this batch.
                self._state.end()
                self._state.begin(first, sequence, last)
            self._globals = tables
            self._task = self._build()
        task = self._task
        collector = self._collector
        collector.begin(output)
        if output is not None:
            output.refused = task.refused
        self._dropped_before = task.context.dropped_total
        try:
            consumer = range_consumer(self.job)
            ranges = work.ranges if self.job.fail_on_data_loss else self._surviving(task, consumer, work.ranges)
            count = feed(task, consumer, ranges, work.inbound, self.partition, partial(self._relieve, task, output))
            if pass_.index == 0:
                task.punctuate_wall_clock()
        except Exception as error:
            raise task.failed(error) from error
        task.context.clear_record()  # what a flush brings to light is not the fault of the batch's last record
        task.flush()
        self._tick_note.tell(task.services.wall_schedule.intervals())
        metadata = _metadata(task, self.job.run)
        if output is not None:
            output.hand_over()  # while it is known whose records they are
        self._changelog.send(output, self._state.store, sequence, metadata)
        crash_point(self.job, "before segment")
        attempt = self._state.finish(sequence, metadata)
        crash_point(self.job, "after segment")
        rows, size = self._state.size()
        return Done(
            count,
            collector.count,
            self.dropped,
            rows,
            size,
            self._state.segment_bytes,
            (time.perf_counter_ns() - started) // 1000,
            None if attempt is None else Commit(sequence, attempt),
            list(collector.rows()),
        )

    def _surviving(self, task: Task, consumer: Any, ranges: Sequence[OffsetRange]) -> Sequence[OffsetRange]:
        left = surviving(consumer, ranges)
        lost = offsets_of(ranges) - offsets_of(left)
        if lost:
            task.context.dropped[_LOST] = task.context.dropped.get(_LOST, 0) + lost
        return left

    def _relieve(self, task: Task, output: SlotOutput | None) -> None:
        """In the middle of a batch: what has become much goes out, while the broker and the network have time for it."""
        task.relieve()
        self._changelog.send_some(output)

    def _now(self) -> int:
        return self._clock

    def _build(self) -> Task:
        kept = self._state.metadata
        task = Task(
            self.job.topology,
            config=self.job.config,
            collector=self._collector,
            bytes_store=self._state.store,
            nodes=self._nodes,
            task_id=self.task_id,
            global_stores=self._globals,
            metadata={name[1:]: value for name, value in kept.items() if name[0] == "s"},
            system_time=self._now,
        )
        task.set_operator_clocks({name[1:]: value for name, value in kept.items() if name[0] == "c"})
        if kept.get(_RUN) == crc32(self.job.run.encode()):
            task.set_due_times({name[1:]: due for name, due in kept.items() if name[0] == "p"})
        self._changelog.listen(task.stores)
        self._tick_note.begin(task.services.wall_schedule.intervals())
        return task

    def publish(self, commit: Commit | None) -> None:
        """The output is committed: the state of this pass is final."""
        if commit is not None:
            crash_point(self.job, "before publish")
            self._state.publish(commit.sequence, commit.attempt)
            crash_point(self.job, "after publish")
        self._state.end()

    def adopt(self, commit: Commit) -> None:
        """An earlier attempt of this pass committed its output: its state counts, not what was computed again."""
        if commit.attempt:
            self._state.publish(commit.sequence, commit.attempt)
        self.forget()

    def forget(self) -> None:
        """Start the next pass from what is on disk: something failed, or this was the last one."""
        self._close_task()
        self._collector = TaskCollector(self.job, self.task_id)
        self._state.forget()

    def _close_task(self) -> bool:
        """Close processors and stores; what they raise is logged with the name of the node, and harms nobody.

        Returns:
            Whether there were processors.
        """
        task, self._task = self._task, None
        if task is None:
            return False
        try:
            self._state.look()  # as elsewhere, a processor that is closed may read its stores
            task.close()
        except TaskFailed:
            pass  # the task has logged it
        except Exception:
            log.exception("task %s was not closed well", self.task_id)
        return bool(task.services.processors)
