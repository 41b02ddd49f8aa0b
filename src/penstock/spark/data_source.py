"""The data source that runs an application: Spark plans with its offsets, and its partitions are the slots of level 0."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit

from penstock.kafka.admin import Admin
from penstock.spark.group_offsets import GroupOffsets
from penstock.spark.job import Job, decode
from penstock.spark.offsets import Offsets, records_between
from penstock.spark.planner import Planner
from penstock.spark.quiet_end import end_quietly
from penstock.spark.rows import SPARK_SCHEMA, to_batch
from penstock.spark.samples import Samples
from penstock.spark.tasks.client import run_in_slot
from penstock.spark.tasks.slot import SlotPlan

NAME = "penstock"


class PenstockSource(DataSource):
    """Registered with Spark under the name `penstock`; its option `job` is the encoded application."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return NAME

    def schema(self) -> str:
        """Rows between levels."""
        return SPARK_SCHEMA

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """The reader: planner on the driver, tasks in the workers."""
        return PenstockReader(self.options["job"])


class _Slots(InputPartition):
    """A slot of level 0, and with the first one the plans of all deeper slots."""

    def __init__(self, own: SlotPlan, deeper: Sequence[SlotPlan]) -> None:
        super().__init__((own, tuple(deeper)))


class PenstockReader(DataSourceStreamReader):
    """Plans batches and runs slots."""

    def __init__(self, job: str) -> None:
        self._encoded = job
        self._planner: Planner | None = None
        self._planned_at: tuple[int, float, int] | None = None
        self._group: GroupOffsets | None = None

    @property
    def _job(self) -> Job:
        return decode(self._encoded)

    def _plans(self) -> Planner:
        if self._planner is None:
            end_quietly()  # this is Spark's runner of the source, a process of its own
            job = self._job
            samples = Samples(job.kafka["consumer"], group_id=job.commits_group)
            self._planner = Planner(job, Admin(job.kafka["admin"]), samples)
        return self._planner

    def initialOffset(self) -> Offsets:  # noqa: N802 - Spark's name
        """Where a new application starts."""
        return self._plans().initial()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """The planner limits batches itself."""
        return ReadAllAvailable()

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:  # noqa: N802 - Spark's name
        """The end of the next batch."""
        planner = self._plans()
        self._publish(start)  # here and not in commit(), which comes with the next batch: lag would never be zero
        if self._planned_at is not None and start["batch"] == self._planned_at[0]:
            # Spark asks for the next batch right after the last one: the time between is what that one took.
            planner.learned(self._planned_at[2], (time.monotonic() - self._planned_at[1]) * 1000)
            self._planned_at = None
        end = planner.next(start)
        if end is not start:
            self._planned_at = (end["batch"], time.monotonic(), records_between(start, end))
        return end

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[InputPartition]:
        """The slots of level 0."""
        plans = self._plans().slots(start, end)
        first = [p for p in plans if p.level == 0]
        deeper = [p for p in plans if p.level > 0]
        return [_Slots(plan, deeper if i == 0 else ()) for i, plan in enumerate(first)]

    def _publish(self, done: Offsets) -> None:
        """Publish the offsets of the application's group, so that Kafka's own tools show its lag."""
        if self._group is None:
            self._group = GroupOffsets(self._job)
        if done["batch"] >= 0:
            self._group.publish(done)

    def commit(self, end: Offsets) -> None:
        """Spark knows that a batch is done when it plans the next one; so do we."""

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Run a slot in a worker."""
        own, deeper = partition.value
        rows = [*(plan.pack() for plan in deeper), *run_in_slot(self._job, self._encoded, own)]
        if rows:
            yield to_batch(rows)

    def __getstate__(self) -> dict[str, Any]:
        return {"_encoded": self._encoded, "_planner": None, "_planned_at": None, "_group": None}
