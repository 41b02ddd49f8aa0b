"""Rebuilding one task's state from its changelogs."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.errors import ProcessorStateError
from penstock.interpreter.context import TaskContext
from penstock.interpreter.task import StoreHome
from penstock.kafka.clients import open_range_consumer
from penstock.kafka.ranges import read_range
from penstock.records import NO_HEADERS, Headers
from penstock.spark.changelogs import Changelog
from penstock.spark.job import Job
from penstock.spark.layout import pass_number
from penstock.spark.tasks.changelog import MARK
from penstock.state.disk.rebuild import Rebuild
from penstock.state.disk.segments import NONE, SegmentFolder
from penstock.state.restoring import restorer, set_store_time

log = logging.getLogger("penstock.restore")

_ABSORB_RECORDS = 200_000  # held in memory before they go to disk


class RestoreListener:
    """Is told how state is rebuilt; override what you want to know. Partitions are (topic, number)."""

    def on_restore_start(self, partition: tuple[str, int], store: str, start: int, end: int) -> None:
        """A store is about to be rebuilt from these offsets."""

    def on_batch_restored(self, partition: tuple[str, int], store: str, batch_end: int, restored: int) -> None:
        """So many more records are restored, up to this offset."""

    def on_restore_end(self, partition: tuple[str, int], store: str, restored: int) -> None:
        """A store is complete."""


@dataclass(slots=True)
class _Progress:
    """What the marks in the changelogs say: the last pass in them, and what the task kept beside its stores then."""

    sequence: int = NONE
    metadata: dict[str, int] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)

    def take(self, headers: Headers) -> Headers:
        """Headers without the mark."""
        mark = headers.last(MARK)
        if mark is None:
            return headers
        found = json.loads(mark)
        if found["sequence"] >= self.sequence:
            self.sequence, self.metadata, self.times = found["sequence"], found["metadata"], found["times"]
        return headers.remove(MARK)


class TaskRestore:
    """Rebuilds tasks of a job, one after the other.

    Args:
        job: The application.
        listener: Is told of each store.
    """

    def __init__(self, job: Job, listener: RestoreListener) -> None:
        self._job = job
        self._listener = listener
        self._scratch = Path(job.local) / f"{job.application_id}-restore-{job.run[:8]}"
        committed = {**job.kafka["consumer"], "isolation.level": "read_committed"}
        self._consumer: Any = open_range_consumer(committed, group_id=job.commits_group)

    def run(
        self,
        subtopology: int,
        partition: int,
        ranges: Sequence[tuple[Changelog, int, int]],
        *,
        after_batch: int,
        replays: bool,
    ) -> None:
        """Rebuild a task as of the end of a batch.

        Args:
            subtopology: The task's sub-topology.
            partition: Its partition.
            ranges: What to read of each changelog.
            after_batch: The last batch that is done.
            replays: Spark will do the batch after that one again, because it was cut off.
        """
        task = f"{subtopology}_{partition}"
        first = pass_number(after_batch + 1, 0)
        rebuild = Rebuild(self._scratch / task, self._job.state_folder(task))
        try:
            progress = self._read(rebuild, task, partition, ranges)
            ahead = replays and progress.sequence >= first
            if ahead and self._job.exactly_once:
                self._keep_ahead(rebuild, task, subtopology, progress)
                return
            if ahead:
                log.warning("task %s: records of the batch that was cut off are processed a second time", task)
            rebuild.finish(first - 1, progress.metadata)
        except BaseException:
            rebuild.close()
            raise

    def _read(
        self, rebuild: Rebuild, task: str, partition: int, ranges: Sequence[tuple[Changelog, int, int]]
    ) -> _Progress:
        config = self._job.config
        home = StoreHome(rebuild.store, TaskContext(config.application_id, task), config, caching=False)
        progress = _Progress()
        stores = [
            self._read_store(rebuild, home, changelog, partition, start, end, progress)
            for changelog, start, end in ranges
        ]
        for store in stores:
            if store.name in progress.times:
                set_store_time(store, progress.times[store.name])
            store.flush()
        return progress

    def _read_store(
        self,
        rebuild: Rebuild,
        home: StoreHome,
        changelog: Changelog,
        partition: int,
        start: int,
        end: int,
        progress: _Progress,
    ) -> Any:
        name, at, listener = changelog.store, (changelog.topic, partition), self._listener
        store = self._job.topology.stores[name].build(home)
        restore = restorer(store)
        listener.on_restore_start(at, name, start, end)
        total = held = 0
        for messages in read_range(self._consumer, *at, start, end):
            for m in messages:
                key = m.key()
                if key is not None:  # a source topic may have such records; a table skips them, too
                    pairs: Any = m.headers()
                    headers = progress.take(Headers(pairs)) if pairs else NO_HEADERS
                    restore(key, m.value(), m.timestamp()[1], headers)
            total += len(messages)
            held += len(messages)
            if held >= _ABSORB_RECORDS:
                rebuild.absorb()
                held = 0
            listener.on_batch_restored(at, name, (messages[-1].offset() or 0) + 1, len(messages))
        listener.on_restore_end(at, name, total)
        log.info("%d records of %s-%d restored into %s", total, *at, name)
        return store

    def _keep_ahead(self, rebuild: Rebuild, task: str, subtopology: int, progress: _Progress) -> None:
        """The task had committed the batch that Spark will do again: its state is already the one after it."""
        job, sequence = self._job, progress.sequence
        if any(p.subtopology == subtopology and p.level < job.layout.levels - 1 for p in job.layout.passes):
            raise ProcessorStateError(
                f"the state of task {task} cannot be rebuilt: its last batch was cut off after the task committed it, and "
                "doing it again needs the state before it, which the changelog no longer tells",
                hint="Restore the checkpoint's state folder from a backup, or reset the application.",
            )
        rebuild.finish(sequence, progress.metadata)
        folder = SegmentFolder(job.state_folder(task))
        # The commit in Kafka names a segment that is gone; the snapshot is in its place.
        attempt, _ = folder.write(sequence, sequence, {}, progress.metadata)
        folder.publish(sequence, attempt)

    def close(self) -> None:
        """Remove what is left behind."""
        self._consumer.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
