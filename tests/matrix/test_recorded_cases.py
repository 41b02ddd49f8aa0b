"""What Kafka Streams was recorded to answer, on Spark: all cases at once, over as many batches as their order needs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.topology.topics import source_topics
from tests.cases.case import Case, load
from tests.cases.judge import Row, judge
from tests.cases.play import CASE_SERDE, play
from tests.cases.run_streams import DATA
from tests.matrix.case_phases import is_cached, judged, phases
from tests.matrix.case_topology import SHIFT, CaseTopics, read_row, shifted_back, topology
from tests.matrix.data import Sent
from tests.matrix.running import Kafka, running

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.broker import LocalBroker

CASES = [case for case in load(DATA) if not case.legacy]  # the one legacy case needs a join that penstock refuses
UNCACHED = [case for case in CASES if not is_cached(case)]
WITH_CACHE = [case for case in CASES if is_cached(case)]

on_spark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.slow]

Found = dict[str, list[list[Row]]]  # case -> rows of each phase


class CaseRun:
    """One application that runs cases, phase by phase."""

    def __init__(self, cases: Sequence[Case], broker: LocalBroker, name: str, *, caching: bool) -> None:
        self._cases = cases
        self._kafka = Kafka(broker.bootstrap_servers)
        self._names = CaseTopics(name)
        self._ends = {case.id: phases(case) for case in cases}
        self._config = {
            "application.id": name,
            "default.key.serde": CASE_SERDE,
            "default.value.serde": CASE_SERDE,
            "default.timestamp.extractor": shifted_back,
            "statestore.cache.max.bytes": 10_485_760 if caching else 0,
        }

    def run(self, spark: SparkSession, folder: Path) -> tuple[Found, int]:
        """The rows of each case by phase, and the number of dropped records."""
        built = topology(self._cases, self._names, self._config)
        sent = (self._names.of(case, topic) for case in self._cases for topic, *_ in case.inputs)
        topics = dict.fromkeys([*source_topics(built), *sent, self._names.output], 1)
        self._kafka.create(topics)
        marks = [0]
        self._send(0)
        with running(built, spark, self._kafka, folder, topics, **self._config) as application:
            last = max(map(len, self._ends.values()))
            for phase in range(last):
                application.wait_until_consumed()
                marks.append(self._kafka.admin.end_offsets([(self._names.output, 0)])[self._names.output, 0])
                if phase + 1 < last:
                    self._send(phase + 1)
            dropped = application.streams.metrics["dropped-records-total"]
        return self._found(marks), dropped

    def _send(self, phase: int) -> None:
        """Send a phase, all cases abreast: a batch may be cut at any time, so each record waits for the one before."""
        waiting = [
            [(case, given) for given in case.inputs[ends[phase - 1] if phase else 0 : ends[phase]]]
            for case in self._cases
            if phase < len(ends := self._ends[case.id])
        ]
        for abreast in itertools.zip_longest(*waiting):
            for case, (topic, key, value, timestamp) in filter(None, abreast):
                record = Sent(0, _bytes(key), _bytes(value), timestamp + SHIFT, ())
                self._kafka.send(self._names.of(case, topic), [record])
            self._kafka.flush()

    def _found(self, marks: Sequence[int]) -> Found:
        rows = self._kafka.read({self._names.output: 1})[self._names.output, 0]
        found: Found = {case.id: [[] for _ in self._ends[case.id]] for case in self._cases}
        for phase, (start, end) in enumerate(itertools.pairwise(marks)):
            for record in rows[start:end]:
                of_case = found[(record.key or b"").decode()]
                assert phase < len(of_case), f"{record} came after the last input of its case"
                of_case[phase].append(read_row(record.value or b""))
        return found


def _bytes(value: Any) -> bytes | None:
    return None if value is None else CASE_SERDE.serialize("", value)


@pytest.fixture(scope="module")
def uncached(spark: SparkSession, broker: LocalBroker, tmp_path_factory: pytest.TempPathFactory) -> tuple[Found, int]:
    return CaseRun(UNCACHED, broker, "cases", caching=False).run(spark, tmp_path_factory.mktemp("cases"))


@pytest.fixture(scope="module")
def cached(spark: SparkSession, broker: LocalBroker, tmp_path_factory: pytest.TempPathFactory) -> tuple[Found, int]:
    return CaseRun(WITH_CACHE, broker, "cached-cases", caching=True).run(spark, tmp_path_factory.mktemp("cached-cases"))


def test_most_cases_need_few_batches() -> None:
    assert max(len(phases(case)) for case in CASES) <= 20
    assert sum(len(phases(case)) == 1 for case in CASES) > len(CASES) / 2


@pytest.mark.parametrize("case", [pytest.param(case, marks=on_spark, id=case.id) for case in UNCACHED])
def test_case(uncached: tuple[Found, int], case: Case) -> None:
    assert judge(*judged(case, phases(case), uncached[0][case.id])) is None


@pytest.mark.parametrize("case", [pytest.param(case, marks=on_spark, id=case.id) for case in WITH_CACHE])
def test_case_with_caching(cached: tuple[Found, int], case: Case) -> None:
    assert judge(*judged(case, phases(case), cached[0][case.id])) is None


@pytest.mark.spark
@pytest.mark.broker
@pytest.mark.slow
def test_dropped_records(uncached: tuple[Found, int]) -> None:
    assert uncached[1] == sum(sum(play(case).drops) for case in UNCACHED)
