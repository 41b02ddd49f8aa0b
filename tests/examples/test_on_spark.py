"""The examples on Spark: what comes out for each key is what the test driver gives, task by task."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.runtime.topology_target import load_topology
from tests.matrix.reference import Record, Reference
from tests.matrix.running import Kafka, running

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.broker import LocalBroker

ROOT = Path(__file__).parents[2]
START = 1_700_000_000_000
OUTPUTS = {"word_count": "word-counts", "stock_statistics": "stock-statistics", "clickstream": "activity"}

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.slow]


@pytest.mark.parametrize("example", OUTPUTS)
def test_example(example: str, spark: SparkSession, swept_broker: LocalBroker, tmp_path: Path) -> None:
    topics = importlib.import_module(f"examples.{example}.generate").TOPICS
    output = OUTPUTS[example]
    generate(example, swept_broker.bootstrap_servers)
    kafka = Kafka(swept_broker.bootstrap_servers)
    config = {"application.id": f"example-{example}", "statestore.cache.max.bytes": 0}
    topology = load_topology(f"examples.{example}:topology")
    with running(topology, spark, kafka, tmp_path, topics, **config) as application:
        application.wait_until_consumed()
    reference = Reference(topology, topics, config)
    written = reference.run(application.batches(), kafka.read(topics))
    reference.close()
    expected = [w.record for results in written.values() for w in results if w.topic == output]
    got = [record for found in kafka.read({output: topics[output]}).values() for record in found]
    assert by_key(got) == by_key(expected)
    assert len(got) > 100


def generate(example: str, bootstrap_servers: str) -> None:
    """Run the example's generator, which also makes its topics."""
    options = ["--count", "300", "--start", str(START), "--at-once"]
    done = subprocess.run(
        [sys.executable, "-m", f"examples.{example}.generate", *options],
        cwd=ROOT,
        env={**os.environ, "PENSTOCK_BOOTSTRAP_SERVERS": bootstrap_servers},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr


def by_key(records: list[Record]) -> dict[bytes | None, list[Record]]:
    found: dict[bytes | None, list[Record]] = {}
    for record in records:
        found.setdefault(record.key, []).append(record)
    return found
