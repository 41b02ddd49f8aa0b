"""Sinks: keys and values become bytes and go to the collector of the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from penstock.errors import StreamsError
from penstock.functions import TOPIC_EXTRACTOR, function
from penstock.handlers import Origin
from penstock.interpreter.config import TaskConfig
from penstock.interpreter.context import TaskContext
from penstock.interpreter.guards import Guards
from penstock.kafka.murmur2 import partition_for
from penstock.records import Headers, Record
from penstock.serde.shared import encode_shared
from penstock.topology.nodes import SinkNode

Column = Sequence[Any]
# Takes many records by their parts: keys, values, timestamps, headers.
ColumnSink = Callable[[Column, Column, Sequence[int], Sequence[Headers]], None]


class Collector(Protocol):
    """Where a task's outputs go: the test driver's queues, Kafka, or the next stage."""

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: Headers,
        partition: int | None,
    ) -> None:
        """Take one record; partition None leaves the choice to the default partitioner."""

    def send_all(
        self,
        topic: str,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        timestamps: Sequence[int],
        headers: Sequence[Headers],
    ) -> None:
        """Take many records of one topic, by their parts; the default partitioner chooses their partitions."""
        for key, value, timestamp, given in zip(keys, values, timestamps, headers, strict=True):
            self.send(topic, key, value, timestamp, given, None)

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has."""


def build_sink(
    node: SinkNode, context: TaskContext, config: TaskConfig, collector: Collector, guards: Guards
) -> Callable[..., None]:
    """The function that writes a record to the sink's topic."""
    key_serde, value_serde = (
        config.key_serde(node.key_serde, node.name),
        config.value_serde(node.value_serde, node.name),
    )
    fixed = config.topic(node.topic, internal=node.internal) if isinstance(node.topic, str) else None
    extract = None if fixed is not None else function(node.topic, TOPIC_EXTRACTOR, "the topic extractor")
    choose = None if extract is None else extract.bind("key", "value", "context")
    encode_key, encode_value = key_serde.encoder(fixed or "<dynamic>"), value_serde.encoder(fixed or "<dynamic>")
    send, name = collector.send, node.name
    targets = _targets(node, key_serde, collector)

    def encode_failed(key: Any, value: Any, timestamp: int, error: Exception, origin: Origin) -> None:
        while not guards.production_failed(name, Record(key, value, timestamp, context.headers), error, origin):
            raise guards.failure(error, name) from error  # encoding again cannot help
        context.dropped["production error"] = context.dropped.get("production error", 0) + 1

    def sink(key: Any, value: Any, timestamp: int) -> None:
        topic = fixed
        if topic is None:
            assert choose is not None
            topic = choose(key, value, context.record_context(timestamp))
            if not isinstance(topic, str):
                raise StreamsError(f"the topic extractor returned {topic!r}", hint="Return the topic's name.")
        try:
            key_bytes = encode_key(key)
        except Exception as error:  # noqa: BLE001 - whatever a serde raises
            encode_failed(key, value, timestamp, error, Origin.KEY)
            return
        try:
            value_bytes = encode_value(value)
        except Exception as error:  # noqa: BLE001 - whatever a serde raises
            encode_failed(key, value, timestamp, error, Origin.VALUE)
            return
        if targets is None:
            send(topic, key_bytes, value_bytes, timestamp, context.headers, None)
        else:
            for partition in targets(topic, key, value):
                send(topic, key_bytes, value_bytes, timestamp, context.headers, partition)

    return sink


def build_column_sink(
    node: SinkNode, context: TaskContext, config: TaskConfig, collector: Collector, one: Callable[..., None]
) -> ColumnSink | None:
    """The same for many records at once; None if the topic or partition depends on the record.

    Args:
        node: The sink.
        context: The task's.
        config: The task's.
        collector: Takes the records.
        one: Takes a record alone, where one of them cannot be serialised.
    """
    key_serde, value_serde = (
        config.key_serde(node.key_serde, node.name),
        config.value_serde(node.value_serde, node.name),
    )
    if not isinstance(node.topic, str) or _targets(node, key_serde, collector) is not None:
        return None
    topic = config.topic(node.topic, internal=node.internal)
    encode_keys, encode_values = key_serde.column_encoder(topic), value_serde.column_encoder(topic)

    def sink(keys: Column, values: Column, timestamps: Sequence[int], headers: Sequence[Headers]) -> None:
        try:
            key_column, value_column = encode_shared(encode_keys, keys), encode_values(values)
        except Exception:  # noqa: BLE001 - whatever a serde raises: one by one, to say which record it is
            before = context.headers
            for key, value, timestamp, context.headers in zip(keys, values, timestamps, headers, strict=True):
                one(key, value, timestamp)
            context.headers = before
            return
        collector.send_all(topic, key_column, value_column, timestamps, headers)

    return sink


def build_raw_sink(node: SinkNode, config: TaskConfig, collector: Collector, store: Any) -> ColumnSink | None:
    """The same for rows of a store that it has serialised already; None if the sink would write other bytes."""
    same = all(
        serde.topic_free and serde == kept
        for serde, kept in (
            (config.key_serde(node.key_serde, node.name), store.key_serde),
            (config.value_serde(node.value_serde, node.name), store.value_serde),
        )
    )
    if not same or not isinstance(node.topic, str) or node.partitioner is not None:
        return None
    send_all, topic = collector.send_all, config.topic(node.topic, internal=node.internal)
    return lambda keys, values, timestamps, headers: send_all(topic, keys, values, timestamps, headers)


_DEFAULT: tuple[None] = (None,)


def _targets(node: SinkNode, key_serde: Any, collector: Collector) -> Callable[[str, Any, Any], Any] | None:
    """Which partitions a record goes to; None where the default partitioner decides by the key's bytes."""
    if node.partitioner is None:
        # Windowed keys go where their inner key goes, so that all windows of a key stay together. Between
        # sub-topologies the whole key decides, as in Kafka.
        if node.internal or not getattr(key_serde, "windowed", False):
            return None
        encode_inner = key_serde.inner.encoder("")

        def by_inner_key(topic: str, key: Any, value: Any) -> tuple[int | None]:
            if key is None:
                return _DEFAULT
            return (partition_for(encode_inner(key.key), collector.partition_count(topic)),)

        return by_inner_key
    partitioner = node.partitioner

    def by_user(topic: str, key: Any, value: Any) -> Any:
        count = collector.partition_count(topic)
        chosen = partitioner(topic, key, value, count)
        if chosen is None:
            return _DEFAULT
        partitions = (chosen,) if type(chosen) is int else chosen
        if not isinstance(partitions, (tuple, list, set, frozenset)) or not all(
            type(partition) is int and 0 <= partition < count for partition in partitions
        ):
            raise StreamsError(
                f"the partitioner returned {chosen!r} for topic {topic}, which has {count} "
                f"partition{'' if count == 1 else 's'}",
                hint=f"Return a partition from 0 to {count - 1}, a set of them, or None for the default.",
            )
        return sorted(partitions)

    return by_user
