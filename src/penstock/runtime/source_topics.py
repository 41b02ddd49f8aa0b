"""The topics a topology reads and writes, as Kafka has them now."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.errors import ConfigError, MissingSourceTopicError
from penstock.kafka.admin import TopicSummary
from penstock.kafka.errors import nearest
from penstock.topology.nodes import SinkNode, SourceNode
from penstock.topology.topics import reads
from penstock.topology.topology import Topology

Topics = Mapping[str, TopicSummary]

log = logging.getLogger("penstock.settings")


def partition_counts(topology: Topology, existing: Topics) -> dict[str, int]:
    """Number of partitions of every topic that the topology reads.

    Raises:
        MissingSourceTopicError: A topic that is read by name does not exist.
    """
    counts: dict[str, int] = {}
    for node in _sources(topology):
        for topic in node.topics:
            _require(topic, existing, f"read by {node.name}", node.line)
            counts[topic] = existing[topic].partitions
        if node.pattern is not None:
            counts.update({t: s.partitions for t, s in existing.items() if not s.is_internal and reads(node, t)})
    return counts


def require_outputs(topology: Topology, existing: Topics, others: Iterable[tuple[str, str]] = ()) -> None:
    """Refuse to start if a topic that is written by name does not exist.

    Args:
        topology: The topology.
        existing: Topics by name.
        others: More topics, each with what it is used for.
    """
    for sink in topology.nodes.values():
        if isinstance(sink, SinkNode) and not sink.internal and isinstance(sink.topic, str):
            _require(sink.topic, existing, f"written by {sink.name}", sink.line)
    for topic, used in others:
        _require(topic, existing, used, None)


def refuse_unknown_starts(topology: Topology, partitions: Mapping[str, int], positions: Mapping[str, Any]) -> None:
    """Refuse positions for topics that are not read, and for partitions that are not there: nothing would start at them.

    Args:
        topology: The topology.
        partitions: Partition counts of its topics.
        positions: What `penstock.start.offsets` says.

    Raises:
        ConfigError: There is such a position.
    """
    followed = {topic for node in topology.global_stores.values() for topic in node.source.topics}
    read = {t: n for t, n in partitions.items() if t not in followed and t not in topology.internal_topics}
    for topic, position in positions.items():
        if topic in followed:
            raise _no_start(topic, "is the topic of a global table", "Remove it: those are always read from the start.")
        if topic not in read:
            if not any(reads(node, topic) for node in _sources(topology)):
                near = nearest(topic, read)
                hint = f"Did you mean {near}?" if near else f"It reads {', '.join(sorted(read)) or 'no topic yet'}."
                raise _no_start(topic, "is no topic that the application reads", hint)
            log.warning("penstock.start.offsets has a position for %s, which does not exist yet", topic)
        elif isinstance(position, Mapping):
            missing = sorted(int(p) for p in position if p != "timestamp" and int(p) >= read[topic])
            if missing:
                hint = f"It has {read[topic]}, counted from 0."
                raise _no_start(topic, f"has no partition {' and no '.join(map(str, missing))}", hint)


def _no_start(topic: str, why: str, hint: str) -> ConfigError:
    return ConfigError(f"penstock.start.offsets has a position for {topic}, which {why}", hint=hint)


def _sources(topology: Topology) -> list[SourceNode]:
    own = [n for n in topology.nodes.values() if isinstance(n, SourceNode) and not n.internal]
    return own + [node.source for node in topology.global_stores.values()]


def _require(topic: str, existing: Topics, used: str, line: str | None) -> None:
    if topic not in existing:
        near = nearest(topic, existing)
        raise MissingSourceTopicError(
            f"the topic {topic}, {used}{f' at {line}' if line else ''}, does not exist",
            hint=(f"Did you mean {near}? " if near else "") + f"Create it: penstock topics create {topic}",
        )


def grown_with_state(topology: Topology, before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, list[str]]:
    """Topics that got more partitions, with the stores whose keys are spread by them.

    New records of a key may go to another partition than its old ones, and so to a task that has no state of that key.
    """
    found: dict[str, list[str]] = {}
    for part in topology.subtopologies():
        sources = [n for name in part.nodes if isinstance(n := topology.nodes[name], SourceNode)]
        for topic, count in before.items():
            if part.stores and now.get(topic, 0) > count and any(reads(node, topic) for node in sources):
                found.setdefault(topic, []).extend(part.stores)
    return found
