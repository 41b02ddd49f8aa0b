"""The settings every connector has."""

from __future__ import annotations

from enum import Enum
from typing import Any

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance, Width
from penstock.connect.config.validators import Check, NoControlCharacters, OneOf, Range, Regex, Validator
from penstock.connect.converters.registry import CONVERTERS, HEADER_CONVERTERS
from penstock.connect.errors import ConfigError, invalid_value
from penstock.connect.plugins import Plugins

COMMON = "Common"
TRANSFORMS = "Transforms"
PREDICATES = "Predicates"
ERRORS = "Error Handling"
TOPIC_CREATION = "Topic Creation"
EXACTLY_ONCE = "Exactly Once Support"

DLQ_TOPIC = "errors.deadletterqueue.topic.name"
RESTART_ATTEMPTS = "errors.restart.max.attempts"
RESTART_DELAY = "errors.restart.delay.ms"


class ConnectorKind(Enum):
    """Which way records go."""

    SOURCE = "source"
    SINK = "sink"


def class_of(plugins: Plugins[Any]) -> Validator:
    """A check that a class can be found."""

    def check(key: str, value: Any) -> None:
        if value is None:
            return
        try:
            plugins.find(value)
        except ConfigError as error:
            raise invalid_value(key, value, str(error)) from error

    return Check(check, f"name of a {plugins.kind}")


def no_duplicates(reason: str) -> Validator:
    """A check that a list has nothing twice."""

    def check(key: str, value: Any) -> None:
        if len(set(value)) != len(value):
            raise invalid_value(key, value, reason)

    return Check(check, "unique names")


def _converter(name: str, plugins: Plugins[Any], what: str) -> ConfigKey:
    doc = f"Converter for {what}; that of the worker if it is not set."
    return ConfigKey(
        name=name,
        type=ConfigType.CLASS,
        default=None,
        validator=class_of(plugins),
        importance=Importance.LOW,
        doc=doc,
        group=COMMON,
        width=Width.SHORT,
    )


_COMMON_KEYS = (
    ConfigKey(
        name="name",
        validator=NoControlCharacters(),
        importance=Importance.HIGH,
        doc="Name of the connector; no other has it.",
        group=COMMON,
        display_name="Connector name",
    ),
    ConfigKey(
        name="connector.class",
        importance=Importance.HIGH,
        doc="The class of the connector: its full name, its simple name, or the simple name without Connector.",
        group=COMMON,
        width=Width.LONG,
        display_name="Connector class",
    ),
    ConfigKey(
        name="connector.plugin.version",
        default=None,
        importance=Importance.MEDIUM,
        doc="Accepted, without effect: there is one version of each plugin.",
        group=COMMON,
    ),
    ConfigKey(
        name="tasks.max",
        type=ConfigType.INT,
        default=1,
        validator=Range(at_least=1),
        importance=Importance.HIGH,
        doc="The most tasks the connector may have.",
        group=COMMON,
        width=Width.SHORT,
        display_name="Tasks max",
    ),
    ConfigKey(
        name="tasks.max.enforce",
        type=ConfigType.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Whether a connector that makes more tasks than tasks.max fails.",
        group=COMMON,
    ),
    _converter("key.converter", CONVERTERS, "record keys"),
    _converter("value.converter", CONVERTERS, "record values"),
    _converter("header.converter", HEADER_CONVERTERS, "headers"),
    ConfigKey(
        name="transforms",
        type=ConfigType.LIST,
        default="",
        validator=no_duplicates("Duplicate alias provided."),
        importance=Importance.LOW,
        doc="Names of the transforms, in the order they are applied.",
        group=TRANSFORMS,
        width=Width.LONG,
        display_name="Transforms",
    ),
    ConfigKey(
        name="predicates",
        type=ConfigType.LIST,
        default="",
        validator=no_duplicates("Duplicate alias provided."),
        importance=Importance.LOW,
        doc="Names of the predicates that transforms use.",
        group=PREDICATES,
        width=Width.LONG,
        display_name="Predicates",
    ),
    ConfigKey(
        name="config.action.reload",
        default="restart",
        validator=OneOf("none", "restart"),
        importance=Importance.LOW,
        doc="What happens when values from config providers are no longer good: the connector restarts, or nothing.",
        group=COMMON,
    ),
)

