"""Failures: what is tried again, what is skipped, what is reported, and what ends a task."""

from penstock.connect.failures.clock import Clock, SystemClock
from penstock.connect.failures.dead_letter_queue import DeadLetterQueue
from penstock.connect.failures.log_reporter import LogReporter
from penstock.connect.failures.operator import SKIPPED, ErrorMetrics, RetryWithTolerance, Skipped, ToleranceExceeded
from penstock.connect.failures.report import ConsumedColumns, ConsumedRecord, EncodedRecord, ErrorReporter, Failure
from penstock.connect.failures.settings import ErrorSettings
from penstock.connect.failures.stage import Stage

__all__ = [
    "SKIPPED",
    "Clock",
    "ConsumedColumns",
    "ConsumedRecord",
    "DeadLetterQueue",
    "EncodedRecord",
    "ErrorMetrics",
    "ErrorReporter",
    "ErrorSettings",
    "Failure",
    "LogReporter",
    "RetryWithTolerance",
    "Skipped",
    "Stage",
    "SystemClock",
    "ToleranceExceeded",
]
