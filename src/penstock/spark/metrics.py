"""Figures of batches, out of the progress that Spark reports: from a query, or in a listener of the user's own.

class Watch(StreamingQueryListener):
    def onQueryProgress(self, event):
        batch = BatchProgress.of(event.progress)
        if batch is not None:
            send_somewhere(batch.as_dict())
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from penstock.spark.query import OBSERVATION


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """What a batch did.

    Attributes:
        batch: Its number.
        run: Id of the query's run in Spark; a new one after each start.
        started: When, as Spark writes it (ISO 8601, UTC).
        duration_ms: From its start to its commit.
        durations_ms: The same by Spark's phases.
        records_in: Records that tasks read, those between sub-topologies included.
        records_out: Records that tasks wrote, those between sub-topologies included.
        dropped: Records that were late, had no key where one is needed, were skipped by a handler, or were removed by retention
            after their batch was planned.
        state_rows: Rows in the stores of the tasks that had work.
        state_bytes: Their size.
        segment_bytes: Size of the state changes written to the checkpoint.
        task_time_ms: Time in tasks, summed.
        tasks: How many tasks had work.
        offsets: Where the batch ended: topic -> partition -> offset.
        lost: Records that retention removed before their batch was planned, since the application began.
    """

    batch: int
    run: str
    started: str
    duration_ms: int
    durations_ms: Mapping[str, int]
    records_in: int = 0
    records_out: int = 0
    dropped: int = 0
    state_rows: int = 0
    state_bytes: int = 0
    segment_bytes: int = 0
    task_time_ms: float = 0.0
    tasks: int = 0
    offsets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    lost: int = 0

    @classmethod
    def of(cls, progress: Any) -> BatchProgress | None:
        """From Spark's progress; None if it tells that there was nothing to do, or is another query's."""
        row = (progress["observedMetrics"] or {}).get(OBSERVATION)
        if row is None:
            return None
        figures = {name: value or 0 for name, value in (row if isinstance(row, dict) else row.asDict()).items()}
        end = _end(progress)
        durations = {name: int(ms) for name, ms in (progress["durationMs"] or {}).items()}
        return cls(
            progress["batchId"],
            str(progress["runId"]),
            progress["timestamp"],
            durations.get("triggerExecution", 0),
            durations,
            task_time_ms=figures.pop("elapsed_us", 0) / 1000,
            offsets=dict(end.get("topics", {})),
            lost=int(end.get("lost", 0)),
            **{name: value for name, value in figures.items() if name in cls.__dataclass_fields__},
        )

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)


def _end(progress: Any) -> dict[str, Any]:
    """The offset the batch ended at, as the planner made it."""
    end = progress["sources"][0]["endOffset"] if progress["sources"] else None
    return (json.loads(end) if isinstance(end, str) else end) or {}


class ProgressLog:
    """Batches as they come in, each counted once, though Spark shows the last hundred again and again."""

    TOTALS = ("records_in", "records_out", "dropped")

    def __init__(self) -> None:
        self.last: BatchProgress | None = None
        self.batches = 0
        self.totals: dict[str, int] = dict.fromkeys(self.TOTALS, 0)

    def take(self, progresses: Iterable[Any]) -> list[BatchProgress]:
        """Count what is new."""
        new = []
        for progress in progresses:
            batch = BatchProgress.of(progress)
            if batch is None or self._is_known(batch):
                continue
            self.last = batch
            self.batches += 1
            for name in self.TOTALS:
                self.totals[name] += getattr(batch, name)
            new.append(batch)
        return new

    def is_current(self, last: Any) -> bool:
        """Whether Spark's last progress tells nothing new: then the hundred before need not be fetched."""
        if last is None or self.last is None:
            return last is None
        if str(last["runId"]) != self.last.run:
            return False
        idle = BatchProgress.of(last) is None  # such a report has the number of the batch that is still to come
        return bool(last["batchId"] - idle <= self.last.batch)

    def _is_known(self, batch: BatchProgress) -> bool:
        # After a restart a batch may be done again under its number: it is new if its run is.
        return self.last is not None and batch.run == self.last.run and batch.batch <= self.last.batch
