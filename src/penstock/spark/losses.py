"""Records that are gone before they were read, and topics that are gone."""

from __future__ import annotations

import logging
from collections.abc import Container, Mapping

from penstock.errors import MissingSourceTopicError, StreamsError
from penstock.spark.offsets import PartitionId, Positions

log = logging.getLogger("penstock.planner")


class DataLossError(StreamsError):
    """Kafka no longer has records that are next to be processed."""


def skip_lost(
    begin: Positions, starts: Positions, ends: Positions, *, fail: bool, made_again: Container[PartitionId] = ()
) -> tuple[dict[PartitionId, int], int]:
    """Where partitions go on whose next records are gone, and how many offsets that skips.

    Args:
        begin: Next offset of each partition.
        starts: First offset each of them holds.
        ends: Offset behind the last one.
        fail: Raise instead.
        made_again: Partitions whose topic is another one under the same name.

    Raises:
        DataLossError: There are such partitions, and `fail` is set.
    """
    moved = {
        at: starts[at]
        for at, offset in begin.items()
        if at in starts and not (offset == starts[at] if at in made_again else starts[at] <= offset <= ends[at])
    }
    if not moved:
        return {}, 0
    texts = [
        _describe(at, begin[at], starts[at], ends[at]) + (" of another topic of that name" if at in made_again else "")
        for at in sorted(moved)
    ]
    if fail:
        raise DataLossError(
            "; ".join(texts[:5]) + (f"; and {len(texts) - 5} more partitions" if len(texts) > 5 else ""),
            hint="Retention removed records before they were read, or a topic was deleted and made again. Set "
            "penstock.fail.on.data.loss=false to go on with what is there, or reset the application.",
        )
    for text in texts:
        log.warning("%s; going on with what is there", text)
    return moved, sum(max(0, starts[at] - begin[at]) for at in moved)


def _describe(at: PartitionId, next_offset: int, start: int, end: int) -> str:
    topic, partition = at
    return f"offset {next_offset} of {topic}-{partition} is next, but it holds offsets {start} to {end}"


def topic_deleted(topic: str, readers: Mapping[str, str | None]) -> MissingSourceTopicError:
    """The error for a topic that vanished while the application runs.

    Args:
        topic: The topic.
        readers: Names of the nodes that read it, with the user's lines.
    """
    read_by = " and ".join(f"{name}{f' at {line}' if line else ''}" for name, line in readers.items())
    return MissingSourceTopicError(
        f"the topic {topic}, read by {read_by}, was deleted while the application runs",
        hint=f"Create it again (penstock topics create {topic}) and set penstock.fail.on.data.loss=false to go on with its "
        "new records, or remove it from the topology.",
    )
