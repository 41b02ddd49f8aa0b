"""Where partitions start that have no position yet: what was decided for them, the group's offsets, or a policy."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from penstock.errors import StreamsError
from penstock.spark.job import Job
from penstock.spark.offsets import PartitionId, Positions
from penstock.state.disk.checkpoint_files import START_FILE, read_json, write_json
from penstock.topology.topics import source_of

log = logging.getLogger("penstock.planner")


class KafkaOffsets(Protocol):
    """What is asked of Kafka."""

    def start_offsets(self, partitions: Any) -> dict[PartitionId, int]: ...

    def end_offsets(self, partitions: Any, *, committed: bool = False) -> dict[PartitionId, int]: ...

    def offsets_for_time(self, partitions: Any, timestamp: int) -> dict[PartitionId, int]: ...

    def group_offsets(self, group: str, partitions: Any) -> Mapping[PartitionId, Any]: ...

    def topic_ids(self, names: Iterable[str]) -> dict[str, str]: ...


def decide_start(
    job: Job,
    kafka: KafkaOffsets,
    partitions: Iterable[PartitionId],
    *,
    now: int,
    known_topics: Iterable[str] = (),
    made_again: Iterable[PartitionId] = (),
) -> dict[PartitionId, int]:
    """The first offset to process of each partition, decided once: the checkpoint remembers it.

    In this order: what `start.json` in the checkpoint says, what the setting says, the offsets of the consumer group if
    that is asked for, the policy of the source, the policy of the application. Partitions that were added to a topic which
    is already read have nothing but new records: they start with the first, unless the setting names them one by one. So
    do those of a topic that was deleted and made again, whatever was decided for the old one.

    Args:
        job: The application; its `start` has `positions`, `from_group`, `policy` and `duration_ms`, all optional.
        kafka: Where offsets are asked.
        partitions: Partitions without a position.
        now: Wall clock.
        known_topics: Topics of which other partitions have a position.
        made_again: Those of the partitions whose topic is another one than was read under its name.

    Raises:
        StreamsError: The policy of one is `none`.
    """
    wanted = list(partitions)
    if not wanted:
        return {}
    kept = read_json(job.checkpoint, START_FILE) or {}
    known, again, decided = set(known_topics), set(made_again), job.start.get("positions", {})
    asked: dict[tuple[str, int], list[PartitionId]] = {}
    explicit: dict[PartitionId, Any] = {}
    found = kafka.start_offsets(again) if again else {}
    for at in wanted:
        if at in again:
            continue
        before = _decided(kept, at)
        spec = _decided(decided, at, alone=at[0] in known) if before is None else before
        if isinstance(before, int):
            found[at] = before  # whether Kafka still has it is asked for each batch
        elif spec is not None:
            explicit[at] = spec
        else:
            asked.setdefault(("earliest", 0) if at[0] in known else _policy(job, at[0]), []).append(at)
    found |= _explicit(kafka, explicit)
    if job.start.get("from_group"):
        found |= _from_group(job, kafka, [at for group in asked.values() for at in group if at[0] not in known])
    for (policy, amount), group in asked.items():
        left = [at for at in group if at not in found]
        found |= _by_policy(job, kafka, policy, now - amount, left)
    _keep_start(job.checkpoint, kept, found)
    return {at: found[at] for at in wanted}


def _decided(decided: Mapping[str, Any], at: PartitionId, *, alone: bool = False) -> Any:
    """What was decided for a partition; with `alone` only what names it, not what counts for its whole topic."""
    topic = decided.get(at[0])
    if isinstance(topic, Mapping) and "timestamp" not in topic:
        return topic.get(str(at[1]))
    return None if alone else topic


def _policy(job: Job, topic: str) -> tuple[str, int]:
    node = source_of(job.topology, topic)
    given = None if node is None else node.offset_reset
    if given is None:
        return str(job.start.get("policy", "earliest")), int(job.start.get("duration_ms") or 0)
    return str(getattr(given, "policy", given)), int(getattr(given, "duration_ms", None) or 0)


def _by_policy(
    job: Job, kafka: KafkaOffsets, policy: str, since: int, partitions: list[PartitionId]
) -> dict[PartitionId, int]:
    if not partitions:
        return {}
    if policy == "none":
        raise _no_position(partitions[0], job)
    if policy == "earliest":
        return kafka.start_offsets(partitions)
    ends = kafka.end_offsets(partitions, committed=True)
    return ends if policy == "latest" else _at_time(kafka, partitions, since, ends)


def _at_time(kafka: KafkaOffsets, partitions: list[PartitionId], time: int, ends: Positions) -> dict[PartitionId, int]:
    found = kafka.offsets_for_time(partitions, max(time, 0))
    return {at: found[at] if found[at] >= 0 else ends[at] for at in partitions}


def _explicit(kafka: KafkaOffsets, wanted: Mapping[PartitionId, Any]) -> dict[PartitionId, int]:
    """Offsets that somebody decided: numbers, `earliest`, `latest`, or `{"timestamp": ms}`."""
    if not wanted:
        return {}
    starts, ends = kafka.start_offsets(wanted), kafka.end_offsets(wanted, committed=True)
    found: dict[PartitionId, int] = {}
    for at, spec in wanted.items():
        if isinstance(spec, Mapping):
            found |= _at_time(kafka, [at], int(spec["timestamp"]), ends)
        elif spec in {"earliest", "latest"}:
            found[at] = starts[at] if spec == "earliest" else ends[at]
        else:
            found[at] = min(max(int(spec), starts[at]), ends[at])
            if found[at] != int(spec):
                log.warning(
                    "%s-%d is to start at offset %s, but holds %d to %d: it starts at %d",
                    *at, spec, starts[at], ends[at], found[at],
                )  # fmt: skip
    return found


def _from_group(job: Job, kafka: KafkaOffsets, partitions: list[PartitionId]) -> dict[PartitionId, int]:
    """What the group `application.id` committed, where Kafka still has it; as with any consumer, else the policy counts."""
    if not partitions:
        return {}
    committed = {at: found.offset for at, found in kafka.group_offsets(job.application_id, partitions).items()}
    starts, ends = kafka.start_offsets(committed), kafka.end_offsets(committed)
    kept = {at: offset for at, offset in committed.items() if starts[at] <= offset <= ends[at]}
    for topic, partition in sorted(committed.keys() - kept.keys()):
        log.warning("the group's offset of %s-%d is out of range: its policy counts", topic, partition)
    log.info("%s starts at the offsets of its consumer group for %d partitions", job.application_id, len(kept))
    return kept


def _no_position(at: PartitionId, job: Job) -> StreamsError:
    node = source_of(job.topology, at[0])
    where = f", read by {node.name}{f' at {node.line}' if node.line else ''}," if node is not None else ""
    return StreamsError(
        f"partition {at[1]} of topic {at[0]}{where} has no position, and its offset reset is none",
        hint="Say where to start with penstock.start.offsets, or choose another policy "
        "(consumer.auto.offset.reset, or offset_reset= of the source).",
    )


def _keep_start(checkpoint: str, kept: Mapping[str, Any], found: Positions) -> None:
    """Note where partitions start: a query that is started again before its first batch starts at the same place."""
    now = {topic: dict(partitions) for topic, partitions in kept.items() if isinstance(partitions, Mapping)}
    for (topic, partition), offset in sorted(found.items()):
        now.setdefault(topic, {})[str(partition)] = offset
    if now == kept:
        return
    write_json(checkpoint, START_FILE, now)
