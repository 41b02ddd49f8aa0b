"""Every operator on Spark, three partitions: each task writes exactly what the test driver writes, in its order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.matrix.catalog import catalog
from tests.matrix.matrix_run import MatrixRun, Outcome
from tests.matrix.running import Kafka

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.broker import LocalBroker

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.slow]


@pytest.fixture(scope="module")
def outcome(spark: SparkSession, broker: LocalBroker, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    matrix = MatrixRun(list(catalog().values()), Kafka(broker.bootstrap_servers), "matrix", {})
    return matrix.run(spark, tmp_path_factory.mktemp("matrix"))


@pytest.mark.parametrize("operator", catalog())
def test_operator(outcome: Outcome, operator: str) -> None:
    assert outcome.expected[operator]
    assert outcome.got.get(operator) == outcome.expected[operator]


def test_drops_are_counted(outcome: Outcome) -> None:
    assert outcome.expected_dropped
    assert outcome.dropped == outcome.expected_dropped
