"""What tasks have committed: the number of a pass and the file of its state, as group offsets in Kafka."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from penstock.errors import StreamsError
from penstock.kafka.clients import open_consumer, translate
from penstock.kafka.error_codes import MOVING, UNREACHABLE
from penstock.spark.job import Job

_COORDINATOR_SECONDS = 60.0
_COORDINATOR_MOVES = MOVING | UNREACHABLE | {KafkaError.REQUEST_TIMED_OUT}
_committers: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Commit:
    """What the commit of a task's pass says: its number, and the file that holds its state."""

    sequence: int
    attempt: str


def committed(job: Job, tasks: list[tuple[int, int]]) -> dict[tuple[int, int], Commit]:
    """The last committed pass of each task."""
    asked = [TopicPartition(job.commits_topic(s), p) for s, p in tasks]
    found = _ask_committed(job, asked)
    return {
        task: Commit(at.offset - 1, at.metadata or "") for task, at in zip(tasks, found, strict=True) if at.offset >= 0
    }


def _ask_committed(job: Job, asked: list[TopicPartition]) -> list[TopicPartition]:
    """A coordinator that moves or loads says so for a while, and the client library passes that on."""
    deadline = time.monotonic() + _COORDINATOR_SECONDS
    while True:
        try:
            return committer(job).committed(asked, timeout=10)  # type: ignore[no-any-return]
        except KafkaException as error:
            if error.args[0].code() not in _COORDINATOR_MOVES or time.monotonic() > deadline:
                raise translate(error, job.kafka["consumer"]) from error
            time.sleep(0.05)


def committer(job: Job) -> Any:
    """This process's member of the group whose offsets say what was committed."""
    consumer = _committers.get(job.commits_group)
    if consumer is None:
        consumer = _committers[job.commits_group] = open_consumer(job.kafka["consumer"], group_id=job.commits_group)
    return consumer


def is_committed(job: Job, commits: Mapping[tuple[int, int], Commit]) -> bool:
    """Whether a commit whose answer was lost went through.

    Raises:
        StreamsError: Another process, which held the slot meanwhile, has committed these passes. Sending them again would
            double them; Spark's next attempt finds that commit and takes its state.
    """
    found = committed(job, list(commits))
    if any(found.get(task) == commit for task, commit in commits.items()):
        return True
    done = [f"{s}_{p}" for (s, p), at in found.items() if at.sequence >= commits[s, p].sequence]
    if done:
        raise StreamsError(f"another process has committed this batch of {', '.join(done)} already")
    return False
