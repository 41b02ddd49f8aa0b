"""Where a batch ends that cannot take everything: partitions of one task are cut at a common time.

A task that reads several topics processes them in the order of their timestamps. Within a batch that is a merge; between
batches it is the planner's choice: if one topic went further in time than the other, a join would see next year's prices
with today's orders. So all partitions that meet in a task, directly or behind a shuffle, end where Kafka's timestamps
reach the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from penstock.spark.layout import Layout
from penstock.spark.offsets import PartitionId, Positions

_STEPS = 12
_FULL_ENOUGH = 0.8
_SOMETHING = 0.1
_FURTHER = 8


@dataclass(frozen=True, slots=True)
class Budget:
    """What a batch may take.

    Attributes:
        records: Most records.
        bytes: Most bytes.
        sizes: Bytes of a record by topic, where they are known.
    """

    records: float
    bytes: float
    sizes: Mapping[str, float]

    def used(self, taken: Positions) -> float:
        """The part of the budget that so many records of each partition take: 1 is all of it."""
        weight = sum(n * self.sizes.get(topic, 0) for (topic, _), n in taken.items())
        return max(sum(taken.values()) / self.records, weight / self.bytes)

    def for_part(self, waiting: Positions, part: float) -> Budget:
        """What takes a part of so many records of each partition."""
        weight = sum(n * self.sizes.get(topic, 0) for (topic, _), n in waiting.items())
        return Budget(part * sum(waiting.values()), part * weight or self.bytes, self.sizes)


@dataclass(frozen=True, slots=True)
class TimeLine:
    """How partitions run through time, as Kafka tells it.

    Attributes:
        time_at: Timestamps of the records at some offsets; partitions without a record there are left out.
        offset_at: For a timestamp, the first offset with it or a later one in each partition, -1 where there is none.
    """

    time_at: Callable[[Positions], Mapping[PartitionId, int]]
    offset_at: Callable[[Sequence[PartitionId], int], Mapping[PartitionId, int]]


def together(layout: Layout, internal: Container[str], inputs: Iterable[PartitionId]) -> list[tuple[PartitionId, ...]]:
    """The partitions that are cut together.

    Partition n of the topics of a sub-topology meet in its task n. Behind a shuffle any partition of the one side meets
    any of the other, so there all partitions of all topics belong together.
    """
    parents: dict[PartitionId | str, PartitionId | str] = {}

    def root(of: PartitionId | str) -> PartitionId | str:
        parents.setdefault(of, of)
        while parents[of] != of:
            of = parents[of]
        return of

    wanted = list(inputs)
    for part in layout.subtopologies.values():
        topics = {topic for p in layout.passes if p.subtopology == part.id for topic in p.topics}
        mixed = [f"shuffle {t}" for t in (*topics, *part.sink_topics) if t in internal]
        for topic, partition in wanted:
            if topic in topics:
                parents[root((topic, partition))] = root(f"task {part.id} {partition}")
                for shuffle in mixed:
                    parents[root((topic, partition))] = root(shuffle)
        for shuffle in mixed[1:]:
            parents[root(shuffle)] = root(mixed[0])
    found: dict[PartitionId | str, list[PartitionId]] = {}
    for at in wanted:
        found.setdefault(root(at), []).append(at)
    return [tuple(group) for group in found.values()]


def cut(
    groups: Sequence[Sequence[PartitionId]], begin: Positions, available: Positions, budget: Budget, line: TimeLine
) -> dict[PartitionId, int]:
    """The end of each partition in a batch within a budget.

    Each group gets its part of the budget, by what it has to read, so that all finish at about the same time.
    """
    part = 1 / budget.used(available) if any(available.values()) else 1.0
    if part >= 1:
        return {at: begin[at] + n for at, n in available.items()}
    ends: dict[PartitionId, int] = {}
    for group in groups:
        waiting = {at: available[at] for at in group}
        nonempty = [at for at, n in waiting.items() if n]
        if len(nonempty) > 1:
            own = budget.for_part(waiting, part)
            ends |= _cut_by_time({at: begin[at] for at in nonempty}, waiting, own, line)
            ends |= {at: begin[at] for at, n in waiting.items() if not n}
        else:
            ends |= {at: begin[at] + (max(1, int(n * part)) if n else 0) for at, n in waiting.items()}
    return ends


def _cut_by_time(begin: Positions, available: Positions, budget: Budget, line: TimeLine) -> dict[PartitionId, int]:
    """Find the time at which the budget is used up, by asking for the offsets at a few times."""
    last = {at: begin[at] + min(available[at], max(1, int(budget.records))) - 1 for at in begin}
    heads, tails = line.time_at(begin), line.time_at(last)
    if len(tails) < len(last):  # the mark of a transaction's end takes an offset, too, and is no record
        tails = {**line.time_at({at: max(n - 1, begin[at]) for at, n in last.items() if at not in tails}), **tails}
    if not heads:
        return {at: last[at] + 1 for at in begin}  # nothing but gaps

    def ends_at(time: int) -> dict[PartitionId, int]:
        found = line.offset_at(list(begin), time)
        return {
            at: min(max(found[at] if found[at] >= 0 else first + available[at], first), first + available[at])
            for at, first in begin.items()
        }

    def used(ends: Positions) -> float:
        return budget.used({at: end - begin[at] for at, end in ends.items()})

    early, late = min(heads.values()), max([*heads.values(), *tails.values()]) + 1
    low, high = dict(begin), ends_at(late)
    low_used, high_used = 0.0, used(high)
    everything = {at: first + available[at] for at, first in begin.items()}
    while high_used <= 1 and high != everything:  # records behind gaps, later than all that were looked at
        early, low, low_used = late, high, high_used
        late += _FURTHER * (late - min(heads.values()))
        high = ends_at(late)
        high_used = used(high)
    if high_used <= 1:
        return high
    for step in range(_STEPS):
        if late - early <= 1 or low_used >= _FULL_ENOUGH:
            break
        # Halving now and then: a guess by proportion creeps where records are far from evenly spread in time.
        part = 0.5 if step % 2 else (0.9 - low_used) / (high_used - low_used)
        time = min(max(early + int((late - early) * part), early + 1), late - 1)
        ends = ends_at(time)
        if (at_time := used(ends)) <= 1:
            early, low, low_used = time, ends, at_time
        else:
            late, high, high_used = time, ends, at_time
    if low_used >= _SOMETHING:
        return low
    # Many records within a moment: any place between its two ends is as good as another.
    return _between(low, high, (1 - low_used) / (high_used - low_used))


def _between(low: Positions, high: Positions, part: float) -> dict[PartitionId, int]:
    ends = {at: first + int((high[at] - first) * part) for at, first in low.items()}
    if ends == dict(low):
        at = max(low, key=lambda at: high[at] - low[at])
        ends[at] += 1  # one record is more than the budget: a batch must move all the same
    return ends
