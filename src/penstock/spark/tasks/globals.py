"""Global tables in a worker: one copy a process, followed to exactly the offsets that the batch was planned with."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaException, TopicPartition

from penstock.interpreter.global_tables import GlobalTables
from penstock.kafka.clients import open_range_consumer, translate
from penstock.kafka.errors import OffsetsGone
from penstock.kafka.ranges import read_range
from penstock.spark.job import Job
from penstock.state.bytes_store import MemoryBytesStore

log = logging.getLogger("penstock.slot")

Planned = tuple[tuple[str, int, int], ...]  # topic, partition, offset to follow it to


class _Copy:
    """The global tables of a job in this process, and how far they are."""

    def __init__(self, job: Job, system_time: Callable[[], int]) -> None:
        self.run = job.run
        self._bytes: dict[str, MemoryBytesStore] = {}
        self.tables = GlobalTables(
            job.topology,
            config=job.config,
            bytes_store=lambda name: self._bytes.setdefault(name, MemoryBytesStore()),
            system_time=system_time,
        )
        self.position: dict[tuple[str, int], int] = {}
        self._settings = job.kafka["consumer"]
        self._consumer: Any = open_range_consumer(self._settings, group_id=job.commits_group)

    def follow(self, planned: Planned) -> None:
        """Read up to the planned offsets."""
        update: Callable[..., None] = self.tables.update
        for topic, partition, end in planned:
            start = self.position.get((topic, partition), -1)
            if start < 0:
                start = self._first(topic, partition)
            for messages in read_range(self._consumer, topic, partition, start, end):
                for m in messages:
                    update(topic, partition, m.offset() or 0, m.timestamp()[1], m.key(), m.value(), m.headers())
            self.position[topic, partition] = max(start, end)

    def _first(self, topic: str, partition: int) -> int:
        try:
            first: int = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)[0]
        except KafkaException as error:
            raise translate(error, self._settings, topic=topic) from None
        return first


_copies: dict[str, _Copy] = {}
_NONE: dict[str, Any] = {}


def global_stores(job: Job, planned: Planned, system_time: Callable[[], int]) -> dict[str, Any]:
    """The global stores as of the planned offsets.

    A replayed batch must see the table it saw first: a copy that is ahead of the plan is made anew.
    """
    if not job.topology.global_stores:
        return _NONE
    copy = _copies.get(job.run)
    if copy is None or any(copy.position.get((t, p), 0) > end for t, p, end in planned):
        copy = _made_anew(job, system_time)
    try:
        _follow(copy, planned)
    except OffsetsGone as error:
        # This process had nothing to do for longer than the topic keeps its records.
        log.info("the global tables of %s are made anew: %s", job.application_id, error)
        copy = _made_anew(job, system_time)
        _follow(copy, planned)
    return copy.tables.stores


def _made_anew(job: Job, system_time: Callable[[], int]) -> _Copy:
    close_global_stores()
    copy = _copies[job.run] = _Copy(job, system_time)
    return copy


def _follow(copy: _Copy, planned: Planned) -> None:
    try:
        copy.follow(planned)
    except BaseException:
        close_global_stores()  # nobody knows how many of the records it has
        raise


def close_global_stores() -> None:
    """Close the global stores of this process, and the processors that keep them."""
    for copy in list(_copies.values()):
        try:
            copy.tables.close()
        except Exception:
            log.exception("global stores were not closed well")
    _copies.clear()
