from __future__ import annotations

import logging
import random

import pytest

from penstock.connect.config.secrets import Secrets
from penstock.connect.data import SourceRecord
from penstock.connect.errors import ConfigError, ConnectError, DataError, RetriableError
from penstock.connect.failures import (
    SKIPPED,
    ConsumedRecord,
    DeadLetterQueue,
    ErrorSettings,
    Failure,
    LogReporter,
    RetryWithTolerance,
    Stage,
    SystemClock,
)
from penstock.handlers import DeadLetter
from penstock.records import Headers

RECORD = ConsumedRecord("orders", 3, 7, b"k", b"v", 1700000000000, headers=Headers([("h", b"1")]))


class ManualClock:
    def __init__(self, stop_after: int = -1) -> None:
        self.now = 1000
        self.waits: list[int] = []
        self._stop_after = stop_after

    def now_ms(self) -> int:
        return self.now

    def wait(self, millis: int) -> bool:
        self.waits.append(millis)
        self.now += millis
        return len(self.waits) != self._stop_after


class Flaky:
    """Fails some times, then works."""

    def __init__(self, failures: int, error: Exception | None = None) -> None:
        self.calls = 0
        self._failures = failures
        self._error = error if error is not None else RetriableError("not now")

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self._failures:
            raise self._error
        return "done"


class Reports:
    def __init__(self) -> None:
        self.failures: list[Failure] = []

    def report(self, failure: Failure) -> None:
        self.failures.append(failure)


def test_what_works_is_just_done() -> None:
    operator = RetryWithTolerance(ErrorSettings())
    assert operator.execute(Stage.TASK_PUT, "Sink", lambda: 5) == 5
    assert operator.metrics.total_record_errors == 0


def test_delays_double_and_stay_within_the_limit() -> None:
    clock = ManualClock()
    settings = ErrorSettings(retry_timeout_ms=-1, retry_delay_max_ms=2000)
    operator = RetryWithTolerance(settings, clock=clock, rng=random.Random(1))
    flaky = Flaky(7)
    assert operator.execute(Stage.TASK_PUT, "Sink", flaky) == "done"
    assert clock.waits[:3] == [300, 600, 1200]
    assert all(0 <= wait < 2000 for wait in clock.waits[3:])
    assert len(set(clock.waits[3:])) > 1
    assert (operator.metrics.total_retries, operator.metrics.total_record_errors) == (7, 1)
    assert operator.metrics.total_record_failures == 0


def test_retries_end_at_the_deadline() -> None:
    clock, reports = ManualClock(), Reports()
    operator = RetryWithTolerance(ErrorSettings(retry_timeout_ms=1000, tolerate_all=True), [reports], clock=clock)
    flaky = Flaky(99)
    assert operator.execute(Stage.TASK_PUT, "Sink", flaky, RECORD) is SKIPPED
    assert clock.waits == [300, 600, 100]
    assert flaky.calls == 4
    assert [failure.attempts for failure in reports.failures] == [4]
    assert operator.metrics.total_records_skipped == 1
    assert operator.metrics.last_error_timestamp == 2000


def test_without_a_timeout_nothing_is_tried_again() -> None:
    clock = ManualClock()
    operator = RetryWithTolerance(ErrorSettings(tolerate_all=True), clock=clock)
    assert operator.execute(Stage.VALUE_CONVERTER, "C", Flaky(1)) is SKIPPED
    assert clock.waits == []


def test_only_retriable_errors_are_tried_again() -> None:
    clock = ManualClock()
    operator = RetryWithTolerance(ErrorSettings(retry_timeout_ms=-1, tolerate_all=True), clock=clock)
    assert operator.execute(Stage.TRANSFORMATION, "T", Flaky(1, DataError("bad"))) is SKIPPED
    assert clock.waits == []


def test_a_retry_may_fail_in_another_way() -> None:
    errors = iter([RetriableError("later"), DataError("bad")])

    def operation() -> str:
        raise next(errors)

    operator = RetryWithTolerance(ErrorSettings(retry_timeout_ms=-1), clock=ManualClock())
    with pytest.raises(ConnectError, match=r"Tolerance exceeded in error handler: .*DataError: bad"):
        operator.execute(Stage.TRANSFORMATION, "T", operation)


def test_waiting_ends_when_the_task_is_to_stop() -> None:
    clock = ManualClock(stop_after=2)
    operator = RetryWithTolerance(ErrorSettings(retry_timeout_ms=-1, tolerate_all=True), clock=clock)
    flaky = Flaky(99)
    assert operator.execute(Stage.TASK_POLL, "Source", flaky) is SKIPPED
    assert flaky.calls == 2
    system = SystemClock()
    system.stop()
    assert system.wait(10_000_000) is False
    assert system.now_ms() > 1_700_000_000_000


