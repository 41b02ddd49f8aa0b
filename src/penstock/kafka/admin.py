"""Topics, their offsets, and consumer group offsets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import ConfigResource, NewPartitions, NewTopic, OffsetSpec

from penstock.kafka.client_log import logger
from penstock.kafka.clients import REACHABLE_SECONDS, ErrorEvents, open_admin, require_broker, translate
from penstock.kafka.consumer_group import GroupOffset, PartitionId, commit_group, read_group
from penstock.kafka.error_codes import TIMED_OUT
from penstock.kafka.errors import KafkaClientError, TopicExists, TopicMismatch, TopicMissing
from penstock.kafka.patience import patiently
from penstock.kafka.settings import Settings

REQUEST_SECONDS = 15.0
# Where a topic's setting came from: set on the topic itself, as opposed to inherited from broker or defaults.
_SET_ON_TOPIC = 1
_OFFSET_SPEC: Any = OffsetSpec  # its constructors carry no types

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TopicSummary:
    """A topic as a listing shows it."""

    name: str
    partitions: int
    replication_factor: int
    is_internal: bool


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """A partition: who serves it and which offsets it holds. `end` is the offset the next record gets."""

    partition: int
    leader: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    start: int
    end: int

    @property
    def offsets(self) -> int:
        """How many offsets it holds: the number of records, if neither compaction nor transactions left gaps."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic with its partitions and the settings given to it."""

    name: str
    partitions: tuple[PartitionDescription, ...]
    configs: Mapping[str, str] = field(default_factory=dict)

    @property
    def offsets(self) -> int:
        """Sum over the partitions."""
        return sum(partition.offsets for partition in self.partitions)


