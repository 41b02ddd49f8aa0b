"""Topics of the benchmark's broker: made, filled, watched and removed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import IsolationLevel, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from bench.workloads import PARTITIONS, Input

PRODUCER = {
    # Without it a batch that a new topic's leader refuses is sent again behind the next one, and its records are late for
    # their windows.
    "enable.idempotence": True,
    "linger.ms": 20,
    "compression.type": "lz4",
    "queue.buffering.max.messages": 1_000_000,
    "partitioner": "murmur2_random",  # as Java's producer: systems that look for a key by its hash find it
}

NOW = 0
"""As a timestamp of an input record: the producer's clock."""


class Topics:
    """What the benchmark asks of a broker."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._servers: dict[str, Any] = {"bootstrap.servers": bootstrap_servers, "log_level": 0}
        self._admin = AdminClient(self._servers)

    def create(self, name: str, config: Mapping[str, str] | None = None) -> str:
        new = NewTopic(name, num_partitions=PARTITIONS, replication_factor=1, config=dict(config or {}))
        self._admin.create_topics([new])[name].result(30)
        return name

    def remove_all_of(self, name: str) -> None:
        """Remove the topics that have this text in their name: those of a run and what the application made for itself."""
        found = [topic for topic in self._admin.list_topics(timeout=10).topics if name in topic]
        for future in self._admin.delete_topics(found, operation_timeout=30).values() if found else ():
            future.result(60)

    def visible(self, name: str) -> int:
        """How far a read_committed reader can see, summed over the partitions."""
        latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
        partitions = {TopicPartition(name, p): latest for p in range(PARTITIONS)}
        deadline = time.monotonic() + 10
        while True:
            try:
                found = self._admin.list_offsets(
                    partitions, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=10
                )
                return sum(future.result().offset for future in found.values())
            except KafkaException:  # a new topic whose leader is not known yet
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def producer(self, **config: Any) -> Producer:
        return Producer({**self._servers, **PRODUCER, **config})


def send_all(producer: Producer, topic: str, records: Iterable[Input]) -> None:
    """Hand records to a producer, waiting while its queue is full; those without a key go round the partitions."""
    produce = producer.produce
    for turn, (key, value, timestamp) in enumerate(records):
        while True:
            try:
                if key is None:
                    produce(topic, value, partition=turn % PARTITIONS, timestamp=timestamp)
                else:
                    produce(topic, value, key, timestamp=timestamp)
                break
            except BufferError:
                producer.poll(0.1)
        if turn % 1000 == 0:
            producer.poll(0)


class GatedInput:
    """An input topic whose first records are there from the start, and the others from the moment of `open`.

    The others are written ahead of time in a transaction that `open` commits: until then a read_committed consumer does
    not see them, and then it sees all of them at once. So every system has started and warmed up when its time begins,
    and no producer takes processor time from it.
    """

    def __init__(self, topics: Topics, topic: str) -> None:
        self.topic = topic
        self._topics = topics
        self._producer = topics.producer(**{"transactional.id": topic, "transaction.timeout.ms": 900_000})

    def write(self, first: Iterable[Input], others: Iterable[Input]) -> None:
        plain = self._topics.producer()
        send_all(plain, self.topic, first)
        plain.flush()
        self._producer.init_transactions(30)
        self._producer.begin_transaction()
        send_all(self._producer, self.topic, others)
        self._producer.flush()

    def open(self) -> float:
        """Let the others be seen; the time of that."""
        at = time.time()
        self._producer.commit_transaction(60)
        return at
