"""Topics that a source writes and that do not exist: made as `topic.creation.*` says."""

from __future__ import annotations

from penstock.connect.config.config_key import ConfigType, parse_type
from penstock.connect.config.java_regex import compile_java
from penstock.connect.plugins import subset
from penstock.connect.spark.job import ConnectJob
from penstock.kafka.admin import Admin
from penstock.kafka.errors import TopicExists

_OWN = frozenset({"include", "exclude", "partitions", "replication.factor"})
_PREFIX = "topic.creation."


class TopicCreation:
    """Makes topics before the first record is sent to them; without settings for it that is left to the broker.

    Args:
        job: The connector.
    """

    def __init__(self, job: ConnectJob) -> None:
        self._job = job
        self._groups: list[str] = parse_type("groups", job.config.get(f"{_PREFIX}groups") or "", ConfigType.LIST)
        self._used = any(name.startswith(f"{_PREFIX}default.") for name in job.config)
        self._admin: Admin | None = None

    def ensure(self, topic: str) -> None:
        """Make a topic if it is missing and settings say how."""
        if not self._used:
            return
        admin = self._client()
        if topic in admin.topics():
            return
        partitions, factor, configs = self.settings(topic)
        try:
            admin.create_topic(topic, partitions=partitions, replication_factor=factor, configs=configs)
        except TopicExists:
            pass  # another task was faster

    def largest_batch(self, topic: str) -> int | None:
        """The largest batch of records a topic takes, in bytes; None if that is left to the broker."""
        own = self._client().describe_topic(topic).configs.get("max.message.bytes")
        return None if own is None else int(own)

    def _client(self) -> Admin:
        if self._admin is None:
            self._admin = Admin(self._job.kafka["admin"])
        return self._admin

    def settings(self, topic: str) -> tuple[int, int, dict[str, str]]:
        """Partitions, replication factor and configs of a topic: of the first group it belongs to, else the default's."""
        default = subset(self._job.config, f"{_PREFIX}default.")
        group = next((name for name in self._groups if self._is_member(name, topic)), None)
        own = {} if group is None else subset(self._job.config, f"{_PREFIX}{group}.")
        merged = {**default, **own}
        configs = {key: value for key, value in merged.items() if key not in _OWN}
        return int(merged["partitions"]), int(merged["replication.factor"]), configs

    def _is_member(self, group: str, topic: str) -> bool:
        def matches(key: str) -> bool:
            patterns = parse_type(key, self._job.config.get(f"{_PREFIX}{group}.{key}") or "", ConfigType.LIST)
            return any(compile_java(pattern).fullmatch(topic) for pattern in patterns)

        return matches("include") and not matches("exclude")
