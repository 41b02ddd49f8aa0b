from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock import StreamsBuilder
from penstock.broker import LocalBroker
from penstock.spark.group_offsets import GroupOffsets
from penstock.spark.job import Job
from penstock.spark.offsets import pack
from tests.conftest import TopicFactory
from tests.spark.application import Kafka, running, until
from tests.spark.fake_kafka import make_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.broker]


@pytest.mark.spark
def test_kafkas_own_tools_see_the_position(
    broker: LocalBroker, spark: SparkSession, topic: TopicFactory, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap_servers)
    source, target = topic("in", partitions=2), topic("out")
    builder = StreamsBuilder()
    builder.stream(source, key_serde="string", value_serde="string").to(target)
    kafka.send(source, ("a", "1", 1), ("b", "2", 2), partition=0)
    kafka.send(source, ("c", "3", 3), partition=1)

    def position() -> dict[int, int]:
        both = [(source, 0), (source, 1)]
        return {p: found.offset for (_, p), found in kafka.admin.group_offsets("group-test", both).items()}

    with running(builder, spark, kafka, tmp_path, application_id="group-test") as app:
        until(lambda: position() == {0: 2, 1: 1}, app)  # without a further batch: lag is zero when all is done
        kafka.send(source, ("d", "4", 4), partition=1)
        until(lambda: position() == {0: 2, 1: 2}, app)
        kafka.send(source, ("e", "5", 5), partition=0)
        until(lambda: len(kafka.read(target)) == 5, app)
    assert position() == {0: 3, 1: 2}, "the last batch is seen, too, when the application was stopped right behind it"
    assert sorted(m.value() for m in kafka.read_settled(target)) == [b"1", b"2", b"3", b"4", b"5"]
    assert (tmp_path / "checkpoint" / "start.json").exists()


@pytest.fixture
def job(broker: LocalBroker, topic: TopicFactory, tmp_path: Path) -> Job:
    source = topic("in", partitions=2)
    builder = StreamsBuilder()
    builder.stream(source, key_serde="string", value_serde="string").to("out")
    made = make_job(builder, {source: 2}, tmp_path)
    return replace(made, kafka={"consumer": {"bootstrap.servers": broker.bootstrap_servers}})


def test_what_changed_is_committed_and_answers_are_waited_for_at_the_end(job: Job, broker: LocalBroker) -> None:
    (source,) = job.layout.partitions
    admin = Kafka(broker.bootstrap_servers).admin
    group = GroupOffsets(job)
    group.publish(pack(0, 0, {(source, 0): 5, (source, 1): 7}))
    group.publish(pack(1, 0, {(source, 0): 6, (source, 1): 7}))
    group.close()
    found = admin.group_offsets("app", [(source, 0), (source, 1)])
    assert {p: o.offset for (_, p), o in found.items()} == {0: 6, 1: 7}


def test_a_refusal_is_logged_and_tried_again(job: Job, caplog: pytest.LogCaptureFixture) -> None:
    group = GroupOffsets(job)
    gone = pack(0, 0, {("a-topic-that-never-was", 0): 5})

    def refused() -> bool:
        group.publish(pack(0, 0, {}))  # nothing new, but it takes the answers
        return "could not be published" in caplog.text

    for _ in range(2):
        caplog.clear()
        group.publish(gone)
        until(refused)
    group.close()