@pytest.mark.parametrize(
    "stage", [Stage.TRANSFORMATION, Stage.KEY_CONVERTER, Stage.VALUE_CONVERTER, Stage.HEADER_CONVERTER]
)
def test_any_failure_of_one_record_can_be_tolerated(stage: Stage) -> None:
    assert (
        RetryWithTolerance(ErrorSettings(tolerate_all=True)).execute(stage, "C", Flaky(1, ValueError("x"))) is SKIPPED
    )


@pytest.mark.parametrize("stage", [Stage.TASK_POLL, Stage.TASK_PUT, Stage.KAFKA_PRODUCE, Stage.KAFKA_CONSUME])
def test_other_stages_tolerate_only_what_may_pass(stage: Stage) -> None:
    operator = RetryWithTolerance(ErrorSettings(tolerate_all=True))
    assert operator.execute(stage, "C", Flaky(1)) is SKIPPED
    with pytest.raises(
        ConnectError, match=rf"Unhandled exception in error handler: {stage.value} \(C\) failed: ValueError: x"
    ):
        operator.execute(stage, "C", Flaky(1, ValueError("x")))


def test_a_failure_that_is_not_tolerated_says_where_and_what_to_do() -> None:
    reports = Reports()
    operator = RetryWithTolerance(ErrorSettings(), [reports], task="copy-0")
    with pytest.raises(ConnectError) as caught:
        operator.execute(Stage.VALUE_CONVERTER, "json_converter.JsonConverter", Flaky(1, DataError("bad")), RECORD)
    assert str(caught.value) == (
        "Tolerance exceeded in error handler: task copy-0, VALUE_CONVERTER (JsonConverter) of topic orders, partition 3, "
        "offset 7 failed: DataError: bad. Mend what is wrong and restart the task: it goes on with this record. "
        "Or let errors.tolerance=all skip such records; errors.deadletterqueue.topic.name keeps them."
    )
    assert isinstance(caught.value.__cause__, DataError)
    assert len(reports.failures) == 1  # reported before it failed
    source = SourceRecord("t", source_partition={"file": "a"})
    with pytest.raises(
        ConnectError, match=r"VALUE_CONVERTER \(C\) of a record for topic t from \{'file': 'a'\} failed"
    ):
        operator.execute(Stage.VALUE_CONVERTER, "C", Flaky(1, DataError("bad")), source)


def test_a_sink_may_report_records_itself() -> None:
    reports = Reports()
    RetryWithTolerance(ErrorSettings(tolerate_all=True), [reports]).report(RECORD, "Sink", ValueError("x"))
    assert [failure.stage for failure in reports.failures] == [Stage.TASK_PUT]
    with pytest.raises(
        ConnectError, match=r"TASK_PUT \(Sink\) of topic orders, partition 3, offset 7 failed: ValueError"
    ):
        RetryWithTolerance(ErrorSettings()).report(RECORD, "Sink", ValueError("x"))


