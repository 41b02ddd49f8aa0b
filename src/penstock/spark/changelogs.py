"""Changelog topics: which stores have one, under which name and with which settings, in Kafka's own conventions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.durations import MAX_LONG
from penstock.kafka.admin import Admin
from penstock.kafka.errors import TopicExists, TopicMismatch
from penstock.spark.job import Job
from penstock.state.builders import StoreBuilder

_GENERATED = re.compile(r"-\d{10}(-store)?$")
_DAY_MS = 86_400_000
_ADDITIONAL_RETENTION = "windowstore.changelog.additional.retention.ms"


@dataclass(frozen=True, slots=True)
class Changelog:
    """The changelog topic of a store.

    Attributes:
        store: Name of the store.
        kind: Its kind.
        topic: Name of the topic; partition n holds the changes of task n.
        subtopology: The sub-topology whose tasks write it.
        partitions: How many: one for each task.
        configs: Settings of the topic.
        is_source: The topic is one that the application reads: nothing is written, and it is never made.
    """

    store: str
    kind: str
    topic: str
    subtopology: int
    partitions: int
    configs: tuple[tuple[str, str], ...] = ()
    is_source: bool = False


def changelogs(job: Job) -> dict[str, Changelog]:
    """The changelogs of an application, by store."""
    mode = job.config.app_configs.get("penstock.changelogs", "named")
    found: dict[str, Changelog] = {}
    for part in job.layout.subtopologies.values():
        tasks = job.layout.tasks[part.id]
        for name in part.stores:
            builder, source = job.topology.stores[name], job.topology.source_changelogs.get(name)
            if source is not None:
                found[name] = Changelog(name, builder.kind, source, part.id, tasks, is_source=True)
            elif _is_logged(builder, mode):
                topic = f"{job.application_id}-{name}-changelog"
                found[name] = Changelog(name, builder.kind, topic, part.id, tasks, _configs(builder, job))
    return found


def _is_logged(builder: StoreBuilder, mode: str) -> bool:
    if not builder.logging or builder.kind == "custom" or mode == "none":
        return False
    return mode == "all" or _GENERATED.search(builder.name) is None


def _configs(builder: StoreBuilder, job: Job) -> tuple[tuple[str, str], ...]:
    """The topic's settings: what the kind of store needs, what the application says, what the store says."""
    given = job.config.app_configs
    configs = {"cleanup.policy": "compact", "message.timestamp.type": "CreateTime"}
    retention = builder.retention_ms
    if builder.kind == "versioned" and retention is not None:
        # A version that compaction removes is lost: all of the history must stay.
        configs["min.compaction.lag.ms"] = str(min(retention + _DAY_MS, MAX_LONG))
    elif retention is not None:
        # Records of join windows all have keys of their own: there is nothing to compact.
        configs["cleanup.policy"] = "delete" if getattr(builder, "retain_duplicates", False) else "compact,delete"
        configs["retention.ms"] = str(min(retention + int(given.get(_ADDITIONAL_RETENTION, _DAY_MS)), MAX_LONG))
    configs |= {key[len("topic.") :]: str(value) for key, value in given.items() if key.startswith("topic.")}
    return tuple(sorted({**configs, **dict(builder.log_config)}.items()))


def ensure_changelogs(admin: Admin, job: Job) -> list[str]:
    """Make the changelog topics that are missing, and add partitions where there are more tasks now.

    Returns:
        The topics that were made.

    Raises:
        TopicMismatch: A topic has more partitions than there are tasks.
    """
    wanted = [log for log in changelogs(job).values() if not log.is_source]
    if not wanted:
        return []
    existing, made = admin.topics(), []
    for log in wanted:
        known = existing.get(log.topic)
        if known is None:
            _create(admin, log, job.config.app_configs)
            made.append(log.topic)
        elif known.partitions < log.partitions:
            admin.add_partitions(log.topic, log.partitions)
        elif known.partitions > log.partitions:
            raise TopicMismatch(log.topic, expected=log.partitions, found=known.partitions)
    return made


def _create(admin: Admin, log: Changelog, given: Mapping[str, Any]) -> None:
    replication = int(given.get("replication.factor") or -1)
    try:
        admin.create_topic(
            log.topic, partitions=log.partitions, replication_factor=replication, configs=dict(log.configs)
        )
    except TopicExists:
        pass  # another start of the same application was faster
