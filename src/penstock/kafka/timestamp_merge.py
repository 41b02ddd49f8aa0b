"""Merging partitions by the timestamp at their heads.

Taking the smallest head again and again gives the same order as sorting by (highest timestamp so far in the partition,
partition), keeping each partition's order: a record older than one before it comes right behind that one. So a record
needs one integer key, keys rise within a partition, and the merge is a stable sort of rising runs, which Python does in C.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Generic, TypeVar

T = TypeVar("T")


class Lane(Generic[T]):
    """The records of one partition that wait for their turn."""

    __slots__ = ("_keys", "_records", "ended", "highest")

    def __init__(self) -> None:
        self._keys: list[int] = []
        self._records: list[T] = []
        self.highest: int | None = None
        self.ended = False

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, records: list[T], timestamps: list[int]) -> None:
        """More records, in their order."""
        if not records:
            return
        if self.highest is None:
            self.highest = timestamps[0]
        keys = accumulate(timestamps, max, initial=self.highest)
        next(keys)
        self._keys += keys
        self._records += records
        self.highest = self._keys[-1]

    def take(self, cut: int) -> tuple[list[int], list[T]]:
        """The first keys and records; they leave the lane."""
        keys, records = self._keys, self._records
        self._keys, self._records = keys[cut:], records[cut:]
        return keys[:cut], records[:cut]

    def count(self, bound: int, *, with_bound: bool) -> int:
        """How many records have a key below the bound, or up to it."""
        return (bisect_right if with_bound else bisect_left)(self._keys, bound)


def merge(lanes: Sequence[Lane[T]]) -> list[T]:
    """The records whose turn has come: no lane can still give one that belongs before them.

    Equal timestamps go by the order of the lanes.

    >>> a, b = Lane[str](), Lane[str]()
    >>> a.add(["a5", "a1"], [5, 1])
    >>> b.add(["b3", "b6"], [3, 6])
    >>> merge([a, b])
    ['b3', 'a5', 'a1']
    >>> a.ended = b.ended = True
    >>> merge([a, b])
    ['b6']
    """
    bound: int | None = None
    bounding = len(lanes)
    for rank, lane in enumerate(lanes):
        if lane.ended:
            continue
        if lane.highest is None:
            return []
        if bound is None or lane.highest < bound:
            bound, bounding = lane.highest, rank
    keys: list[int] = []
    records: list[T] = []
    for rank, lane in enumerate(lanes):
        cut = len(lane) if bound is None else lane.count(bound, with_bound=rank <= bounding)
        lane_keys, lane_records = lane.take(cut)
        keys += lane_keys
        records += lane_records
    return [records[i] for i in sorted(range(len(keys)), key=keys.__getitem__)]
