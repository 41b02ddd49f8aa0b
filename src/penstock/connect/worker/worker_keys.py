"""The settings of a worker, under Kafka Connect's names."""

from __future__ import annotations

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import OneOf, Range
from penstock.connect.converters.registry import CONVERTERS, HEADER_CONVERTERS
from penstock.connect.validation.connector_keys import class_of
from penstock.connect.worker.rest_keys import REST_KEYS, no_effect

KAFKA = "Kafka"
CONVERSION = "Converters"
OFFSETS = "Offsets and shutdown"
PLUGINS = "Plugins and configuration"
TOPICS = "Topics of connectors"
CLUSTER = "Distributed workers"
PENSTOCK = "Penstock"
JAVA = "Of Kafka's own workers"

# Any of these may follow the name of a topic of the worker's own: it is created with them.
_TOPIC_SETTINGS = (
    "cleanup.policy", "compression.", "delete.retention.ms", "file.delete.delay.ms", "flush.messages", "flush.ms",
    "follower.replication.throttled.replicas", "index.interval.bytes", "leader.replication.throttled.replicas",
    "local.retention.", "max.compaction.lag.ms", "max.message.bytes", "message.timestamp.", "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms", "min.insync.replicas", "preallocate", "remote.", "retention.", "segment.",
    "unclean.leader.election.enable",
)  # fmt: skip

# Beginnings of names that belong to clients, converters, providers and Spark, not to the worker itself. They are few, so
# that a slip of the pen is warned of.
PREFIXES = (
    "key.converter.", "value.converter.", "header.converter.", "producer.", "consumer.", "admin.", "config.providers.",
    "security.", "ssl.", "sasl.", "spark.",
    *(f"{kind}.storage.{name}" for kind in ("config", "offset", "status") for name in _TOPIC_SETTINGS),
)  # fmt: skip

# Of Kafka's own clients, its metrics, and the passwords its workers have among themselves.
_OF_JAVA = (
    "client.dns.lookup", "client.id", "connections.max.idle.ms", "metadata.max.age.ms",
    "metadata.recovery.rebootstrap.trigger.ms", "metadata.recovery.strategy", "receive.buffer.bytes",
    "reconnect.backoff.max.ms", "reconnect.backoff.ms", "request.timeout.ms", "retry.backoff.max.ms", "retry.backoff.ms",
    "send.buffer.bytes", "socket.connection.setup.timeout.max.ms", "socket.connection.setup.timeout.ms",
    "auto.include.jmx.reporter", "metric.reporters", "metrics.context.connect.group.id",
    "metrics.context.connect.kafka.cluster.id", "metrics.num.samples", "metrics.recording.level",
    "metrics.sample.window.ms", "internal.key.converter", "internal.key.converter.schemas.enable",
    "internal.value.converter", "internal.value.converter.schemas.enable", "inter.worker.key.generation.algorithm",
    "inter.worker.key.size", "inter.worker.key.ttl.ms", "inter.worker.signature.algorithm",
    "inter.worker.verification.algorithms",
)  # fmt: skip


_COMMON = (
    ConfigKey(
        name="bootstrap.servers",
        type=ConfigType.LIST,
        default="localhost:9092",
        importance=Importance.HIGH,
        doc="Where Kafka is: host:port, several with commas.",
        group=KAFKA,
    ),
    ConfigKey(
        name="key.converter",
        type=ConfigType.CLASS,
        validator=class_of(CONVERTERS),
        importance=Importance.HIGH,
        doc="Converter for record keys, unless a connector names its own. Its options follow as `key.converter.<option>`.",
        group=CONVERSION,
    ),
    ConfigKey(
        name="value.converter",
        type=ConfigType.CLASS,
        validator=class_of(CONVERTERS),
        importance=Importance.HIGH,
        doc="Converter for record values, unless a connector names its own.",
        group=CONVERSION,
    ),
    ConfigKey(
        name="header.converter",
        type=ConfigType.CLASS,
        default="org.apache.kafka.connect.storage.SimpleHeaderConverter",
        validator=class_of(HEADER_CONVERTERS),
        importance=Importance.LOW,
        doc="Converter for headers, unless a connector names its own.",
        group=CONVERSION,
    ),
    ConfigKey(
        name="offset.flush.interval.ms",
        type=ConfigType.LONG,
        default=60_000,
        importance=Importance.LOW,
        doc="Accepted, without effect: offsets are committed with every batch.",
        group=OFFSETS,
    ),
    no_effect("offset.flush.timeout.ms", ConfigType.LONG, 5_000, OFFSETS),
    ConfigKey(
        name="task.shutdown.graceful.timeout.ms",
        type=ConfigType.LONG,
        default=5_000,
        importance=Importance.LOW,
        doc="How long connectors have to come to an end when the worker stops.",
        group=OFFSETS,
    ),
    ConfigKey(
        name="exactly.once.source.support",
        default="enabled",
        validator=OneOf("disabled", "preparing", "enabled", ignore_case=True),
        importance=Importance.HIGH,
        doc="Whether records of sources are written in transactions, so that each arrives once. Kafka's default is disabled.",
        group=OFFSETS,
    ),
    ConfigKey(
        name="plugin.path",
        type=ConfigType.LIST,
        default=None,
        importance=Importance.LOW,
        doc="Accepted, without effect: connectors are Python packages, found by their entry points.",
        group=PLUGINS,
    ),
    ConfigKey(
        name="plugin.discovery",
        default="hybrid_warn",
        validator=OneOf("only_scan", "hybrid_warn", "hybrid_fail", "service_load", ignore_case=True),
        importance=Importance.LOW,
        doc="Accepted, without effect.",
        group=PLUGINS,
    ),
    ConfigKey(
        name="config.providers",
        type=ConfigType.LIST,
        default="",
        importance=Importance.LOW,
        doc="Names of config providers; `config.providers.<name>.class` and `config.providers.<name>.param.<key>` follow.",
        group=PLUGINS,
    ),
    ConfigKey(
        name="connector.client.config.override.policy",
        default="All",
        importance=Importance.MEDIUM,
        doc="Which `producer.override.`, `consumer.override.` and `admin.override.` settings connectors may have: "
        "All, None, Principal, or Allowlist.",
        group=PLUGINS,
    ),
    ConfigKey(
        name="connector.client.config.override.allowlist",
        type=ConfigType.LIST,
        default="",
        importance=Importance.LOW,
        doc="The settings that connector.client.config.override.policy=Allowlist lets through, without prefix.",
        group=PLUGINS,
    ),
    ConfigKey(
        name="topic.tracking.enable",
        type=ConfigType.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Whether the worker keeps which topics a connector uses.",
        group=TOPICS,
    ),
    ConfigKey(
        name="topic.tracking.allow.reset",
        type=ConfigType.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Whether requests may empty that list.",
        group=TOPICS,
    ),
    ConfigKey(
        name="topic.creation.enable",
        type=ConfigType.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Whether sources may have their topics created as `topic.creation.*` of the connector says.",
        group=TOPICS,
    ),
    *(no_effect(name, ConfigType.STRING, None, JAVA) for name in _OF_JAVA),
)

