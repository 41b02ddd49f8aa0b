from __future__ import annotations

import uuid

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from penstock.broker import LocalBroker
from tests.conftest import TopicFactory

pytestmark = pytest.mark.broker


def test_records_come_back(broker: LocalBroker, topic: TopicFactory) -> None:
    name = topic(partitions=3)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(10):
        producer.produce(name, key=str(number), value=f"value {number}", timestamp=1_000 + number)
    assert producer.flush(30) == 0

    assert sorted(_read(broker, name, 10)) == [(str(n).encode(), f"value {n}".encode(), 1_000 + n) for n in range(10)]


def test_a_topic_has_the_partitions_asked_for(broker: LocalBroker, topic: TopicFactory) -> None:
    one, four = topic(), topic(partitions=4)
    topics = AdminClient({"bootstrap.servers": broker.bootstrap_servers}).list_topics(timeout=10).topics
    assert (len(topics[one].partitions), len(topics[four].partitions)) == (1, 4)


def _read(broker: LocalBroker, name: str, count: int) -> list[tuple[bytes, bytes, int]]:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": uuid.uuid4().hex,
            "auto.offset.reset": "earliest",
        }
    )
    try:
        consumer.subscribe([name])
        records: list[tuple[bytes, bytes, int]] = []
        while len(records) < count:
            for message in consumer.consume(count, timeout=30):
                assert message.error() is None
                records.append((message.key() or b"", message.value() or b"", message.timestamp()[1]))
        return records
    finally:
        consumer.close()
