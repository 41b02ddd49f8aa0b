"""What the sinks of a task write: records for Kafka go to the slot's output, those for other tasks become rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from confluent_kafka import KafkaException

from penstock.kafka.clients import translate
from penstock.kafka.errors import TopicMissing
from penstock.kafka.murmur2 import partition_for
from penstock.records import Headers
from penstock.spark.job import Job
from penstock.spark.rows import RECORDS, RecordBuffer, Row
from penstock.spark.tasks.commits import committer
from penstock.spark.tasks.outgoing import Columns
from penstock.spark.tasks.outputs import CHUNK, SlotOutput


class TaskCollector:
    """Takes what a task's sinks write: internal topics become rows for the next level, others go to Kafka."""

    def __init__(self, job: Job, task: str) -> None:
        self._job = job
        self._task = task
        self._internal = {job.real_topic(t): t for t in job.topology.internal_topics}
        self._buffers: dict[tuple[str, int], RecordBuffer] = {}
        self._counts = {job.real_topic(t): n for t, n in job.layout.partitions.items()}
        self._any_partition = itertools.count()
        self.output: SlotOutput | None = None  # None: this batch was committed before, nothing is sent again
        self.count = 0

    def begin(self, output: SlotOutput | None) -> None:
        """A pass begins. One that is done again sends each record to where it went before, also those without a key."""
        self.output, self.count = output, 0
        self._any_partition = itertools.count()

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: Headers,
        partition: int | None,
    ) -> None:
        """Take one record."""
        self.count += 1
        if topic not in self._internal:
            if self.output is not None:
                # As `outgoing` does, without the call.
                chosen, stamp = -1 if partition is None else partition, timestamp or 1
                waiting = self.output.waiting
                waiting.append((topic, value, key, chosen, None, None, stamp, list(headers) if headers else None))
                if len(waiting) >= CHUNK:
                    self.output.hand_over()
            return
        if partition is None:
            n = self._counts[topic]
            partition = next(self._any_partition) % n if key is None else partition_for(key, n)
        target = (topic, partition)
        buffer = self._buffers.get(target)
        if buffer is None:
            buffer = self._buffers[target] = RecordBuffer()
        buffer.add(key, value, timestamp, headers)

    def send_all(
        self,
        topic: str,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        timestamps: Sequence[int],
        headers: Sequence[Headers],
    ) -> None:
        """Take many records of one topic."""
        if topic in self._internal:
            for record in zip(keys, values, timestamps, headers, strict=True):
                self.send(topic, *record, None)
            return
        self.count += len(keys)
        if self.output is None:
            return
        lists = [list(one) if one else None for one in headers] if any(headers) else None
        self.output.produce_columns(Columns(topic, keys, values, timestamps, lists))

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has; topics the application does not read are asked for once."""
        if topic not in self._counts:
            try:
                known = committer(self._job).list_topics(topic, timeout=10).topics[topic].partitions
            except KafkaException as error:
                raise translate(error, self._job.kafka["consumer"], topic=topic) from error
            if not known:
                raise TopicMissing(topic)  # not one partition: a topic that is made a moment later may have more
            self._counts[topic] = len(known)
        return self._counts[topic]

    def rows(self) -> Iterator[Row]:
        """The records for other tasks, packed."""
        job = self._job
        for (topic, partition), buffer in self._buffers.items():
            for reader in job.layout.readers(self._internal[topic]):
                slots = job.layout.slots(reader.level, job.slots)
                for blob in buffer.blobs():
                    yield {
                        "slot": job.layout.slot_of(reader.subtopology, partition, slots),
                        "level": reader.level,
                        "kind": RECORDS,
                        "subtopology": reader.subtopology,
                        "partition": partition,
                        "topic": topic,
                        "source": self._task,
                        "payload": blob,
                    }
        self._buffers = {}
