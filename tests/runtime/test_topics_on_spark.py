"""Topics that come, go and grow while an application runs on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock import KafkaStreams, StreamsBuilder
from penstock.broker import LocalBroker
from penstock.runtime.states import StreamsState
from tests.conftest import TopicFactory
from tests.spark.application import Kafka, running, until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.slow]
OFTEN = {"penstock_topics_check_ms": 200, "processing_guarantee": "exactly_once_v2"}


def counts(kafka: Kafka, topic: str) -> list[tuple[bytes, int]]:
    return [(m.key(), int.from_bytes(m.value(), "big")) for m in kafka.read_settled(topic)]


def reads(streams: KafkaStreams, *topics: str) -> bool:
    return streams.state is StreamsState.RUNNING and set(streams.metrics.get("offsets", ())) == set(topics)


def test_topics_of_a_pattern_come_and_go(
    spark: SparkSession, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    kafka, out = Kafka(broker.bootstrap_servers), topic("out")
    first, second = f"{out}-in-1", f"{out}-in-2"
    kafka.admin.create_topic(first, partitions=1)
    builder = StreamsBuilder()
    builder.stream(pattern=f"{out}-in-.*").group_by_key().count(name="counts").to_stream().to(out, value_serde="long")
    with running(builder, spark, kafka, tmp_path, application_id=f"app-{out}", **OFTEN) as streams:

        def counted(expected: int, topic: str, *read: str) -> None:
            kafka.send(topic, ("k", "v", expected))
            until(lambda: counts(kafka, out) == [(b"k", n) for n in range(1, expected + 1)], streams)
            until(lambda: reads(streams, *read), streams)

        counted(1, first, first)
        kafka.admin.create_topic(second, partitions=1)
        counted(2, second, first, second)
        kafka.admin.delete_topics([second])
        counted(3, first, first)
        kafka.admin.create_topic(second, partitions=1)
        counted(4, second, first, second)
        assert streams.metrics["lost-records-total"] == 0


def test_a_topic_that_grows_in_front_of_a_repartition(
    spark: SparkSession, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    kafka, words, out = Kafka(broker.bootstrap_servers), topic("words", partitions=2), topic("out")
    kafka.send(words, ("1", "a", 1), ("2", "b", 2))
    builder = StreamsBuilder()
    counted = builder.stream(words).group_by(_itself).count(name="counts")
    counted.to_stream().to(out, value_serde="long")
    with running(builder, spark, kafka, tmp_path, application_id=f"app-{words}", **OFTEN) as streams:
        until(lambda: sorted(counts(kafka, out)) == [(b"a", 1), (b"b", 1)], streams)
        kafka.admin.add_partitions(words, 5)
        until(lambda: streams.metrics["restarts-total"] == 1 and streams.state is StreamsState.RUNNING, streams)
        for partition in range(2, 5):
            kafka.send(words, ("3", "a", 3), ("4", "b", 4), partition=partition)
        until(lambda: _last(kafka, out) == {b"a": 4, b"b": 4}, streams)
        until(lambda: set(streams.metrics["offsets"][words]) == {"0", "1", "2", "3", "4"}, streams)


def _itself(word: str) -> str:
    return word


def _last(kafka: Kafka, topic: str) -> dict[Any, int]:
    return dict(counts(kafka, topic))
