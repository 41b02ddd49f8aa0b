"""An application on Spark for a test: topics, input, waiting, what came out, and the batches Spark made."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka.admin import AdminClient, NewTopic

from penstock import KafkaStreams, Topology
from penstock.kafka.admin import Admin
from penstock.kafka.clients import open_range_consumer
from penstock.kafka.producing import RecordProducer
from penstock.kafka.ranges import read_range
from penstock.topology.topics import source_topics
from tests.matrix.data import Sent
from tests.matrix.reference import Batch, Partition, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAIT_SECONDS = 120.0


@dataclass(slots=True)
class Kafka:
    """A broker, as tests use it."""

    bootstrap_servers: str
    admin: Admin = field(init=False)
    _producer: RecordProducer = field(init=False)
    _consumer: Any = field(init=False)

    def __post_init__(self) -> None:
        settings = {"bootstrap.servers": self.bootstrap_servers}
        self.admin = Admin(settings)
        self._producer = RecordProducer(settings)
        self._consumer = open_range_consumer(settings)

    def create(self, topics: Mapping[str, int]) -> None:
        """Create topics with these numbers of partitions, all in one request."""
        client = AdminClient({"bootstrap.servers": self.bootstrap_servers})
        wanted = [
            NewTopic(name, num_partitions=partitions, replication_factor=1) for name, partitions in topics.items()
        ]
        for answer in client.create_topics(wanted, operation_timeout=60).values():
            answer.result(timeout=60)

    def send(self, topic: str, records: Iterable[Sent]) -> None:
        """Queue records; `flush` waits until they have arrived."""
        for r in records:
            self._producer.produce(
                topic, r.value, r.key, partition=r.partition, timestamp=r.timestamp, headers=r.headers
            )

    def flush(self) -> None:
        self._producer.flush()

    def read(self, topics: Mapping[str, int]) -> dict[Partition, list[Record]]:
        """All records of topics."""
        ends = self.admin.end_offsets([(topic, p) for topic, count in topics.items() for p in range(count)])
        return {
            at: [
                Record(m.key(), m.value(), m.timestamp()[1], _headers(m))
                for messages in read_range(self._consumer, *at, 0, end)
                for m in messages
            ]
            for at, end in ends.items()
        }


def _headers(message: Any) -> tuple[tuple[str, bytes | None], ...]:
    return tuple(message.headers() or ())


class Application:
    """A running application."""

    def __init__(self, streams: KafkaStreams, kafka: Kafka, read: Mapping[str, int]) -> None:
        self.streams = streams
        self._kafka = kafka
        self._read = [(topic, p) for topic, count in read.items() for p in range(count)]

    def wait_until_consumed(self) -> None:
        """Wait until everything in its topics is processed, also what it writes to topics that it reads itself."""
        deadline = time.monotonic() + WAIT_SECONDS
        pause = threading.Event()
        ends = self._ends()
        while True:
            position = self.streams.metrics.get("offsets", {})
            if all(position.get(topic, {}).get(str(p), 0) >= end for (topic, p), end in ends.items()):
                if (later := self._ends()) == ends:
                    return
                ends = later
            self.streams.wait(0)  # raises what ended it
            assert time.monotonic() < deadline, f"not consumed after {WAIT_SECONDS} s: {self.streams.metrics}"
            pause.wait(0.1)

    def _ends(self) -> dict[Partition, int]:
        return dict(self._kafka.admin.end_offsets(self._read))

    def batches(self) -> list[Batch]:
        """The batches of the query's log. After closing."""
        return logged_batches(Path(self.streams.checkpoint) / "query")


def logged_batches(query: Path) -> list[Batch]:
    """The committed batches of a query's checkpoint."""
    found: list[Batch] = []
    ticked = 0
    numbers = sorted(int(file.name) for file in (query / "commits").iterdir() if file.name.isdigit())
    for number in numbers:
        offsets = json.loads((query / "offsets" / str(number)).read_text(encoding="utf-8").splitlines()[-1])
        found.append(
            Batch(
                _offsets(offsets["topics"]),
                _offsets(offsets["globals"]),
                offsets["clock"],
                tick=offsets["ticked"] != ticked,
            )
        )
        ticked = offsets["ticked"]
    return found


def _offsets(nested: Mapping[str, Mapping[str, int]]) -> dict[Partition, int]:
    return {(topic, int(p)): offset for topic, partitions in nested.items() for p, offset in partitions.items()}


@contextmanager
def running(
    topology: Topology, spark: SparkSession, kafka: Kafka, folder: Path, topics: Mapping[str, int], **settings: Any
) -> Iterator[Application]:
    """Run a topology until the block ends."""
    config = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "default.key.serde": "string",
        "default.value.serde": "string",
        "state.dir": str(folder / "state"),
        "penstock.checkpoint": str(folder / "checkpoint"),
        "commit.interval.ms": 50,
        **settings,
    }
    streams = KafkaStreams(topology, config, spark=spark)
    read = {topic: topics[topic] for topic in source_topics(topology)}
    streams.start()
    try:
        yield Application(streams, kafka, read)
    finally:
        streams.close()
