"""A data source of the same shape as penstock's, without Kafka: what a first batch loads, this one loads before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

import penstock.spark.data_source  # noqa: F401 - a worker that has this module has all that a task needs
from penstock.spark.quiet_end import end_quietly
from penstock.spark.rows import METRICS, SPARK_SCHEMA, to_batch

NAME = "penstock-warm-up"


class WarmUpSource(DataSource):
    """One batch with one row for each slot."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return SPARK_SCHEMA

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        return _Reader(int(self.options["slots"]))


class _Reader(DataSourceStreamReader):
    def __init__(self, slots: int) -> None:
        self._slots = slots

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        end_quietly()
        return {"batch": 0}

    def latestOffset(self, *_: Any) -> dict[str, int]:  # noqa: N802 - Spark's name
        return {"batch": 1}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [InputPartition(slot) for slot in range(self._slots)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield to_batch([{"slot": partition.value, "level": 1, "kind": METRICS}])


def pass_through(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The level after the exchange."""
    yield from batches
