"""The offset that Spark keeps for the query: how far every partition was read, and what a replay must see again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PartitionId = tuple[str, int]
Positions = Mapping[PartitionId, int]
# {"batch": n, "clock": ms, "ticked": ms, "lost": n, "topics": {topic: {partition: offset}}, "globals": ..., "begins": ...,
# "left": ..., "ids": {topic: id}}
Offsets = dict[str, Any]


def pack(
    batch: int,
    clock: int,
    topics: Positions,
    *,
    followed: Positions | None = None,
    begins: Positions | None = None,
    left: Positions | None = None,
    ids: Mapping[str, str] | None = None,
    ticked: int = 0,
    lost: int = 0,
) -> Offsets:
    """The end of a batch.

    Args:
        batch: Its number; -1 is "before the first".
        clock: Its wall clock.
        topics: Offsets behind the last record of each partition.
        followed: How far the topics of global tables are to be followed.
        begins: Where partitions begin in this batch, if that is not where the batch before ended.
        left: How far topics were read that are not read any more; where they go on if they come back.
        ids: Kafka's ids of the topics, those that are not read any more included.
        ticked: Wall clock of the last punctuation.
        lost: Records that retention removed before they were read, since the query began.
    """
    end: Offsets = {
        "batch": batch,
        "clock": clock,
        "ticked": ticked,
        "topics": _nested(topics),
        "globals": _nested(followed or {}),
    }
    if begins:
        end["begins"] = _nested(begins)
    if left:
        end["left"] = _nested(left)
    if ids:
        end["ids"] = dict(ids)
    if lost:
        end["lost"] = lost
    return end


def unpack(offsets: Offsets, what: str = "topics") -> dict[PartitionId, int]:
    """One of the maps of an offset.

    >>> unpack(pack(0, 0, {("orders", 1): 7}))
    {('orders', 1): 7}
    """
    return {(t, int(p)): o for t, partitions in offsets.get(what, {}).items() for p, o in partitions.items()}


def begins(start: Offsets, end: Offsets) -> dict[PartitionId, int]:
    """Where each partition begins in the batch between two offsets."""
    return {**unpack(start), **unpack(end, "begins")}


def records_between(start: Offsets, end: Offsets) -> int:
    """Offsets of all partitions in the batch between two offsets."""
    begin = begins(start, end)
    return sum(max(0, until - begin.get(at, until)) for at, until in unpack(end).items())


def _nested(offsets: Positions) -> dict[str, dict[str, int]]:
    nested: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in offsets.items():
        nested.setdefault(topic, {})[str(partition)] = offset
    return nested
