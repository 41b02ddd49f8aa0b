"""Running the matrix on Spark, and what its tasks had to write."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.matrix.catalog import ORIGIN, PARTITIONS, Entry, build
from tests.matrix.data import records
from tests.matrix.reference import Batch, Partition, Record, Reference
from tests.matrix.running import Application, Kafka, logged_batches, running

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECORDS = 90
PHASES = 3

Results = dict[str, dict[tuple[str, int], list[Record]]]  # operator -> task and partition -> records
UNCACHED = {
    "default.key.serde": "string",
    "default.value.serde": "string",
    "statestore.cache.max.bytes": 0,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an application gave, and what it should.

    Attributes:
        expected: By the batches that Spark made.
        settled: By batches of at most one record of a partition.
    """

    got: Results
    expected: Results
    settled: Results
    dropped: int
    expected_dropped: int


class MatrixRun:
    """One application with some operators."""

    def __init__(self, entries: list[Entry], kafka: Kafka, name: str, settings: Mapping[str, Any]) -> None:
        self._kafka = kafka
        self._config = {**UNCACHED, **settings, "application.id": name}
        self._matrix = build(entries, name, self._config)
        # The reference knows neither caches nor the optimizer.
        self._plain_config = {**UNCACHED, "application.id": name}
        self._plain = build(entries, name, self._plain_config)
        self._sent = {t: list(records(kind, t, RECORDS, PARTITIONS)) for t, kind in self._matrix.inputs.items()}

    def run(self, spark: SparkSession, folder: Path, *, restart: bool = False) -> Outcome:
        """Send everything in phases and take what comes out.

        Args:
            spark: The session.
            folder: For checkpoint and local state.
            restart: Close the application after the first phase, lose its local state, and start it anew.
        """
        self._kafka.create(self._matrix.topics)
        dropped = 0
        for phases in ([0], range(1, PHASES)) if restart else (range(PHASES),):
            first, *more = phases
            self._send(first)
            with self._running(spark, folder) as application:
                application.wait_until_consumed()
                for phase in more:
                    self._send(phase)
                    application.wait_until_consumed()
                dropped += application.streams.metrics["dropped-records-total"]
            shutil.rmtree(folder / "state")
        return self._outcome(folder, dropped)

    def _running(self, spark: SparkSession, folder: Path) -> AbstractContextManager[Application]:
        return running(self._matrix.topology, spark, self._kafka, folder, self._matrix.topics, **self._config)

    def _send(self, phase: int) -> None:
        for topic, found in self._sent.items():
            self._kafka.send(topic, found[phase * RECORDS // PHASES : (phase + 1) * RECORDS // PHASES])
        self._kafka.flush()

    def _outcome(self, folder: Path, dropped: int) -> Outcome:
        topics = self._plain.topics
        batches = logged_batches(folder / "checkpoint" / "query")
        inputs = self._kafka.read(topics)
        expected, expected_dropped = self._expected(batches, inputs)
        settled, _ = self._expected(_one_by_one(batches[-1]), inputs)
        got = self._kafka.read({self._plain.output: topics[self._plain.output]})
        return Outcome(_by_operator(got), expected, settled, dropped, expected_dropped)

    def _expected(self, batches: list[Batch], inputs: Mapping[Partition, list[Record]]) -> tuple[Results, int]:
        matrix = self._plain
        reference = Reference(matrix.topology, matrix.topics, self._plain_config)
        found: dict[Partition, list[Record]] = {}
        for results in reference.run(batches, inputs).values():
            for topic, partition, record in results:
                if topic == matrix.output:
                    found.setdefault((topic, partition), []).append(record)
        reference.close()
        return _by_operator(found), reference.dropped


def _one_by_one(last: Batch) -> list[Batch]:
    steps = range(1, max(last.ends.values()) + 1)
    return [replace(last, ends={at: min(step, end) for at, end in last.ends.items()}) for step in steps]


def _by_operator(found: Mapping[Partition, list[Record]]) -> Results:
    """By operator, task and partition; the order inside one of them is given. No key: any partition is right."""
    results: Results = {}
    for (_, partition), in_partition in found.items():
        for record in in_partition:
            operator, _, task = (dict(record.headers)[ORIGIN] or b"").decode().partition("/")
            at = (task, -1 if record.key is None else partition)
            results.setdefault(operator, {}).setdefault(at, []).append(record)
    for by_place in results.values():
        for (_, partition), in_partition in by_place.items():
            if partition == -1:
                in_partition.sort(key=repr)
    return results
