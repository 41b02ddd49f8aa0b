"""Where records go that a task writes for other tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder
from penstock.broker import LocalBroker
from penstock.kafka.errors import TopicMissing
from penstock.spark.tasks.collector import TaskCollector
from tests.conftest import TopicFactory
from tests.spark.fake_kafka import make_job
from tests.spark.in_process import InProcess

SERDES: dict[str, Any] = {"key_serde": "string", "value_serde": "string"}


def test_records_without_a_key_go_the_same_way_when_a_pass_is_done_again(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    builder.stream("a", **SERDES).repartition(name="b", partitions=3).to("c", **SERDES)
    job = make_job(builder, {"a": 3, "c": 3}, tmp_path)
    (name,) = job.topology.internal_topics
    collector = TaskCollector(job, "0_0")

    def one_pass(count: int) -> list[Any]:
        collector.begin(None)
        for _ in range(count):
            collector.send(job.real_topic(name), None, b"x", 1, (), None)  # type: ignore[arg-type]
        return [row["partition"] for row in collector.rows()]

    assert one_pass(2) == [0, 1]
    assert one_pass(2) == [0, 1]


@pytest.mark.broker
def test_a_topic_that_is_not_there_has_no_number_of_partitions_yet(
    broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    builder, source, later = StreamsBuilder(), topic("in"), topic("later", partitions=3)
    builder.stream(source, **SERDES).to(topic("out"))
    settings = {"bootstrap.servers": broker.bootstrap_servers, "application.id": f"app-{source}"}
    collector = TaskCollector(InProcess(builder, tmp_path, **settings).job, "0_0")
    with pytest.raises(TopicMissing, match=f"'{later}-x' does not exist"):
        collector.partition_count(f"{later}-x")
    assert collector.partition_count(later) == 3
