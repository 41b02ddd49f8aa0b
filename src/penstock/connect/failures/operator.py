"""Retries and tolerance around every operation of a task."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeVar

from penstock.connect.data import SourceRecord
from penstock.connect.errors import ConnectError, RetriableError
from penstock.connect.failures.clock import Clock, SystemClock
from penstock.connect.failures.report import ConsumedRecord, ErrorReporter, Failure
from penstock.connect.failures.settings import ErrorSettings
from penstock.connect.failures.stage import Stage

T = TypeVar("T")
FIRST_DELAY_MS = 300


class Skipped(Enum):
    """Stands for the result of an operation that failed and was tolerated."""

    SKIPPED = "skipped"


SKIPPED: Final = Skipped.SKIPPED


class ToleranceExceeded(ConnectError):
    """A record cannot be handled, and the connector does not tolerate that."""


@dataclass(slots=True)
class ErrorMetrics:
    """Counts of a task, under the names of Kafka's metrics.

    Attributes:
        skipped: The records that were skipped, by step and class of error.
        last_error: What failed last.
    """

    total_record_errors: int = 0
    total_record_failures: int = 0
    total_records_skipped: int = 0
    total_retries: int = 0
    last_error_timestamp: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    last_error: str = ""


class RetryWithTolerance:
    """Runs operations: tries again what may work later, skips what may be skipped, reports what failed.

    >>> operator = RetryWithTolerance(ErrorSettings(tolerate_all=True))
    >>> operator.execute(Stage.VALUE_CONVERTER, "JsonConverter", lambda: int("x"))
    <Skipped.SKIPPED: 'skipped'>

    Args:
        settings: Tolerance and retries.
        reporters: Told of every failure.
        task: Connector and task, for messages: `copy-0`.
        clock: The time.
        rng: Random numbers for the delays.
    """

    def __init__(
        self,
        settings: ErrorSettings,
        reporters: Sequence[ErrorReporter] = (),
        *,
        task: str = "",
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.settings = settings
        self.metrics = ErrorMetrics()
        self._reporters = reporters
        self._task = f"task {task}, " if task else ""
        self._clock = clock if clock is not None else SystemClock()
        self._random = rng if rng is not None else random.Random()

    def execute(
        self,
        stage: Stage,
        executing_class: str,
        operation: Callable[[], T],
        record: ConsumedRecord | SourceRecord | None = None,
    ) -> T | Skipped:
        """The result of an operation, or SKIPPED if it failed and that is tolerated.

        Raises:
            ToleranceExceeded: It failed and that is not tolerated; the cause is the real error.
        """
        try:
            return operation()
        except Exception as error:  # noqa: BLE001 - any failure of a converter, transform or task
            return self.recover(stage, executing_class, operation, record, error)

    def recover(
        self,
        stage: Stage,
        executing_class: str,
        operation: Callable[[], T],
        record: ConsumedRecord | SourceRecord | None,
        error: Exception,
    ) -> T | Skipped:
        """What `execute` does after a first failure: for loops that try the first time themselves."""
        attempts = 1
        deadline = self._deadline()
        self.metrics.total_record_errors += 1
        while isinstance(error, RetriableError) and self._clock.now_ms() < deadline:
            if not self._clock.wait(self._delay(attempts, deadline)):
                break
            attempts += 1
            self.metrics.total_retries += 1
            try:
                return operation()
            except Exception as again:  # noqa: BLE001 - any failure of a converter, transform or task
                error = again
        return self._give_up(Failure(stage, executing_class, error, record, attempts))

    def _deadline(self) -> float:
        timeout = self.settings.retry_timeout_ms
        return float("inf") if timeout < 0 else self._clock.now_ms() + timeout

    def _delay(self, attempts: int, deadline: float) -> int:
        """Milliseconds to wait: doubled with each try; above the limit a random time below it; never past the deadline."""
        delay = FIRST_DELAY_MS << min(attempts - 1, 62)
        if delay > self.settings.retry_delay_max_ms:
            delay = self._random.randrange(self.settings.retry_delay_max_ms)
        return int(min(delay, max(0.0, deadline - self._clock.now_ms())))

    def _give_up(self, failure: Failure) -> Skipped:
        self._note(failure)
        if not isinstance(failure.error, failure.stage.tolerable):
            raise ToleranceExceeded(f"Unhandled exception in error handler: {self._why(failure)}") from failure.error
        return self._skip(failure, "Tolerance exceeded in error handler")

    def refuse(self, failure: Failure) -> None:
        """One record that a sink task, or Kafka, does not take, while it takes others.

        Raises:
            ToleranceExceeded: Errors are not tolerated.
        """
        self.metrics.total_record_errors += 1
        self._note(failure)
        produced = failure.stage is Stage.KAFKA_PRODUCE
        self._skip(
            failure,
            "Unrecoverable exception from producer send callback"
            if produced
            else "Tolerance exceeded in error handler",
        )

    def report(self, record: ConsumedRecord, executing_class: str, error: BaseException) -> None:
        """A record a sink task refuses itself, while it puts the others.

        Raises:
            ToleranceExceeded: Errors are not tolerated.
        """
        self.refuse(Failure(Stage.TASK_PUT, executing_class, error, record))

    def _note(self, failure: Failure) -> None:
        self.metrics.total_record_failures += 1
        self.metrics.last_error_timestamp = self._clock.now_ms()
        self.metrics.last_error = self._why(failure)
        for reporter in self._reporters:
            reporter.report(failure)

    def _skip(self, failure: Failure, otherwise: str) -> Skipped:
        if not self.settings.tolerate_all:
            raise ToleranceExceeded(
                f"{otherwise}: {self._why(failure)}",
                hint="Mend what is wrong and restart the task: it goes on with this record. Or let errors.tolerance=all skip "
                "such records; errors.deadletterqueue.topic.name keeps them.",
            ) from failure.error
        self.metrics.total_records_skipped += 1
        self.metrics.skipped[failure.reason] = self.metrics.skipped.get(failure.reason, 0) + 1
        return SKIPPED

    def _why(self, failure: Failure) -> str:
        error = failure.error
        return f"{self._task}{failure.where()} failed: {type(error).__name__}: {error}"
