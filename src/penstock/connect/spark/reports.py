"""What goes from the driver to a task and comes back, as JSON: a plan, and a report of what became of it."""

from __future__ import annotations

import traceback
from typing import Any

from penstock.connect.errors import RetriableError
from penstock.connect.failures import ErrorMetrics
from penstock.kafka.errors import OffsetsGone
from penstock.spark.failures import is_transient

Plan = dict[str, Any]
"""`{"task": n, "batch": n, "ranges": [...]}`; a sink's ranges are `[topic, partition, committed, start, end]`, a source's
`[partition, start, end]`."""
Report = dict[str, Any]
"""`{"task": n, "records": n, "errors": {...}, "topics": [...], "committed": [...]}`, or `{"task": n, "error": {...}}`."""


def error_counts(metrics: ErrorMetrics, dead_letters: int) -> dict[str, Any]:
    """What was skipped in a batch that is done, and why."""
    return {
        "skipped": metrics.skipped,
        "retries": metrics.total_retries,
        "dead_letters": dead_letters,
        "last_error": metrics.last_error,
        "last_error_timestamp": metrics.last_error_timestamp,
    }


def failure_report(task: int, error: BaseException) -> Report:
    """The report of a batch that failed."""
    return {
        "task": task,
        "error": {
            "message": str(error),
            "trace": "".join(traceback.format_exception(type(error), error, error.__traceback__)),
            "transient": may_pass(error),
        },
    }


def may_pass(error: BaseException) -> bool:
    """Whether trying again may help: Kafka is away, a task said so, or the next plan begins behind what is gone."""
    return isinstance(error, (RetriableError, OffsetsGone)) or is_transient(type(error).__name__, str(error))
