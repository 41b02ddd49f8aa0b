"""Every operator on Spark with caches, the optimizer, and a restart that loses the local state: the same final tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from tests.matrix.catalog import ORIGIN, Entry, catalog
from tests.matrix.matrix_run import MatrixRun, Outcome
from tests.matrix.reference import Record
from tests.matrix.running import Kafka

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.broker import LocalBroker

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.slow]

ENTRIES = [entry for entry in catalog().values() if entry.cached != "nothing"]
SETTINGS = {"statestore.cache.max.bytes": 10_485_760, "topology.optimization": "all"}

Places = Mapping[tuple[str, int], list[Record]]


@pytest.fixture(scope="module")
def outcome(spark: SparkSession, broker: LocalBroker, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    matrix = MatrixRun(ENTRIES, Kafka(broker.bootstrap_servers), "matrix-cached", SETTINGS)
    return matrix.run(spark, tmp_path_factory.mktemp("matrix-cached"), restart=True)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_operator_with_caches(outcome: Outcome, entry: Entry) -> None:
    kept = _records if entry.cached == "records" else _rows
    expected = kept((outcome.settled if entry.cached == "settled rows" else outcome.expected)[entry.name])
    assert expected
    assert kept(outcome.got.get(entry.name, {})) == expected


def _rows(found: Places) -> dict[bytes | None, bytes]:
    """The table that is left at the end.

    A row that comes and goes inside a batch never leaves a cache: a group that had only such rows is missing where it
    is 0 without caches.
    """
    table = {record.key: record.value for records in found.values() for record in records}
    return {key: value for key, value in table.items() if value is not None and value != b"0"}


def _records(found: Places) -> Counter[object]:
    """All records; which task wrote them depends on the optimizer."""
    return Counter(
        (partition, *record[:3], tuple(h for h in record.headers if h[0] != ORIGIN))
        for (_, partition), records in found.items()
        for record in records
    )
