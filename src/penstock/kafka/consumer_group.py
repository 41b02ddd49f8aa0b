"""Offsets of a consumer group, read and committed from outside of it.

Through a consumer of its own for each call, never through an admin client. The admin client's requests to a coordinator that
went away wait for ever, also when it is back, and may abort the whole process (an assertion in librdkafka 2.x,
`rd_kafka_enq_once_del_source_return`). A consumer finds its coordinator again, and a new one costs 60 ms.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from penstock.kafka.clients import open_consumer, translate
from penstock.kafka.error_codes import TIMED_OUT, UNKNOWN_TOPIC
from penstock.kafka.patience import patiently
from penstock.kafka.settings import Settings

PartitionId = tuple[str, int]
_ANSWER_SECONDS = 15.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class GroupOffset:
    """What a consumer group committed for a partition."""

    offset: int
    metadata: str = ""


def read_group(settings: Settings, group: str, partitions: Iterable[PartitionId]) -> dict[PartitionId, GroupOffset]:
    """What a group committed for those of the partitions it ever committed.

    Waits for the end of a transaction that holds offsets back, instead of showing the ones before it.

    Raises:
        PenstockError: Kafka does not answer, or refuses.
    """
    asked = [TopicPartition(topic, partition) for topic, partition in partitions]
    if not asked:
        return {}
    consumer = open_consumer({**settings, "isolation.level": "read_committed"}, group_id=group)
    try:
        answer = patiently(lambda: consumer.committed(asked, _ANSWER_SECONDS))
    except KafkaException as error:
        raise translate(error, settings) from None
    finally:
        _leave(consumer)
    return {(p.topic, p.partition): GroupOffset(p.offset, p.metadata or "") for p in answer if p.offset >= 0}


def commit_group(settings: Settings, group: str, offsets: Mapping[PartitionId, GroupOffset]) -> None:
    """Commit offsets for a group that has no running members.

    Raises:
        TopicMissing: A topic or partition does not exist.
        PenstockError: Kafka does not answer, or refuses.
    """
    positions = [
        TopicPartition(topic, partition, committed.offset, metadata=committed.metadata)
        for (topic, partition), committed in offsets.items()
    ]
    if not positions:
        return
    answers: list[tuple[KafkaError | None, list[TopicPartition]]] = []
    consumer = open_consumer(
        settings, group_id=group, fixed={"on_commit": lambda error, answered: answers.append((error, answered))}
    )

    def commit() -> None:
        answers.clear()
        # Not the client's own waiting: without a coordinator that takes up to ten minutes.
        consumer.commit(offsets=positions, asynchronous=True)
        deadline = time.monotonic() + _ANSWER_SECONDS
        while not answers:
            consumer.poll(_POLL_SECONDS)
            if time.monotonic() > deadline:
                raise KafkaException(KafkaError(TIMED_OUT))
        error, answered = answers[0]
        for position in answered:
            if position.error is not None and position.error.code() in UNKNOWN_TOPIC:
                raise translate(position.error, settings, topic=position.topic)
        if error is not None:
            raise KafkaException(error)

    try:
        patiently(commit)
    except KafkaException as error:
        raise translate(error, settings) from None
    finally:
        _leave(consumer)


def _leave(consumer: Consumer) -> None:
    """Close a consumer without waiting for a broker that may be gone."""
    threading.Thread(target=consumer.close, name="penstock-close-consumer", daemon=True).start()
