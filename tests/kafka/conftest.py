from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Message

from penstock.broker import LocalBroker
from penstock.kafka.admin import Admin
from penstock.kafka.clients import open_range_consumer
from penstock.kafka.producing import RecordProducer

Settings = dict[str, Any]
Send = Callable[..., None]


@pytest.fixture(scope="session")
def settings(broker: LocalBroker) -> Settings:
    return {"bootstrap.servers": broker.bootstrap_servers}


@pytest.fixture(scope="session")
def admin(settings: Settings) -> Admin:
    return Admin(settings)


@pytest.fixture(scope="session")
def committed_reader(settings: Settings) -> Iterator[Consumer]:
    """One consumer for all tests, as a worker process keeps it."""
    consumer = open_range_consumer({**settings, "isolation.level": "read_committed"})
    yield consumer
    consumer.close()


@pytest.fixture
def send(settings: Settings) -> Send:
    """`send(topic, [(timestamp, value), ...], partition=0)`."""
    producer = RecordProducer(settings)

    def produce(topic: str, records: Iterable[tuple[int, str]], *, partition: int = 0) -> None:
        for timestamp, value in records:
            producer.produce(topic, value.encode(), b"k", partition=partition, timestamp=timestamp)
        producer.flush()

    return produce


def values(chunks: Iterable[list[Message]]) -> list[str]:
    return [(message.value() or b"").decode() for chunk in chunks for message in chunk]
