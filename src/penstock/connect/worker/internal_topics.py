"""The topics a group of workers keeps everything in: created if they are missing, refused if they are not compacted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.connect.errors import ConfigError
from penstock.connect.plugins import subset
from penstock.connect.worker.compacted_log import LARGEST_RECORD
from penstock.connect.worker.worker_config import WorkerConfig
from penstock.kafka.admin import Admin
from penstock.kafka.errors import TopicExists

KINDS = ("config", "offset", "status")
_OWN = ("topic", "partitions", "replication.factor", "file.filename")


def ensure_internal_topics(config: WorkerConfig, admin: Admin) -> dict[str, int]:
    """Number of partitions of each of the topics, by kind.

    Raises:
        ConfigError: One is missing and may not be created, is not compacted, or the config topic has several partitions.
    """
    names = [config.values[f"{kind}.storage.topic"] for kind in KINDS]
    if len(set(names)) < len(names):
        raise ConfigError(
            f"The topics {', '.join(names)} must be three different ones",
            hint="Set config.storage.topic, offset.storage.topic and status.storage.topic to names of their own.",
        )
    return {kind: _ensure(kind, config, admin) for kind in KINDS}


def _ensure(kind: str, config: WorkerConfig, admin: Admin) -> int:
    key = f"{kind}.storage.topic"
    topic: str = config.values[key]
    if topic not in admin.topics():
        _create(kind, topic, config, admin)
    found = admin.describe_topic(topic)
    policy = found.configs.get("cleanup.policy", "delete")
    if policy != "compact":
        raise ConfigError(
            f"Topic '{topic}' supplied via the '{key}' property is required to have 'cleanup.policy=compact' to guarantee "
            f"consistency and durability of what is in it, but found the topic currently has 'cleanup.policy={policy}'",
            key=key,
            hint="Change the topic's cleanup.policy, or name another topic.",
        )
    if kind == "config" and len(found.partitions) != 1:
        raise ConfigError(
            f"Topic '{topic}' supplied via the '{key}' property is required to have a single partition in order to "
            f"guarantee consistency of connector configurations, but found {len(found.partitions)} partitions.",
            key=key,
            hint="Name another topic; it is created as it has to be.",
        )
    return len(found.partitions)


def _create(kind: str, topic: str, config: WorkerConfig, admin: Admin) -> None:
    if not config.values["internal.topics.automatic.creation.enable"]:
        raise ConfigError(
            f"Topic '{topic}' of {kind}.storage.topic does not exist",
            key=f"{kind}.storage.topic",
            hint="Create it with cleanup.policy=compact, or set internal.topics.automatic.creation.enable=true.",
        )
    values: Mapping[str, Any] = config.values
    extra = {name: value for name, value in subset(config.settings, f"{kind}.storage.").items() if name not in _OWN}
    try:
        admin.create_topic(
            topic,
            partitions=values.get(f"{kind}.storage.partitions", 1),
            replication_factor=values[f"{kind}.storage.replication.factor"],
            configs={"max.message.bytes": str(LARGEST_RECORD), **extra, "cleanup.policy": "compact"},
        )
    except TopicExists:
        pass  # another worker was faster
