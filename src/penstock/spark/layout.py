"""How a topology is laid out on Spark: tasks, levels and passes.

A task is a sub-topology and a partition. Sub-topologies that read only topics run at level 0; one that reads a repartition
topic runs one level below its writers, after an exchange. A sub-topology that reads answers to its own questions (a
foreign-key join does) runs again in the same batch, in a second pass at a deeper level; so does one of two that read from each
other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from penstock.errors import StreamsError, TopologyError
from penstock.topology.nodes import SinkNode, SourceNode
from penstock.topology.subtopologies import Subtopology, subtopologies
from penstock.topology.topics import reads
from penstock.topology.topology import Topology

Unit = tuple[int, str]  # a sub-topology and one of its source topics
# Passes are numbered over all batches, each batch with as many numbers. Not with as many as it has passes: a topology may
# change, and its numbers have to go on from those that state and commits have.
_NUMBERS_OF_A_BATCH = 64


def pass_number(batch: int, index: int) -> int:
    """Number of a pass over all batches; it names its segment and is in its commit."""
    return batch * _NUMBERS_OF_A_BATCH + index


def batch_of(number: int) -> int:
    """The batch of a pass."""
    return number // _NUMBERS_OF_A_BATCH


@dataclass(frozen=True, slots=True)
class Pass:
    """One run of a sub-topology's tasks in a batch: at which level, and which of its topics it takes."""

    subtopology: int
    index: int
    level: int
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The whole plan of a running application that does not change from batch to batch.

    Attributes:
        subtopologies: By number.
        partitions: Number of partitions of every topic; internal ones by their name without the application's id.
        tasks: Number of tasks of each sub-topology.
        passes: All passes, by level.
        pass_count: Passes of each sub-topology.
        levels: Number of levels.
    """

    subtopologies: dict[int, Subtopology]
    partitions: dict[str, int]
    tasks: dict[int, int]
    passes: tuple[Pass, ...]
    pass_count: dict[int, int]
    levels: int

    def at_level(self, level: int) -> list[Pass]:
        """The passes of a level."""
        return [p for p in self.passes if p.level == level]

    def slots(self, level: int, slots: int) -> int:
        """How many Spark partitions a level needs: no more than it has tasks."""
        return max(1, min(slots, sum(self.tasks[p.subtopology] for p in self.at_level(level))))

    def slot_of(self, subtopology: int, partition: int, slots: int) -> int:
        """The Spark partition that hosts a task; neighbouring tasks go to different ones."""
        return (subtopology + partition) % slots

    def readers(self, topic: str) -> list[Pass]:
        """The passes that take an internal topic."""
        return [p for p in self.passes if topic in p.topics]


def lay_out(topology: Topology, partitions: Mapping[str, int], known: Mapping[str, int] | None = None) -> Layout:
    """Lay a topology out over topics with these partition counts (topics of patterns among them).

    Args:
        topology: The topology.
        partitions: Partition counts of the users' topics.
        known: Partition counts of internal topics from an earlier start; their state is spread by them.

    Raises:
        TopologyError: Topics that must be co-partitioned are not.
    """
    parts = {s.id: s for s in subtopologies(topology)}
    counts = _partition_counts(topology, parts, partitions, known or {})
    units = {(s.id, topic): 0 for s in parts.values() for topic in _topics(topology, s, counts)}
    levels, later = _levels(topology, parts, units)
    passes = _passes(parts, levels, later)
    tasks = {s: max((counts[topic] for s_, topic in units if s_ == s), default=1) for s in parts}
    return Layout(
        parts,
        counts,
        tasks,
        tuple(sorted(passes, key=lambda p: (p.level, p.subtopology))),
        {s: sum(p.subtopology == s for p in passes) for s in parts},
        1 + max((p.level for p in passes), default=0),
    )


def _topics(topology: Topology, subtopology: Subtopology, counts: Mapping[str, int]) -> list[str]:
    """Topics a sub-topology reads, those that match its patterns included."""
    found = list(subtopology.source_topics)
    for name in subtopology.nodes:
        node = topology.nodes[name]
        if isinstance(node, SourceNode) and node.pattern is not None:
            found += [topic for topic in counts if reads(node, topic) and topic not in found]
    return found


# ---------------------------------------------------------------------- partition counts


def _partition_counts(
    topology: Topology, parts: Mapping[int, Subtopology], user: Mapping[str, int], known: Mapping[str, int]
) -> dict[str, int]:
    counts = dict(user)
    fixed = {t.name: t.partitions for t in topology.internal_topics.values() if t.partitions is not None}
    for name, count in known.items():
        if fixed.get(name, count) != count:
            raise TopologyError(
                f"the repartition topic {name} is to have {fixed[name]} partitions, but the state of the application is "
                f"spread over {count}",
                hint=f"Ask for partitions={count} again, or reset the application, or use a new application.id.",
            )
    fixed |= {name: n for name, n in known.items() if name in topology.internal_topics}
    counts.update(fixed)
    open_topics = [t for t in topology.internal_topics if t not in fixed]
    for _ in range(len(open_topics) + 1):
        for topic in open_topics:
            sources = [
                counts[source]
                for s in parts.values()
                if topic in s.sink_topics
                for source in _topics(topology, s, counts)
                if source in counts and source != topic
            ]
            if sources and counts.get(topic, 0) < max(sources):
                counts[topic] = max(sources)
    for topic in open_topics:
        counts.setdefault(topic, 1)
    _copartition(topology, counts, fixed)
    return counts


def _copartition(topology: Topology, counts: dict[str, int], fixed: Mapping[str, int]) -> None:
    for group in topology.copartitioned:
        topics = [
            topic
            for name in group
            if isinstance(node := topology.nodes.get(name), SourceNode)
            for topic in (node.topics or [t for t in counts if reads(node, t)])
        ]
        given = {t: counts[t] for t in topics if t not in topology.internal_topics or t in fixed}
        if len(set(given.values())) > 1:
            (a, n), (b, m) = sorted(given.items(), key=lambda item: (item[1], item[0]))[:: len(given) - 1][:2]
            raise TopologyError(
                f"topics {a} with {n} partitions and {b} with {m} partitions are joined and must have the same number",
                hint=f"Put .repartition(partitions={m}) in front of the join on the side of {a}, "
                f"or give both topics the same number of partitions.",
            )
        wanted = next(iter(given.values()), max((counts[t] for t in topics), default=1))
        for topic in topics:
            if topic not in given:
                counts[topic] = wanted


# ---------------------------------------------------------------------- levels


def _levels(
    topology: Topology, parts: Mapping[int, Subtopology], units: Mapping[Unit, int]
) -> tuple[dict[Unit, int], set[Unit]]:
    """The level of each source topic, and the units that are taken in later passes than the first of their sub-topology.

    A sub-topology takes all that it can in one pass, as only there records are merged by time. It takes later what depends
    on its own output, and what would never come: of two sub-topologies that read from each other by different ways, one
    has to begin without the other.
    """
    writers = _writers(topology, parts, units)
    own = {unit for unit in units if any(s == unit[0] for s, _ in _ancestors(unit, writers))}
    natural = _settled(units, writers, set(units))
    if natural is not None:
        circling = [s for s in parts if s in _above(s, writers)]
        for apart in [[], *([s] for s in circling), circling]:
            later = own | {unit for s in apart for unit in _not_first(s, natural, own)}
            levels = _settled(units, writers, later)
            if levels is not None:
                return levels, later
    raise StreamsError(
        "the repartition topics of this topology feed each other in a circle",
        hint="Write to a topic with to(...) and read it with stream(...) to close a circle.",
    )


def _settled(
    units: Iterable[Unit], writers: Mapping[Unit, Collection[Unit]], later: Collection[Unit]
) -> dict[Unit, int] | None:
    """Levels below those of all writers, the same for all first units of a sub-topology; None if there are none."""
    levels = dict.fromkeys(units, 0)
    for _ in range(len(levels) * 2 + 2):
        before = dict(levels)
        for unit in levels:
            levels[unit] = max([levels[unit], *(levels[w] + 1 for w in writers.get(unit, ()))])
        deepest: dict[int, int] = {}
        first = [unit for unit in levels if unit not in later]
        for unit in first:
            deepest[unit[0]] = max(deepest.get(unit[0], 0), levels[unit])
        levels.update({unit: deepest[unit[0]] for unit in first})
        if before == levels:
            return levels
    return None


def _above(subtopology: int, writers: Mapping[Unit, Collection[Unit]]) -> set[int]:
    """The sub-topologies whose output it waits for, directly or by others."""
    parents: dict[int, set[int]] = {}
    for unit, above in writers.items():
        parents.setdefault(unit[0], set()).update(s for s, _ in above)
    found: set[int] = set()
    todo = [subtopology]
    while todo:
        new = parents.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def _not_first(subtopology: int, natural: Mapping[Unit, int], own: Collection[Unit]) -> list[Unit]:
    """What a sub-topology takes later if it begins with what is there first."""
    first = min((level for unit, level in natural.items() if unit[0] == subtopology and unit not in own), default=0)
    return [unit for unit, level in natural.items() if unit[0] == subtopology and level > first]


def _writers(topology: Topology, parts: Mapping[int, Subtopology], units: Mapping[Unit, int]) -> dict[Unit, set[Unit]]:
    """For each unit that reads an internal topic, the units whose records can reach a sink of that topic."""
    reach: dict[str, set[Unit]] = {}
    for s in parts.values():
        below: dict[str, set[Unit]] = {}
        for name in s.nodes:
            node = topology.nodes[name]
            if isinstance(node, SourceNode):
                below[name] = {(s.id, t) for t in (node.topics or [t for s_, t in units if s_ == s.id])}
            else:
                below[name] = set().union(*(below.get(p, set()) for p in node.parents))
                if isinstance(node, SinkNode) and node.internal and isinstance(node.topic, str):
                    reach.setdefault(node.topic, set()).update(below[name])
    return {unit: reach.get(unit[1], set()) for unit in units if unit[1] in topology.internal_topics}


def _ancestors(unit: Unit, writers: Mapping[Unit, set[Unit]]) -> set[Unit]:
    found: set[Unit] = set()
    todo = list(writers.get(unit, ()))
    while todo:
        above = todo.pop()
        if above not in found:
            found.add(above)
            todo += writers.get(above, ())
    return found


def _passes(parts: Mapping[int, Subtopology], levels: Mapping[Unit, int], later: set[Unit]) -> list[Pass]:
    passes = []
    for s in parts:
        units = [u for u in levels if u[0] == s]
        first = [u for u in units if u not in later]
        groups = {max((levels[u] for u in first), default=0): [u[1] for u in first]}
        for unit in units:
            if unit in later:
                groups.setdefault(levels[unit], []).append(unit[1])
        if len(groups) > _NUMBERS_OF_A_BATCH:
            raise TopologyError(
                f"sub-topology {s} asks itself questions {len(groups)} times in a batch, and {_NUMBERS_OF_A_BATCH} is the most",
                hint="Put a topic between the joins: to(...) and stream(...).",
            )
        passes += [Pass(s, i, level, tuple(topics)) for i, (level, topics) in enumerate(sorted(groups.items()))]
    return passes
