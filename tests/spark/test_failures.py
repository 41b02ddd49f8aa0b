from __future__ import annotations

import pytest

from penstock.spark.failures import QueryFailed, query_failed

HEAD = (
    "[STREAM_FAILED] Query [id = 08861ab2, runId = 00498e4d] terminated with exception: [PYTHON_EXCEPTION] An exception "
    "was thrown from the Python worker: Traceback (most recent call last):\n"
    '  File "/site/penstock/spark/data_source.py", line 102, in read\n'
    "    rows = [*(plan.pack() for plan in deeper), *run_in_slot(self._job, self._encoded, own)]\n"
    "                                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
)
TAIL = (
    "\n SQLSTATE: 38000 SQLSTATE: XXKST\n=== Streaming Query ===\nIdentifier: app [id = 08861ab2, runId = 00498e4d]\n"
    'Current Available Offsets: {Source: {"batch": 0}}\n\nLogical Plan:\nOops: WriteToMicroBatchDataSource\n'
)


def read(error: str, head: str = HEAD) -> QueryFailed:
    return query_failed(RuntimeError(head + error + TAIL))


def test_an_error_of_a_task_is_one_line_with_its_place() -> None:
    failed = read(
        "penstock.interpreter.guards.TaskFailed: ValueError: invalid literal for int(): 'x' (node doubling, task 0_0, "
        "topic numbers, partition 0, offset 2, at app.py:3). Fix the function."
    )
    assert str(failed) == (
        "ValueError: invalid literal for int(): 'x' (node doubling, task 0_0, topic numbers, partition 0, offset 2, "
        "at app.py:3). Fix the function."
    )
    assert (failed.kind, failed.transient) == ("TaskFailed", False)
    assert failed.__cause__ is None  # nobody needs Spark's screens of text behind it


def test_a_message_of_several_lines_becomes_one_and_keeps_its_end() -> None:
    failed = read("penstock.interpreter.guards.TaskFailed: ValueError: a\n  b\n\nValueError: c (node n, offset 2)")
    assert str(failed) == "ValueError: a b ValueError: c (node n, offset 2)"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("penstock.kafka.errors.BrokerUnreachable: No Kafka broker answers at h:1: Connect failed", "BrokerUnreachable"),
        ("penstock.interpreter.guards.TaskFailed: RangeStalled: No records came from a-0 (node unknown, task 0_0)", "RangeStalled"),
        ("penstock.kafka.errors.TransactionAborted: Transaction of 'app-0-1' failed: epoch", "TransactionAborted"),
        ("penstock.kafka.errors.DeliveryFailed: 3 records were not delivered (out-0: Message timed out). All others arrived.", "DeliveryFailed"),
        ("penstock.kafka.errors.KafkaClientError: Kafka refused: Not coordinator (NOT_COORDINATOR)", "KafkaClientError"),
    ],
)  # fmt: skip
def test_kafka_away_is_transient(error: str, kind: str) -> None:
    failed = read(error)
    assert (failed.kind, failed.transient) == (kind, True)


@pytest.mark.parametrize(
    "error",
    [
        "penstock.kafka.errors.DeliveryFailed: 1 record was not delivered (out-0: Message size too large)",
        "penstock.kafka.errors.KafkaClientError: Kafka refused: Invalid record (INVALID_RECORD)",
        "penstock.kafka.errors.RecordRefused: Kafka does not take a record for a-changelog with the key b'k': Message size too large",
        "penstock.kafka.errors.TopicMissing: Topic 'orders' does not exist",
        "penstock.kafka.errors.OffsetsGone: Offsets 3 to 9 of a-0 cannot be read: it now holds offsets 5 to 9",
        "penstock.interpreter.guards.TaskFailed: TimeoutError: timed out (node n, task 0_0)",
    ],
)
def test_what_waiting_does_not_heal_is_not_transient(error: str) -> None:
    assert not read(error).transient


def test_a_module_the_workers_lack_is_said_with_what_to_do() -> None:
    failed = read("ModuleNotFoundError: No module named 'orders_app'")
    assert failed.message == "a Python process of Spark failed: ModuleNotFoundError: No module named 'orders_app'"
    assert "spark.submit.pyFiles" in failed.hint


def test_an_error_without_message_is_still_named() -> None:
    failed = read("TimeoutError")
    assert str(failed) == "a Python process of Spark failed: TimeoutError"
    assert (failed.kind, failed.transient) == ("TimeoutError", False)


def test_without_a_python_error_sparks_own_reason_is_shown() -> None:
    failed = query_failed(
        RuntimeError(
            "[STREAM_FAILED] Query [id = 1] terminated with exception: Job aborted due to stage failure: Task 0 failed 4 "
            "times, most recent failure: executor 1 exited\n\tat org.apache.spark.scheduler.DAG.abort(DAG.scala:1)\n"
        )
    )
    assert str(failed) == (
        "Spark's query failed: Job aborted due to stage failure: Task 0 failed 4 times, most recent failure: executor 1 exited"
    )


def test_an_error_without_text_is_still_an_error() -> None:
    assert str(query_failed(RuntimeError())) == "Spark's query failed: no reason was given"
