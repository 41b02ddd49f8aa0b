"""Which worker of a group leads: the one that Kafka assigns the config topic's only partition to.

Workers are members of a consumer group. Kafka notices a member that is gone after `session.timeout.ms` and assigns the
partition to another one; a worker that joins takes nothing away from the one that leads.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaError, TopicPartition

from penstock.kafka.clients import open_consumer

log = logging.getLogger("penstock.connect.worker")

_POLL_SECONDS = 0.2


class Membership:
    """A place in the group.

    Args:
        settings: Settings of Kafka clients.
        group: Name of the group.
        topic: The config topic.
        session_ms: How long Kafka waits for a sign of life.
        heartbeat_ms: Time between signs of life.
        on_lead: Called when this worker begins to lead.
        on_follow: Called when it leads no longer; the next one leads when it returns, or when Kafka's patience ends.
    """

    def __init__(
        self,
        settings: Mapping[str, str],
        *,
        group: str,
        topic: str,
        session_ms: int,
        heartbeat_ms: int,
        on_lead: Callable[[], None],
        on_follow: Callable[[], None],
    ) -> None:
        fixed = {
            "session.timeout.ms": session_ms,
            "heartbeat.interval.ms": heartbeat_ms,
            # Who leads goes on leading when others come.
            "partition.assignment.strategy": "cooperative-sticky",
            "auto.offset.reset": "latest",
        }
        self._consumer = open_consumer({**settings, **fixed}, group_id=group)
        self._topic = topic
        self._session_seconds = session_ms / 1000
        self._on_lead = on_lead
        self._on_follow = on_follow
        self._assigned = False
        self._heard = 0.0
        self._warned: int | None = None
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="connect-membership", daemon=True)

    @property
    def leads(self) -> bool:
        """Whether this worker leads. Not so if it slept longer than the others wait: one of them leads by now."""
        return self._assigned and time.monotonic() - self._heard < self._session_seconds

    def start(self) -> None:
        """Joins the group."""
        self._consumer.subscribe(
            [self._topic], on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_revoke
        )
        self._thread.start()

    def close(self) -> None:
        """Leaves the group, so that another worker leads at once."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._closed.is_set():
            message = self._consumer.poll(_POLL_SECONDS)
            self._heard = time.monotonic()
            error = None if message is None else message.error()
            if error is not None:
                self._warn(error)
        self._consumer.close()

    def _warn(self, error: KafkaError) -> None:
        """Says once what is wrong: the client goes on trying, and tells each time."""
        if error.code() == self._warned:
            return
        self._warned = error.code()
        hint = ""
        if error.code() == KafkaError.INCONSISTENT_GROUP_PROTOCOL:
            hint = "; Kafka Connect's own workers may be in the group: end them first, or set another group.id"
        log.warning("This worker cannot be in its group at the moment: %s%s", error.str(), hint)

    def _on_assign(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign(partitions)
        if partitions:
            # The log has a reader of its own; here the partition only says who leads.
            consumer.pause(partitions)
            self._assigned = True
            self._heard = time.monotonic()
            self._on_lead()

    def _on_revoke(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        if partitions and self._assigned:
            self._assigned = False
            self._on_follow()