class Admin:
    """Asks and changes a cluster. The first call finds out within seconds whether a broker answers.

    Args:
        settings: Client settings under Kafka's names.
        reachable_seconds: How long the first call waits for a broker.
    """

    def __init__(self, settings: Settings, *, reachable_seconds: float = REACHABLE_SECONDS) -> None:
        self._settings = settings
        self._reachable_seconds = reachable_seconds
        self._events = ErrorEvents()
        self._client = open_admin(settings, events=self._events)

    def cluster_id(self) -> str:
        """The id of the cluster."""
        return self._metadata().cluster_id or ""

    def topics(self) -> dict[str, TopicSummary]:
        """All topics by name, internal ones included."""
        found = {}
        for name, topic in sorted(self._metadata().topics.items()):
            replicas = max((len(p.replicas) for p in topic.partitions.values()), default=0)
            found[name] = TopicSummary(name, len(topic.partitions), replicas, is_internal(name))
        return found

    def topic(self, name: str) -> TopicSummary:
        """One topic.

        Raises:
            TopicMissing: There is none of that name; the error suggests the nearest.
        """
        known = self.topics()
        if name not in known:
            raise TopicMissing(name, known=known)
        return known[name]

    def create_topic(
        self,
        name: str,
        *,
        partitions: int = 1,
        replication_factor: int = -1,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        """Create a topic and wait until it can be used.

        Args:
            name: Its name.
            partitions: How many.
            replication_factor: Copies of each partition; -1 takes the broker's default.
            configs: Topic settings such as `cleanup.policy`.

        Raises:
            TopicExists: It is there already.
        """
        self._metadata()
        new = NewTopic(name, partitions, replication_factor, config=dict(configs or {}))
        try:
            self._answers(partial(self._client.create_topics, [new], operation_timeout=REQUEST_SECONDS))
        except KafkaException as error:
            if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
                raise TopicExists(name) from None
            raise _creation_error(name, error.args[0]) from None
        self._wait_for_leaders(name, partitions)

    def ensure_topic(self, name: str, *, partitions: int, configs: Mapping[str, str] | None = None) -> bool:
        """Create a topic unless it is there; True if it was created.

        Raises:
            TopicMismatch: It is there with another number of partitions.
        """
        found = self.topics().get(name)
        if found is None:
            try:
                self.create_topic(name, partitions=partitions, configs=configs)
                return True
            except TopicExists:
                # Another process was faster.
                found = self.topic(name)
        if found.partitions != partitions:
            raise TopicMismatch(name, expected=partitions, found=found.partitions)
        return False

    def add_partitions(self, name: str, partitions: int) -> None:
        """Let a topic have that many partitions, more than now, and wait until they can be used."""
        new = NewPartitions(name, partitions)
        self._call(partial(self._client.create_partitions, [new], operation_timeout=REQUEST_SECONDS), topic=name)
        self._wait(lambda: self.topics()[name].partitions >= partitions)
        self.end_offsets((name, partition) for partition in range(partitions))

    def delete_topics(self, names: Iterable[str]) -> None:
        """Delete topics and their records.

        Raises:
            TopicMissing: One of them does not exist; nothing is deleted then.
        """
        wanted = list(names)
        known = self.topics()
        for name in wanted:
            if name not in known:
                raise TopicMissing(name, known=known)
        if wanted:
            self._call(partial(self._client.delete_topics, wanted, operation_timeout=REQUEST_SECONDS))
            self._wait(lambda: not self.topics().keys() & set(wanted))

    def topic_ids(self, names: Iterable[str]) -> dict[str, str]:
        """The ids of those of the topics that exist: one that is deleted and made again has another one."""
        existing = self.topics()
        wanted = [name for name in names if name in existing]
        if not wanted:
            return {}
        found = self._call(
            lambda: self._client.describe_topics(TopicCollection(wanted), request_timeout=REQUEST_SECONDS),
            topic=wanted[0],
        )
        return {name: str(topic.topic_id) for name, topic in found.items()}

    def describe_topic(self, name: str) -> TopicDescription:
        """A topic with its partitions, their offsets, and the settings given to it."""
        metadata = self._metadata().topics
        if name not in metadata:
            raise TopicMissing(name, known=metadata)
        partitions = [(name, partition) for partition in sorted(metadata[name].partitions)]
        starts, ends = self.start_offsets(partitions), self.end_offsets(partitions)
        described = tuple(
            PartitionDescription(
                partition,
                metadata[name].partitions[partition].leader,
                tuple(metadata[name].partitions[partition].replicas),
                tuple(metadata[name].partitions[partition].isrs),
                starts[name, partition],
                ends[name, partition],
            )
            for _, partition in partitions
        )
        return TopicDescription(name, described, self._topic_configs(name))

    def topic_settings(self, name: str) -> dict[str, str]:
        """What counts for a topic: its own settings, and those it has from the broker."""
        return {key: entry.value for key, entry in self._config_entries(name).items() if entry.value is not None}

    def start_offsets(self, partitions: Iterable[PartitionId]) -> dict[PartitionId, int]:
        """The first offset each partition holds."""
        return self._offsets(partitions, _OFFSET_SPEC.earliest(), committed=False)

    def end_offsets(self, partitions: Iterable[PartitionId], *, committed: bool = False) -> dict[PartitionId, int]:
        """The offset behind each partition's last record; with `committed`, behind the last decided transaction."""
        return self._offsets(partitions, _OFFSET_SPEC.latest(), committed=committed)

    def offsets_for_time(self, partitions: Iterable[PartitionId], timestamp: int) -> dict[PartitionId, int]:
        """The first offset with that timestamp or a later one, -1 where there is none."""
        return self._offsets(partitions, _OFFSET_SPEC.for_timestamp(timestamp), committed=False)

    def delete_records(self, before: Mapping[PartitionId, int]) -> None:
        """Delete the records below an offset, for each partition given."""
        asked = [TopicPartition(topic, partition, offset) for (topic, partition), offset in before.items()]
        if asked:
            self._call(partial(self._client.delete_records, asked, request_timeout=REQUEST_SECONDS))

    def group_offsets(self, group: str, partitions: Iterable[PartitionId]) -> dict[PartitionId, GroupOffset]:
        """What a consumer group committed for those of the partitions it ever committed; see `read_group`."""
        return read_group(self._settings, group, partitions)

    def set_group_offsets(self, group: str, offsets: Mapping[PartitionId, GroupOffset]) -> None:
        """Commit offsets for a consumer group that has no running members; see `commit_group`."""
        commit_group(self._settings, group, offsets)

    def delete_group(self, group: str) -> None:
        """Forget a consumer group and its offsets; nothing happens if there is none."""
        # With a client of its own: requests to a coordinator that went away spoil a client for good, see `consumer_group`.
        client = open_admin(self._settings)
        try:
            self._answers(partial(client.delete_consumer_groups, [group], request_timeout=REQUEST_SECONDS))
        except KafkaException as error:
            if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
                raise translate(error, self._settings) from None

    def _offsets(self, partitions: Iterable[PartitionId], spec: Any, *, committed: bool) -> dict[PartitionId, int]:
        wanted = list(partitions)
        if not wanted:
            return {}
        asked = {TopicPartition(topic, partition): spec for topic, partition in wanted}
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        ask = partial(self._client.list_offsets, asked, isolation_level=level, request_timeout=REQUEST_SECONDS)
        try:
            return {(p.topic, p.partition): answer.offset for p, answer in self._answers(ask).items()}
        except KafkaException as error:
            self._require_partitions(wanted)
            raise translate(error, self._settings) from None

    def _wait_for_leaders(self, name: str, partitions: int) -> None:
        self._wait(lambda: name in self.topics())
        self.end_offsets((name, partition) for partition in range(partitions))

    @staticmethod
    def _wait(is_known: Callable[[], bool]) -> None:
        """The controller answers before the brokers know; until they do, clients are told the opposite."""
        deadline = time.monotonic() + REQUEST_SECONDS
        while not is_known() and time.monotonic() < deadline:
            time.sleep(0.02)

    def _require_partitions(self, partitions: Iterable[PartitionId]) -> None:
        known = self.topics()
        for topic, partition in partitions:
            if topic not in known:
                raise TopicMissing(topic, known=known)
            if partition >= known[topic].partitions:
                raise TopicMissing(topic, partition=partition)

    def _topic_configs(self, name: str) -> dict[str, str]:
        entries = self._config_entries(name)
        return {key: entry.value for key, entry in sorted(entries.items()) if entry.source == _SET_ON_TOPIC}

    def _config_entries(self, name: str) -> dict[str, Any]:
        resource = ConfigResource(ConfigResource.Type.TOPIC, name)
        ask = partial(self._client.describe_configs, [resource], request_timeout=REQUEST_SECONDS)
        return self._call(ask, topic=name)[resource]  # type: ignore[no-any-return]

    def _metadata(self) -> Any:
        return require_broker(self._client, self._settings, self._events, seconds=self._reachable_seconds)

    def _call(self, ask: Callable[[], Mapping[Any, Future[Any]]], *, topic: str | None = None) -> dict[Any, Any]:
        try:
            return self._answers(ask)
        except KafkaException as error:
            raise translate(error, self._settings, topic=topic) from None

    def _answers(self, ask: Callable[[], Mapping[Any, Future[Any]]]) -> dict[Any, Any]:
        """All answers to a request."""

        def wait() -> dict[Any, Any]:
            try:
                return {key: future.result(REQUEST_SECONDS) for key, future in ask().items()}
            except FutureTimeout:
                # The library's own time limit is the same; whoever notices first, it is the same failure.
                raise KafkaException(KafkaError(TIMED_OUT)) from None

        return self._patiently(wait)

    def _refresh(self) -> None:
        """Ask who leads: after a restart of the broker the client goes on with the epoch it knows."""
        try:
            self._client.list_topics(timeout=REACHABLE_SECONDS)
        except KafkaException as error:
            logger.debug("metadata cannot be had now: %s", error)

    def _patiently(self, ask: Callable[[], T]) -> T:
        def ask_and_log() -> T:
            try:
                return ask()
            finally:
                self._client.poll(0)  # hands over what the client wants to log

        return patiently(ask_and_log, self._refresh)


def is_internal(topic: str) -> bool:
    """Whether a topic belongs to Kafka itself."""
    return topic.startswith("__")


def _creation_error(name: str, error: KafkaError) -> KafkaClientError:
    return KafkaClientError(
        f"Topic '{name}' cannot be created: {error.str().removeprefix('Broker: ')}",
        hint="Check the name, the number of partitions, the replication factor and the settings.",
    )


def partitions_of(summary: TopicSummary) -> Sequence[PartitionId]:
    """All partitions of a topic, as the offset calls take them.

    >>> partitions_of(TopicSummary("a", 2, 1, False))
    [('a', 0), ('a', 1)]
    """
    return [(summary.name, partition) for partition in range(summary.partitions)]
