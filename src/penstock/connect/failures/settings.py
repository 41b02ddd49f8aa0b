"""Settings of error handling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.connect.validation.connector_keys import DLQ_TOPIC, ConnectorKind, connector_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSettings:
    """What `errors.*` of a connector say.

    Attributes:
        tolerate_all: Whether records that cannot be handled are skipped.
        retry_timeout_ms: How long a retriable failure is tried again; -1 for ever.
        retry_delay_max_ms: The longest time between two tries.
        log: Whether errors are logged.
        log_records: Whether the log says which record failed.
        dead_letter_topic: Topic for records that cannot be handled; empty for none.
        dead_letter_replication: Its replication factor, if it has to be created.
        dead_letter_headers: Whether dead letters say in headers what happened.
    """

    tolerate_all: bool = False
    retry_timeout_ms: int = 0
    retry_delay_max_ms: int = 60_000
    log: bool = False
    log_records: bool = False
    dead_letter_topic: str = ""
    dead_letter_replication: int = 3
    dead_letter_headers: bool = False

    @classmethod
    def parse(cls, settings: Mapping[str, Any]) -> ErrorSettings:
        """The settings of a connector.

        >>> ErrorSettings.parse({"errors.tolerance": "all"}).tolerate_all
        True

        Raises:
            ConfigError: One cannot be used.
        """
        keys = connector_keys(ConnectorKind.SINK)
        values = {
            key.name: key.parse(settings[key.name]) if key.name in settings else key.default_value
            for key in keys
            if key.name.startswith("errors.")
        }
        return cls(
            tolerate_all=values["errors.tolerance"] == "all",
            retry_timeout_ms=values["errors.retry.timeout"],
            retry_delay_max_ms=values["errors.retry.delay.max.ms"],
            log=values["errors.log.enable"],
            log_records=values["errors.log.include.messages"],
            dead_letter_topic=values[DLQ_TOPIC],
            dead_letter_replication=values["errors.deadletterqueue.topic.replication.factor"],
            dead_letter_headers=values["errors.deadletterqueue.context.headers.enable"],
        )
