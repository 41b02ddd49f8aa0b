"""An application on Spark and Kafka, for tests of the whole way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from penstock import KafkaStreams
from penstock.kafka.admin import Admin
from penstock.kafka.clients import open_range_consumer
from penstock.kafka.producing import RecordProducer
from penstock.kafka.ranges import read_range

_PATIENCE_SECONDS = 240
_SETTLING_SECONDS = 5


def wait_until_settled(admin: Admin, topic: str) -> None:
    """Wait until no transaction is open in a topic, or for a while if one stays so."""
    places = [(topic, partition) for partition in range(admin.topic(topic).partitions)]
    deadline = time.monotonic() + _SETTLING_SECONDS
    while admin.end_offsets(places, committed=True) != admin.end_offsets(places):
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)


class Kafka:
    """A broker as tests use it."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.settings = {"bootstrap.servers": bootstrap_servers}
        self.admin = Admin(self.settings)

    def send(self, topic: str, *records: tuple[str, str | None, int], partition: int = -1) -> None:
        """Records of (key, value, timestamp)."""
        producer = RecordProducer(self.settings)
        for key, value, timestamp in records:
            raw = None if value is None else value.encode()
            producer.produce(topic, raw, key.encode(), partition=partition, timestamp=timestamp)
        producer.flush()

    def read_settled(self, topic: str) -> list[Any]:
        """All records of transactions that were just committed: a broker marks them a moment after it has said so."""
        wait_until_settled(self.admin, topic)
        return self.read(topic)

    def read(self, topic: str) -> list[Any]:
        """All committed records, partition by partition."""
        consumer = open_range_consumer({**self.settings, "isolation.level": "read_committed"})
        found: list[Any] = []
        for partition in range(self.admin.topic(topic).partitions):
            (end,) = self.admin.end_offsets([(topic, partition)], committed=True).values()
            (start,) = self.admin.start_offsets([(topic, partition)]).values()
            found += [m for chunk in read_range(consumer, topic, partition, start, end) for m in chunk]
        consumer.close()
        return found


@contextmanager
def running(topology: Any, spark: Any, kafka: Kafka, folder: Path, **settings: Any) -> Iterator[KafkaStreams]:
    """Run a topology until the block ends."""
    config = {
        **kafka.settings,
        "state.dir": str(folder / "local"),
        "penstock.checkpoint": str(folder / "checkpoint"),
        "commit.interval.ms": 50,
    }
    streams = KafkaStreams(topology, config, spark=spark, **settings)
    streams.start()
    try:
        yield streams
    finally:
        streams.close()


def until(reached: Callable[[], bool], streams: KafkaStreams | None = None) -> None:
    """Wait for something, or for the application's failure."""
    pause = threading.Event()
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if reached():
            return
        if streams is not None:
            streams.wait("1ms")
        pause.wait(0.05)
    raise AssertionError(f"not reached in {_PATIENCE_SECONDS} seconds")
