"""The parts of a task that configuration decides: converters, transforms, error handling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.connect.api import CONNECTORS
from penstock.connect.converters.registry import configured_converter, configured_header_converter
from penstock.connect.failures import (
    Clock,
    DeadLetterQueue,
    ErrorReporter,
    ErrorSettings,
    LogReporter,
    RetryWithTolerance,
)
from penstock.connect.spark.job import ConnectJob
from penstock.connect.transforms.chain import configured_chain
from penstock.connect.validation.connector_keys import ConnectorKind
from penstock.handlers import DeadLetter


def task_class(job: ConnectJob) -> Any:
    """The class of the connector's tasks."""
    found: Any = CONNECTORS.find(job.config["connector.class"].strip())
    return found.TASK


def error_operator(
    job: ConnectJob, task: int, clock: Clock, send_letter: Callable[[DeadLetter], None]
) -> RetryWithTolerance:
    """Retries, tolerance and reports of a task."""
    settings = ErrorSettings.parse(job.config)
    name = f"{job.name}-{task}"
    reporters: list[ErrorReporter] = [LogReporter(name, settings, secrets=job.secrets)]
    # A source that fails reads the record again when it is restarted: there is no letter for what is not left out.
    if job.kind is ConnectorKind.SINK or settings.tolerate_all:
        reporters.append(DeadLetterQueue(job.name, task, settings, send_letter, secrets=job.secrets))
    return RetryWithTolerance(settings, reporters, task=name, clock=clock)


def pipeline_parts(job: ConnectJob, operator: RetryWithTolerance) -> dict[str, Any]:
    """What a pipeline is made of."""
    return {
        "key_converter": configured_converter(job.config, "key.converter"),
        "value_converter": configured_converter(job.config, "value.converter"),
        "header_converter": configured_header_converter(job.config),
        "chain": configured_chain(job.config),
        "operator": operator,
    }
