"""Every setting there is: kind, default and what it does here. `docs/settings.md` is made from these tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.runtime.setting_kinds import (
    CLASS,
    FOLDER,
    FUNCTION,
    MILLISECONDS,
    NAME,
    SERDE,
    TEXT,
    TRUTH,
    Kind,
    checked,
    one_of,
    whole_number,
)
from penstock.runtime.start_offsets import START_OFFSETS
from penstock.topology.config import parse_optimization


@dataclass(frozen=True, slots=True)
class Setting:
    """A known setting.

    Attributes:
        kind: What values it takes.
        default: The value if it is not given; None if it has none.
        doc: What it does here.
    """

    kind: Kind
    default: Any
    doc: str


_RULES = checked("`none`, `all`, or a list of rules", parse_optimization)

KAFKA: dict[str, Setting] = {
    "application.id": Setting(
        NAME,
        None,
        "Name of the application: prefix of internal topics, group id, checkpoint. Letters, digits, `.`, `_` and `-`.",
    ),
    "bootstrap.servers": Setting(TEXT, None, "host:port list of the Kafka brokers."),
    "processing.guarantee": Setting(
        one_of("at_least_once", "exactly_once_v2"), "at_least_once", "Delivery guarantee of outputs and state."
    ),
    "commit.interval.ms": Setting(
        MILLISECONDS,
        100,
        "Time between the starts of two batches; a batch processes what is there and commits it. Kafka's default with "
        "at least once is 30000: there it delays commits, here it would delay results.",
    ),
    "statestore.cache.max.bytes": Setting(
        whole_number(0), 10485760, "0 forwards every update of a table; else one update a key and batch."
    ),
    "max.task.idle.ms": Setting(
        # Kafka's -1 means: never wait.
        whole_number(-1),
        0,
        "How long a task waits for data of an empty input partition.",
    ),
    # Kafka has no default and fails without one; text is what most first programs read and write.
    "default.key.serde": Setting(SERDE, "string", "Key serde of operators that name none."),
    "default.value.serde": Setting(SERDE, "string", "Value serde of operators that name none."),
    "default.timestamp.extractor": Setting(
        FUNCTION,
        None,
        "Gives records of sources that name none their time; by default Kafka's timestamp, which may not be negative.",
    ),
    "deserialization.exception.handler": Setting(
        FUNCTION, None, "Decides about records that cannot be read; by default the application stops."
    ),
    "processing.exception.handler": Setting(
        FUNCTION, None, "Decides about records whose processing fails; by default the application stops."
    ),
    "production.exception.handler": Setting(
        FUNCTION, None, "Decides about outputs that cannot be written; by default the application stops."
    ),
    "processing.exception.handler.global.enabled": Setting(
        TRUTH, False, "Ask the processing handler about global tables, too."
    ),
    "errors.dead.letter.queue.topic.name": Setting(TEXT, None, "Where the built-in handlers send failed records."),
    "topology.optimization": Setting(_RULES, "none", "Rewriting of the topology before it runs."),
    "ensure.explicit.internal.resource.naming": Setting(
        TRUTH, False, "Refuse generated names of stores and internal topics."
    ),
    "dsl.store.suppliers.class": Setting(CLASS, None, "Stores of tables: on disk by default, or in memory."),
    "dsl.store.format": Setting(one_of("DEFAULT", "HEADERS"), "DEFAULT", "HEADERS keeps headers with a table's rows."),
    "replication.factor": Setting(whole_number(-1), -1, "Replication of internal topics; -1 is the broker's default."),
    "windowstore.changelog.additional.retention.ms": Setting(
        MILLISECONDS, 86400000, "Extra retention of the changelogs of window stores."
    ),
    "task.timeout.ms": Setting(
        MILLISECONDS, 300000, "How long an application tries again while the broker is away, before it fails."
    ),
    "state.dir": Setting(TEXT, None, "Folder of local state; `penstock` in the temporary directory by default."),
    "state.cleanup.delay.ms": Setting(
        MILLISECONDS,
        600000,
        "Local state of this application that no task of a node has used for so long is removed there: of tasks that "
        "moved to another node, and of earlier checkpoints.",
    ),
    "processor.wrapper.class": Setting(CLASS, None, "Wraps every processor."),
    "client.id": Setting(TEXT, "", "The id of the Kafka clients; `penstock` by default."),
}

OWN: dict[str, Setting] = {
    "penstock.checkpoint": Setting(
        FOLDER,
        None,
        "Folder of the checkpoint (a path or a URI such as `s3://bucket/app`): positions and state. By default "
        "`checkpoints/<application.id>` in `state.dir`; on a cluster give one that all nodes reach.",
    ),
    "penstock.slots": Setting(
        whole_number(1), None, "Spark partitions of a batch; by default as many as Spark has cores."
    ),
    "penstock.batch.max.records": Setting(whole_number(1), 2_000_000, "Most records of a batch."),
    "penstock.batch.max.bytes": Setting(whole_number(1), 1 << 30, "Most bytes of a batch, as far as they are known."),
    "penstock.batch.target.ms": Setting(
        MILLISECONDS,
        1000,
        "Time a batch should take; the number of its records adapts to it. Where much waits, a batch may take four times that.",
    ),
    "penstock.start.offsets": Setting(
        START_OFFSETS,
        None,
        "Where topics start that have no position yet, as `{topic: {partition: offset}}` or JSON; instead of an offset "
        "also `earliest`, `latest` or a time such as `2026-05-01T00:00:00Z`, for a partition or a whole topic. Topics that "
        "the application does not read are refused, and partitions that do not exist; a topic that matches a pattern may "
        "come later. Partitions that are added to a topic later start with their first record.",
    ),
    "penstock.start.from.group": Setting(
        TRUTH,
        False,
        "A new application starts at the offsets of the consumer group `application.id`, where it has any: to take over "
        "from Kafka Streams or a consumer.",
    ),
    "penstock.fail.on.data.loss": Setting(
        TRUTH,
        True,
        "Whether to stop if Kafka no longer has the next records; else the loss is counted and logged, and reading goes "
        "on with what is there.",
    ),
    "penstock.changelogs": Setting(
        one_of("named", "all", "none"),
        "named",
        "Which stores also write a changelog topic: those you named, all, or none. Logging can be switched off for a "
        "store.",
    ),
    "penstock.restore": Setting(
        one_of("auto", "changelog", "empty"),
        "auto",
        "What happens if the checkpoint's state is gone: `auto` rebuilds it from the changelogs if every store has one, "
        "`changelog` rebuilds what has one (also if the whole checkpoint is gone), `empty` starts without.",
    ),
    "penstock.topology.changed": Setting(
        one_of("refuse", "allow"),
        "refuse",
        "What happens if stores of the topology do not fit those in the checkpoint; with `allow` new stores start "
        "empty, and orphaned ones are kept in case their names come back.",
    ),
    "penstock.topics.check.ms": Setting(
        MILLISECONDS, 5000, "How often to look for new partitions, and for new topics of a pattern; 0 never looks."
    ),
    "penstock.restart.attempts": Setting(
        whole_number(0),
        10,
        "How often in a row a query that fails is started again if the uncaught exception handler asks for it; a batch "
        "that succeeds ends the row.",
    ),
    "penstock.metrics.port": Setting(
        whole_number(0, 65535), None, "Port of an HTTP endpoint `/metrics` in Prometheus' format; 0 takes a free one."
    ),
    "penstock.metrics.host": Setting(TEXT, "127.0.0.1", "Address that endpoint listens on."),
    "penstock.log.batches": Setting(
        one_of("none", "json"), "none", "With `json` each batch is logged as a line of JSON by `penstock.batches`."
    ),
    "penstock.crash": Setting(
        TEXT, "", "For tests: a step of a commit at which workers die, as `step` or `step:probability`."
    ),
}

SETTINGS: dict[str, Setting] = {**KAFKA, **OWN}

OLD_NAMES = {
    "cache.max.bytes.buffering": "statestore.cache.max.bytes",
    "default.deserialization.exception.handler": "deserialization.exception.handler",
    "default.production.exception.handler": "production.exception.handler",
    "default.dsl.store": "dsl.store.suppliers.class",
}

# Accepted so that an existing configuration runs; Spark does what they steer in Kafka Streams.
NO_EFFECT = frozenset(
    {
        "acceptable.recovery.lag",
        "buffered.records.per.partition",
        "built.in.metrics.version",
        "default.client.supplier",
        "enable.metrics.push",
        "enable.transactional.statestores",
        "group.protocol",
        "log.summary.interval.ms",
        "max.warmup.replicas",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metadata.recovery.strategy",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.sample.window.ms",
        "num.stream.threads",
        "poll.ms",
        "probing.rebalance.interval.ms",
        "repartition.purge.interval.ms",
        "rocksdb.config.setter",
        "task.assignor.class",
        "upgrade.from",
        "window.size.ms",
        "windowed.inner.class.serde",
    }
)
# Accepted, too: what they steer is not there yet.
NOT_YET = frozenset(
    {
        "application.server",
        "default.interactive.query.isolation.level",
        "metrics.recording.level",
        "num.standby.replicas",
    }
)
NO_EFFECT_PREFIXES = ("global.consumer.", "rack.aware.", "restore.consumer.")

# Settings of Kafka's clients that count for all of them, and prefixes for those that count for one kind.
CLIENT_KEYS = frozenset(
    {
        "connections.max.idle.ms",
        "metadata.max.age.ms",
        "receive.buffer.bytes",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "request.timeout.ms",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "send.buffer.bytes",
    }
)
CLIENT_PREFIXES = ("security.", "ssl.", "sasl.")
PREFIXES = {
    "consumer.": "consumers",
    "main.consumer.": "consumers of input topics; wins over `consumer.`",
    "producer.": "producers",
    "admin.": "admin clients",
    "topic.": "internal topics, when they are created",
    "spark.": "the Spark session, if penstock starts it",
    "app.": 'your own processors, which read them by `context.app_configs_with_prefix("app.")`',
}
