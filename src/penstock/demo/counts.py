"""The counts as any user of the output topic sees them."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Mapping

from confluent_kafka import Message, TopicPartition

from penstock.kafka.clients import open_consumer
from penstock.kafka.settings import Settings

_LONG = struct.Struct(">q")


class CountsReader(threading.Thread):
    """Reads the counts topic from its beginning until stopped.

    Attributes:
        first: When the first count arrived, by `time.monotonic`.
        updates: Records read.
    """

    def __init__(self, settings: Settings, topic: str, partitions: int) -> None:
        super().__init__(name="penstock-demo-counts", daemon=True)
        self._settings = {**settings, "isolation.level": "read_committed"}
        self._assignment = [TopicPartition(topic, partition, 0) for partition in range(partitions)]
        self._stopping = threading.Event()
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()
        self.first: float | None = None
        self.updates = 0

    def run(self) -> None:
        consumer = open_consumer(self._settings)
        try:
            consumer.assign(self._assignment)
            while not self._stopping.is_set():
                self._take(consumer.consume(1000, timeout=0.2))
        finally:
            consumer.close()

    def _take(self, messages: list[Message]) -> None:
        with self._lock:
            for message in messages:
                key, value = message.key(), message.value()
                if message.error() or not isinstance(key, bytes) or not isinstance(value, bytes):
                    continue
                self._counts[key.decode()] = _LONG.unpack(value)[0]
                self.updates += 1
            if self._counts and self.first is None:
                self.first = time.monotonic()

    def counts(self) -> Mapping[str, int]:
        """The latest count of each word."""
        with self._lock:
            return dict(self._counts)

    def stop(self) -> None:
        self._stopping.set()
        if self.is_alive():
            self.join()