_PENSTOCK = (
    ConfigKey(
        name="state.dir",
        default=None,
        importance=Importance.MEDIUM,
        doc="Folder in which a standalone worker keeps the offsets of sources; if it is not set, the name of "
        "offset.storage.file.filename with .d behind it. Workers of a group keep nothing on disk.",
        group=PENSTOCK,
    ),
)

STANDALONE = ConfigDef(
    *_COMMON,
    ConfigKey(
        name="offset.storage.file.filename",
        importance=Importance.HIGH,
        doc="File for the offsets of sources.",
        group=OFFSETS,
    ),
    *REST_KEYS,
    *_PENSTOCK,
)


def _internal_topic(kind: str, what: str, partitions: int) -> tuple[ConfigKey, ...]:
    topic = ConfigKey(
        name=f"{kind}.storage.topic", importance=Importance.HIGH, doc=f"Topic for {what}, compacted.", group=CLUSTER
    )
    replication = ConfigKey(
        name=f"{kind}.storage.replication.factor",
        type=ConfigType.SHORT,
        default=3,
        importance=Importance.LOW,
        doc="Its replication factor, if it has to be created; -1 is the broker's default.",
        group=CLUSTER,
    )
    if partitions == 1:
        return topic, replication
    count = ConfigKey(
        name=f"{kind}.storage.partitions",
        type=ConfigType.INT,
        default=partitions,
        importance=Importance.LOW,
        doc="Its number of partitions, if it has to be created; -1 is the broker's default.",
        group=CLUSTER,
    )
    return topic, replication, count


DISTRIBUTED = ConfigDef(
    *_COMMON,
    ConfigKey(
        name="group.id",
        importance=Importance.HIGH,
        doc="Name of the group of workers; all with the same name and topics are one cluster.",
        group=CLUSTER,
    ),
    *_internal_topic("config", "configurations and wanted states", 1),
    *_internal_topic("offset", "offsets of sources", 25),
    *_internal_topic("status", "states of connectors and tasks", 5),
    ConfigKey(
        name="internal.topics.automatic.creation.enable",
        type=ConfigType.BOOLEAN,
        default=True,
        importance=Importance.MEDIUM,
        doc="Whether these topics are created if they are missing.",
        group=CLUSTER,
    ),
    ConfigKey(
        name="session.timeout.ms",
        type=ConfigType.INT,
        default=10_000,
        validator=Range(at_least=1),
        importance=Importance.HIGH,
        doc="After this time without a sign of life a worker is gone and another takes over.",
        group=CLUSTER,
    ),
    ConfigKey(
        name="heartbeat.interval.ms",
        type=ConfigType.INT,
        default=3_000,
        validator=Range(at_least=1),
        importance=Importance.HIGH,
        doc="Time between signs of life; a third of session.timeout.ms is usual.",
        group=CLUSTER,
    ),
    ConfigKey(
        name="rebalance.timeout.ms",
        type=ConfigType.INT,
        default=60_000,
        importance=Importance.HIGH,
        doc="Accepted, without effect.",
        group=CLUSTER,
    ),
    no_effect("worker.sync.timeout.ms", ConfigType.INT, 3_000, CLUSTER),
    no_effect("worker.unsync.backoff.ms", ConfigType.INT, 300_000, CLUSTER),
    no_effect("scheduled.rebalance.max.delay.ms", ConfigType.INT, 300_000, CLUSTER),
    no_effect("connect.protocol", ConfigType.STRING, "sessioned", CLUSTER),
    *REST_KEYS,
    *_PENSTOCK,
)