ERROR_KEYS = (
    ConfigKey(
        name="errors.retry.timeout",
        type=ConfigType.LONG,
        default=0,
        validator=Range(at_least=-1),
        doc="Milliseconds for which a failed operation is tried again; 0 is not at all, -1 for ever.",
        group=ERRORS,
    ),
    ConfigKey(
        name="errors.retry.delay.max.ms",
        type=ConfigType.LONG,
        default=60_000,
        validator=Range(at_least=1),
        doc="The longest time between two tries, in milliseconds.",
        group=ERRORS,
    ),
    ConfigKey(
        name="errors.tolerance",
        default="none",
        validator=OneOf("none", "all"),
        doc="none: the first error ends the task. all: records that cannot be handled are skipped.",
        group=ERRORS,
        width=Width.SHORT,
    ),
    ConfigKey(
        name="errors.log.enable",
        type=ConfigType.BOOLEAN,
        default=False,
        doc="Whether each error is written to the log, with what failed.",
        group=ERRORS,
    ),
    ConfigKey(
        name="errors.log.include.messages",
        type=ConfigType.BOOLEAN,
        default=False,
        doc="Whether the log says which record failed.",
        group=ERRORS,
    ),
    ConfigKey(
        name=RESTART_ATTEMPTS,
        type=ConfigType.INT,
        default=0,
        validator=Range(at_least=-1),
        importance=Importance.LOW,
        doc="How often a connector that failed is restarted by itself; 0 is never, as in Kafka, -1 as often as it fails.",
        group=ERRORS,
    ),
    ConfigKey(
        name=RESTART_DELAY,
        type=ConfigType.LONG,
        default=10_000,
        validator=Range(at_least=1),
        importance=Importance.LOW,
        doc="Milliseconds before the first such restart; twice as long before each further one, ten minutes at most.",
        group=ERRORS,
    ),
)

# Kafka has dead letters for sinks only.
_LETTER_KEYS = (
    ConfigKey(
        name=DLQ_TOPIC,
        default="",
        importance=Importance.MEDIUM,
        doc="Topic for records that cannot be handled; empty: none.",
        group=ERRORS,
    ),
    ConfigKey(
        name="errors.deadletterqueue.topic.replication.factor",
        type=ConfigType.SHORT,
        default=3,
        importance=Importance.MEDIUM,
        doc="Replication factor of the dead letter topic, if it has to be created.",
        group=ERRORS,
    ),
    ConfigKey(
        name="errors.deadletterqueue.context.headers.enable",
        type=ConfigType.BOOLEAN,
        default=False,
        importance=Importance.MEDIUM,
        doc="Whether records of the dead letter topic say in headers where they are from and what failed.",
        group=ERRORS,
    ),
)

_SINK_KEYS = (
    ConfigKey(
        name="topics",
        type=ConfigType.LIST,
        default="",
        importance=Importance.HIGH,
        doc="Topics to consume, separated by commas. Either this or topics.regex.",
        group=COMMON,
        width=Width.LONG,
        display_name="Topics",
    ),
    ConfigKey(
        name="topics.regex",
        default="",
        validator=Regex(),
        importance=Importance.HIGH,
        doc="Regular expression for the topics to consume; the whole name must match.",
        group=COMMON,
        width=Width.LONG,
        display_name="Topics regex",
    ),
)

_SOURCE_KEYS = (
    ConfigKey(
        name="topic.creation.groups",
        type=ConfigType.LIST,
        default="",
        validator=no_duplicates("Duplicate topic creation group provided."),
        importance=Importance.LOW,
        doc="Names of groups of topics that are created with settings of their own.",
        group=TOPIC_CREATION,
    ),
    ConfigKey(
        name="exactly.once.support",
        default="requested",
        validator=OneOf("required", "requested", ignore_case=True),
        importance=Importance.MEDIUM,
        doc="required: refuse to start if records cannot be delivered exactly once.",
        group=EXACTLY_ONCE,
    ),
    ConfigKey(
        name="transaction.boundary",
        default="poll",
        validator=OneOf("poll", "interval", "connector", ignore_case=True),
        importance=Importance.MEDIUM,
        doc="Accepted, without effect: each batch is a transaction.",
        group=EXACTLY_ONCE,
    ),
    ConfigKey(
        name="transaction.boundary.interval.ms",
        type=ConfigType.LONG,
        default=None,
        importance=Importance.LOW,
        doc="Accepted, without effect: each batch is a transaction.",
        group=EXACTLY_ONCE,
    ),
    ConfigKey(
        name="offsets.storage.topic",
        default=None,
        importance=Importance.LOW,
        doc="Accepted, without effect: offsets are where the worker keeps them.",
        group=EXACTLY_ONCE,
    ),
)


def connector_keys(kind: ConnectorKind) -> ConfigDef:
    """The settings every source or sink has, whatever it connects to."""
    specific = _SINK_KEYS if kind is ConnectorKind.SINK else _SOURCE_KEYS
    return ConfigDef(*_COMMON_KEYS, *ERROR_KEYS, *_LETTER_KEYS, *specific)
