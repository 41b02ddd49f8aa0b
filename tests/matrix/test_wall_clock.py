"""Wall-clock punctuation on Spark: after the records of a batch, by the batch's clock, also without records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.matrix.catalog import Entry
from tests.matrix.heartbeat import beat
from tests.matrix.matrix_run import MatrixRun
from tests.matrix.running import Kafka

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from penstock.broker import LocalBroker


@pytest.mark.spark
@pytest.mark.broker
@pytest.mark.slow
def test_punctuation_by_the_clock_of_the_batch(spark: SparkSession, broker: LocalBroker, tmp_path: Path) -> None:
    entry = Entry("heartbeat", {"in": "events", "other": "keyed"}, beat, "nothing")
    outcome = MatrixRun([entry], Kafka(broker.bootstrap_servers), "wall-clock", {}).run(spark, tmp_path)
    got = outcome.got["heartbeat"]
    assert got == outcome.expected["heartbeat"]
    beats = [r for records in got.values() for r in records if (r.key or b"").startswith(b"task")]
    assert {record.key for record in beats} == {f"task {s}_{p}".encode() for s in (0, 2) for p in range(3)}
