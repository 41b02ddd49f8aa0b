"""The application's consumer group: it reads nothing through it, but keeps its offsets for everybody who looks."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

from confluent_kafka import KafkaException, TopicPartition

from penstock.kafka.clients import open_consumer
from penstock.spark.job import Job
from penstock.spark.offsets import Offsets, PartitionId, unpack
from penstock.spark.query_log import last_done

log = logging.getLogger("penstock.planner")

_FAREWELL_SECONDS = 5.0


class GroupOffsets:
    """Commits offsets for the group `application.id` without being a member of it.

    The truth is in the checkpoint: a failure is logged, and the next call tries again.
    """

    def __init__(self, job: Job) -> None:
        settings = {**job.kafka["consumer"], "on_commit": self._answered}
        self._consumer: Any = open_consumer(settings, group_id=job.application_id)
        self._published: dict[PartitionId, int] = {}
        self._waiting = 0

    def publish(self, end: Offsets) -> None:
        """Commit what changed, without waiting for the answer."""
        self._consumer.poll(0)  # hands over the answers to earlier calls
        offsets = unpack(end)
        changed = {at: o for at, o in offsets.items() if self._published.get(at) != o}
        if not changed:
            return
        try:
            self._consumer.commit(offsets=[TopicPartition(t, p, o) for (t, p), o in changed.items()], asynchronous=True)
        except KafkaException as error:
            log.warning("the offsets of the group could not be published: %s", error)
            return
        self._published = offsets
        self._waiting += 1

    def _answered(self, error: Any, partitions: Sequence[TopicPartition]) -> None:
        self._waiting -= 1
        refused = error or next((p.error for p in partitions if p.error is not None), None)
        if refused is not None:
            log.warning("the offsets of the group could not be published: %s", refused)
            self._published = {}

    def close(self) -> None:
        """Wait a little for what is under way, and let go."""
        deadline = time.monotonic() + _FAREWELL_SECONDS
        while self._waiting > 0 and time.monotonic() < deadline:
            self._consumer.poll(0.05)
        self._consumer.close()


def publish_last(job: Job) -> None:
    """Publish where a query stands that was stopped: nobody asks for a further batch, which would do it."""
    done = last_done(job.checkpoint)
    if done is not None:
        group = GroupOffsets(job)
        group.publish(done)
        group.close()
