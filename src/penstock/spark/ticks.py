"""How often a batch without records has to run, so that punctuators by the wall clock are called.

What processors schedule in `init` the planner finds out itself. What they schedule later only their tasks know, and the
planner is on the driver: a task tells it by the name of an empty file in the checkpoint, which both of them see.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress

import pyarrow.fs as pafs

from penstock.spark.job import Job
from penstock.spark.punctuation import may_punctuate, wall_clock_interval
from penstock.state.disk.segments import filesystem

log = logging.getLogger("penstock.planner")

_LOOK_MS = 1000


class TickNote:
    """What a task tells the planner: the shortest interval it has scheduled, if `init` did not schedule a shorter one.

    Args:
        job: The application.
        task: Id of the task.
    """

    def __init__(self, job: Job, task: str) -> None:
        self._location = job.checkpoint
        self._folder = f"ticks/{job.run}"
        self._task = task
        self._in_init: int | None = None
        self._told: int | None = None

    def begin(self, intervals: Sequence[int]) -> None:
        """The task was made, and this is what its processors scheduled in `init`."""
        self._in_init = min(intervals, default=None)

    def tell(self, intervals: Sequence[int]) -> None:
        """Tell what is scheduled now, if that is news."""
        shortest = min(intervals, default=None)
        if shortest is not None and self._in_init is not None and self._in_init <= shortest:
            shortest = None
        if shortest == self._told:
            return
        fs, root = filesystem(self._location)
        folder = f"{root}/{self._folder}"
        try:
            if shortest is not None:
                fs.create_dir(folder, recursive=True)
                fs.open_output_stream(f"{folder}/{self._task}-{shortest}").close()
            if self._told is not None:
                fs.delete_file(f"{folder}/{self._task}-{self._told}")
        except OSError as error:
            log.warning("task %s cannot say that it has punctuators each %s ms: %s", self._task, shortest, error)
            return
        self._told = shortest


class Ticks:
    """Tells the planner when a tick is due."""

    def __init__(self, job: Job) -> None:
        self._in_init = wall_clock_interval(job)
        self._told: int | None = None
        self._has_processors = any(may_punctuate(job, number) for number in job.layout.subtopologies)
        self._fs, root = filesystem(job.checkpoint)
        self._folder, self._run = f"{root}/ticks", job.run
        self._looked: tuple[int, int] | None = None  # after which batch, and when
        if self._has_processors:
            self._remove_others()

    def _remove_others(self) -> None:
        """What tasks of earlier runs told is not true any more."""
        for other in self._files(self._folder):
            if other.base_name != self._run:
                with suppress(OSError):
                    self._fs.delete_dir(other.path)

    def _files(self, folder: str) -> list[pafs.FileInfo]:
        return self._fs.get_file_info(pafs.FileSelector(folder, allow_not_found=True))  # type: ignore[no-any-return]

    def is_due(self, batch: int, ticked: int, now: int) -> bool:
        """Whether the next batch is to be a tick.

        Args:
            batch: Number of the last batch.
            ticked: When the last tick was.
            now: The wall clock.
        """
        if self._has_processors:
            self._look(batch, now)
        interval = min((ms for ms in (self._in_init, self._told) if ms is not None), default=None)
        return interval is not None and now - ticked >= interval

    def _look(self, batch: int, now: int) -> None:
        """See what tasks told. Only a batch brings news, and a folder far away is not asked more often than needed."""
        if self._looked is not None and (batch == self._looked[0] or now - self._looked[1] < _LOOK_MS):
            return
        self._looked = (batch, now)
        names = (file.base_name for file in self._files(f"{self._folder}/{self._run}"))
        self._told = min((int(name.rpartition("-")[2]) for name in names), default=None)