def test_settings_are_those_of_kafka() -> None:
    assert ErrorSettings.parse({}) == ErrorSettings()
    assert ErrorSettings.parse({
        "errors.tolerance": "all", "errors.retry.timeout": "-1", "errors.retry.delay.max.ms": "5",
        "errors.log.enable": "true", "errors.log.include.messages": "true",
        "errors.deadletterqueue.topic.name": "dlq", "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }) == ErrorSettings(
        tolerate_all=True, retry_timeout_ms=-1, retry_delay_max_ms=5, log=True, log_records=True,
        dead_letter_topic="dlq", dead_letter_replication=1, dead_letter_headers=True,
    )  # fmt: skip
    with pytest.raises(ConfigError, match="String must be one of: none, all"):
        ErrorSettings.parse({"errors.tolerance": "some"})


def test_the_log_line_is_that_of_kafka(caplog: pytest.LogCaptureFixture) -> None:
    failure = Failure(Stage.VALUE_CONVERTER, "JsonConverter", DataError("bad"), RECORD)
    assert LogReporter("c-0", ErrorSettings(log=True)).message(failure) == (
        "Error encountered in task c-0. Executing stage 'VALUE_CONVERTER' with class 'JsonConverter'."
    )
    full = LogReporter("c-0", ErrorSettings(log=True, log_records=True))
    assert full.message(failure) == (
        "Error encountered in task c-0. Executing stage 'VALUE_CONVERTER' with class 'JsonConverter', where consumed "
        "record is {topic='orders', partition=3, offset=7, timestamp=1700000000000, timestampType=CreateTime}."
    )
    source = Failure(Stage.TRANSFORMATION, "T", DataError("bad"), SourceRecord("t"))
    assert ", where source record is = SourceRecord(topic='t'" in full.message(source)
    with caplog.at_level(logging.ERROR):
        LogReporter("c-0", ErrorSettings()).report(failure)
        assert caplog.messages == []
        full.report(failure)
    assert len(caplog.messages) == 1
    assert "bad" in caplog.text


def test_dead_letters_keep_the_bytes_and_say_what_happened() -> None:
    sent: list[DeadLetter] = []
    settings = ErrorSettings(dead_letter_topic="dlq", dead_letter_headers=True)
    queue = DeadLetterQueue("c", 0, settings, sent.append)
    try:
        raise DataError("bad", hint="Do this.")
    except DataError as error:
        queue.report(Failure(Stage.VALUE_CONVERTER, "JsonConverter", error, RECORD))
    letter = sent[0]
    assert (letter.topic, letter.key, letter.value, letter.timestamp) == ("dlq", b"k", b"v", 1700000000000)
    headers = dict(letter.headers)
    stacktrace = headers.pop("__connect.errors.exception.stacktrace")
    assert stacktrace is not None
    assert b"test_operator.py" in stacktrace
    assert headers == {
        "h": b"1",
        "__connect.errors.topic": b"orders",
        "__connect.errors.partition": b"3",
        "__connect.errors.offset": b"7",
        "__connect.errors.connector.name": b"c",
        "__connect.errors.task.id": b"0",
        "__connect.errors.stage": b"VALUE_CONVERTER",
        "__connect.errors.class.name": b"JsonConverter",
        "__connect.errors.exception.class.name": b"org.apache.kafka.connect.errors.DataException",
        "__connect.errors.exception.message": b"bad",
    }
    assert queue.sent == 1


def test_dead_letters_without_context_or_topic() -> None:
    sent: list[DeadLetter] = []
    failure = Failure(Stage.VALUE_CONVERTER, "C", ValueError("x"), RECORD._replace(timestamp=None))
    DeadLetterQueue("c", 0, ErrorSettings(dead_letter_topic="dlq"), sent.append).report(failure)
    assert (sent[0].headers, sent[0].timestamp) == (RECORD.headers, -1)
    DeadLetterQueue("c", 0, ErrorSettings(), sent.append).report(failure)
    named = DeadLetterQueue("c", 0, ErrorSettings(dead_letter_topic="dlq"), sent.append)
    named.report(Failure(Stage.TASK_POLL, "C", ValueError("x")))
    assert len(sent) == 1


def test_what_is_skipped_is_counted_by_step_and_error() -> None:
    operator = RetryWithTolerance(ErrorSettings(tolerate_all=True), task="copy-0")
    for error in (DataError("bad"), DataError("worse"), ValueError("x")):
        operator.execute(Stage.TRANSFORMATION, "T", Flaky(1, error), RECORD)
    operator.report(RECORD, "Sink", KeyError("x"))
    assert operator.metrics.skipped == {
        "TRANSFORMATION DataException": 2,
        "TRANSFORMATION ValueError": 1,
        "TASK_PUT KeyError": 1,
    }
    assert operator.metrics.last_error == (
        "task copy-0, TASK_PUT (Sink) of topic orders, partition 3, offset 7 failed: KeyError: 'x'"
    )


def test_secrets_are_in_no_report(caplog: pytest.LogCaptureFixture) -> None:
    secrets = Secrets(["hunter2secret"])
    settings = ErrorSettings(log=True, dead_letter_topic="dlq", dead_letter_headers=True)
    sent: list[DeadLetter] = []
    try:
        raise RuntimeError("https://u:hunter2secret@h refused")
    except RuntimeError as error:
        failure = Failure(Stage.TASK_PUT, "Sink", error, ConsumedRecord("t", 0, 7, b"k", b"hunter2secret"))
    LogReporter("c-0", settings, secrets=secrets).report(failure)
    DeadLetterQueue("c", 0, settings, sent.append, secrets=secrets).report(failure)
    assert "https://u:[hidden]@h refused" in caplog.text
    assert "hunter2secret" not in caplog.text
    texts = {name: value.decode() for name, value in sent[0].headers if value is not None}
    assert texts["__connect.errors.exception.message"] == "https://u:[hidden]@h refused"
    assert "https://u:[hidden]@h refused" in texts["__connect.errors.exception.stacktrace"]
    assert "hunter2secret" not in "".join(texts.values())
    assert sent[0].value == b"hunter2secret"  # the record is as it was
