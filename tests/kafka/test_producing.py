from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer

from penstock.kafka.errors import DeliveryFailed, KafkaClientError, TopicMissing
from penstock.kafka.producing import RecordProducer
from penstock.kafka.ranges import read_range
from tests.kafka.conftest import Settings

pytestmark = pytest.mark.broker
TopicFactory = Callable[..., str]


def test_key_value_headers_partition_and_timestamp_arrive(
    settings: Settings, topic: TopicFactory, committed_reader: Consumer
) -> None:
    name = topic(partitions=3)
    producer = RecordProducer(settings)
    producer.produce(name, b"v", b"k", partition=2, timestamp=42, headers=[("a", b"1"), ("a", None)])
    producer.produce(name, None, b"k", partition=2, timestamp=0)
    producer.flush()
    first, second = next(iter(read_range(committed_reader, name, 2, 0, 2)))
    assert (first.key(), first.value(), first.timestamp()[1]) == (b"k", b"v", 42)
    assert first.headers() == [("a", b"1"), ("a", None)]
    assert second.value() is None
    # The client library cannot write 0: it takes it for now.
    assert second.timestamp()[1] == 1


def test_records_the_broker_does_not_take_are_raised_by_the_next_flush_only(
    settings: Settings, topic: TopicFactory
) -> None:
    small, fine = topic("small", config={"max.message.bytes": "500"}), topic("fine")
    producer = RecordProducer(settings)
    producer.produce(small, b"x" * 2_000)
    producer.produce(fine, b"y")
    with pytest.raises(DeliveryFailed, match=r"1 record was not delivered .*size") as caught:
        producer.flush()
    assert caught.value.count == 1
    producer.flush()


def test_a_broker_that_is_away_is_not_waited_for_forever() -> None:
    producer = RecordProducer({"bootstrap.servers": "127.0.0.1:1"})
    producer.produce("anything", b"x")
    with pytest.raises(DeliveryFailed, match=r"1 still waiting after 0\.2 seconds"):
        producer.flush(0.2)
    producer.flush(0.2)


def test_records_the_client_refuses_are_raised_at_once(settings: Settings, topic: TopicFactory) -> None:
    name = topic()
    producer = RecordProducer(settings)
    producer.produce(name, b"x")
    producer.flush()
    with pytest.raises(TopicMissing, match="has no partition 9"):
        producer.produce(name, b"x", partition=9)
    with pytest.raises(KafkaClientError, match=r"too large for the client\. Raise message"):
        producer.produce(name, b"x" * 2_000_000)


def test_a_full_queue_is_waited_for(settings: Settings, topic: TopicFactory, committed_reader: Consumer) -> None:
    name = topic()
    tight: dict[str, Any] = {**settings, "queue.buffering.max.messages": 10, "linger.ms": 0}
    producer = RecordProducer(tight)
    for i in range(500):
        producer.produce(name, str(i).encode())
    producer.flush()
    assert sum(map(len, read_range(committed_reader, name, 0, 0, 500))) == 500
