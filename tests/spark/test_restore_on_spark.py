"""The whole way: Spark's own log of batches, a lost state folder, changelogs, and results that go on."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock import KafkaStreams, StreamsBuilder, TimeWindows
from penstock.broker import LocalBroker
from tests.conftest import TopicFactory
from tests.spark.application import Kafka, until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.slow, pytest.mark.timeout(1200)]
TEXT: dict[str, Any] = {"key_serde": "string", "value_serde": "string"}


class Told:
    def __init__(self) -> None:
        self.restored: dict[tuple[str, int], int] = {}

    def on_restore_start(self, partition: tuple[str, int], store: str, start: int, end: int) -> None: ...

    def on_batch_restored(self, partition: tuple[str, int], store: str, batch_end: int, restored: int) -> None: ...

    def on_restore_end(self, partition: tuple[str, int], store: str, restored: int) -> None:
        self.restored[store, partition[1]] = restored


def test_a_lost_state_folder_is_rebuilt(
    broker: LocalBroker, spark: SparkSession, topic: TopicFactory, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap_servers)
    source, counts, windows = topic("in", partitions=2), topic("counts"), topic("windows")
    builder = StreamsBuilder()
    grouped = builder.stream(source, **TEXT).group_by_key(**TEXT)
    grouped.count(store="counts").to_stream().to(counts)
    grouped.windowed_by(TimeWindows("1h")).count(store="windows").to_stream().to(windows)
    now = int(time.time() * 1000)

    def run(rounds: int, told: Told) -> None:
        config = {
            **kafka.settings,
            "application.id": "restore-on-spark",
            "state.dir": str(tmp_path / "local"),
            "penstock.checkpoint": str(tmp_path / "checkpoint"),
            "processing.guarantee": "exactly_once_v2",
            "commit.interval.ms": 50,
        }
        app = KafkaStreams(builder, config, spark=spark)
        app.set_state_restore_listener(told)
        app.start()
        try:
            for _ in range(rounds):
                before = len(kafka.read(counts))
                kafka.send(source, *[(f"k{i}", "v", now) for i in range(8)])
                until(lambda before=before: len(kafka.read(counts)) >= before + 8, app)  # type: ignore[misc]
        finally:
            app.close()

    first = Told()
    run(2, first)
    assert first.restored == {}
    shutil.rmtree(tmp_path / "checkpoint" / "state")
    shutil.rmtree(tmp_path / "local")
    second = Told()
    run(1, second)
    assert set(second.restored) == {(s, p) for s in ("counts", "windows") for p in (0, 1)}
    for target in (counts, windows):
        last = {m.key(): int.from_bytes(m.value(), "big") for m in kafka.read(target)}
        assert sorted(last.values()) == [3] * 8
