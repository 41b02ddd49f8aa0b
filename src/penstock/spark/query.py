"""The streaming query of an application: the data source, one exchange for each further level, metrics at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.streaming.query import StreamingQuery

from penstock.spark.data_source import NAME, PenstockSource
from penstock.spark.job import Job, decode
from penstock.spark.rows import METRIC_COLUMNS, PLAN, SPARK_SCHEMA, to_batch
from penstock.spark.shipping import ship_modules
from penstock.spark.tasks.client import run_in_slot
from penstock.spark.tasks.slot import SlotPlan

OBSERVATION = "penstock"

# When an executor dies Spark computes what it held for the next level again, compares, and gives the query up if anything
# differs. The records do not differ, but the rows beside them say how long things took.
_AGAIN_AFTER_A_LOSS = {
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "false",
}


def start_query(spark: SparkSession, job: Job, *, interval_ms: int) -> StreamingQuery:
    """Start the query of a job; its checkpoint is the job's."""
    ship_modules(spark)
    spark.dataSource.register(PenstockSource)
    encoded = job.encode()
    rows: DataFrame = spark.readStream.format(NAME).option("job", encoded).load()
    for level in range(1, job.layout.levels):
        rows = rows.repartitionById(job.layout.slots(level, job.slots), "slot").mapInArrow(
            _stage(encoded, level), SPARK_SCHEMA
        )
    first, *others = (F.sum(name).alias(name) for name in METRIC_COLUMNS)
    rows = rows.observe(OBSERVATION, first, *others)
    writer = (
        rows.writeStream.format("noop")
        .queryName(job.application_id)
        .option("checkpointLocation", f"{job.checkpoint}/query")
        .trigger(processingTime=f"{interval_ms} milliseconds")
    )
    with _settings(spark, _AGAIN_AFTER_A_LOSS):
        return writer.start()


@contextmanager
def _settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """A query keeps the session's settings as they are at its start; other queries of the session are to keep theirs."""
    before = {key: spark.conf.get(key) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, kept in before.items():
            spark.conf.set(key, str(kept))


def _stage(encoded: str, level: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run_level(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from _run_level(encoded, level, batches)

    return run_level


def _run_level(encoded: str, level: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Run a slot of a deeper level: its rows are the plan and the records; the rest passes through."""
    job = decode(encoded)
    plan: SlotPlan | None = None
    mine: list[dict[str, Any]] = []
    passing: list[dict[str, Any]] = []
    for batch in batches:
        for row in batch.to_pylist():
            if row["level"] != level:
                passing.append(row)
            elif row["kind"] == PLAN:
                plan = SlotPlan.unpack(row["payload"])
            else:
                mine.append(row)
    if plan is not None:
        passing += run_in_slot(job, encoded, plan, mine)
    if passing:
        yield to_batch(passing)
