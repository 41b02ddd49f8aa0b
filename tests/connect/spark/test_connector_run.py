"""The life of a connector, without Spark and Kafka."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from penstock.connect.errors import ConnectError, RetriableError
from penstock.connect.spark import connector_run
from penstock.connect.spark.client_settings import client_roles, with_converters
from penstock.connect.spark.connector_run import ConnectorRun
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.worker_session import SessionLost
from penstock.connect.validation import ConnectorKind
from penstock.jars import JavaError
from penstock.kafka.errors import BrokerUnreachable
from tests.connect.spark.conftest import States, wait_until

JOB = ConnectJob("run-of-a-test", "c", ConnectorKind.SINK, {}, ({}, {}), {})


class Endless:
    """Plans one batch after the other, and keeps what it is told."""

    idle_ms = 5

    def __init__(self) -> None:
        self.done_batches = 0
        self.failures: list[Exception] = []
        self.closed = False

    def next(self) -> list[dict[str, Any]]:
        if self.failures:
            raise self.failures.pop()
        return [{"task": 0, "batch": self.done_batches, "ranges": []}]

    def done(self, plans: Sequence[Any], reports: Sequence[Any]) -> None:
        self.done_batches += 1

    def topics(self, plans: Sequence[Any]) -> set[str]:
        return {"t"}

    def close(self) -> None:
        self.closed = True


class Batches:
    """Answers as told."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.hanging: threading.Event | None = None
        self.stopped = threading.Event()

    def run(self, plans: list[Any]) -> list[Any]:
        if self.hanging is not None:
            self.hanging.wait(30)
        answer = self.answers.pop() if self.answers else [{"task": 0, "records": 1, "topics": ["u"]}]
        if isinstance(answer, Exception):
            raise answer
        found: list[Any] = answer
        return found

    def stop(self) -> None:
        self.stopped.set()
        if self.hanging is not None:
            self.hanging.set()


def failed(task: int, *, transient: bool) -> list[Any]:
    return [{"task": task, "error": {"message": "it broke", "trace": "trace of it", "transient": transient}}]


Start = Callable[..., ConnectorRun]


@pytest.fixture
def start(states: States, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    monkeypatch.setattr(connector_run, "_FIRST_RETRY_SECONDS", 0.01)
    runs: list[ConnectorRun] = []

    def begin(planner: Endless, batches: Batches, *, paused: bool = False) -> ConnectorRun:
        run = ConnectorRun(JOB, planner=lambda: planner, batches=lambda: batches, listener=states, paused=paused)
        runs.append(run)
        run.start()
        return run

    yield begin
    for run in runs:
        run.stop(5)


def test_batches_run_and_topics_are_told(start: Start, states: States) -> None:
    planner, batches = Endless(), Batches()
    run = start(planner, batches)
    assert states.tasks == {("c", 0): ("RUNNING", None), ("c", 1): ("RUNNING", None)}
    wait_until(lambda: planner.done_batches > 3)
    assert states.topics == {"c": {"t", "u"}}
    run.stop(5)
    assert planner.closed
    assert batches.stopped.is_set()


def test_a_paused_connector_plans_nothing(start: Start, states: States) -> None:
    planner = Endless()
    run = start(planner, Batches(), paused=True)
    assert states.connectors["c"] == ("PAUSED", None)
    run.resume()
    states.wait_for_task("c", "RUNNING")
    wait_until(lambda: planner.done_batches)
    run.pause()
    states.wait_for_task("c", "PAUSED")
    done = planner.done_batches
    run.stop(5)
    assert planner.done_batches == done


@pytest.mark.parametrize("failure", [RetriableError("later"), BrokerUnreachable("localhost:1")])
def test_what_passes_by_itself_is_waited_for(start: Start, states: States, failure: Exception) -> None:
    planner, batches = Endless(), Batches()
    planner.failures = [failure, failure]
    batches.answers = [failed(0, transient=True), ConnectError("a worker died"), ConnectError("a worker died")]
    start(planner, batches)
    wait_until(lambda: planner.done_batches > 1)
    assert states.tasks["c", 0] == ("RUNNING", None)


def test_a_task_that_fails_ends_the_query_and_is_told_with_its_trace(start: Start, states: States) -> None:
    planner, batches = Endless(), Batches()
    batches.answers = [failed(1, transient=False)]
    start(planner, batches)
    assert states.wait_for_task("c", "FAILED", 1) == "trace of it"
    other = states.wait_for_task("c", "FAILED", 0)
    assert other is not None
    assert other.startswith("Task 1 failed, and with it the connector's query.")
    assert states.connectors["c"] == ("RUNNING", None)
    wait_until(lambda: planner.closed)
    assert planner.done_batches == 0


def test_batches_that_spark_cannot_run_fail_the_tasks_in_the_end(start: Start, states: States) -> None:
    batches = Batches()
    batches.answers = [ConnectError("Spark could not run a batch")] * 5
    start(Endless(), batches)
    trace = states.wait_for_task("c", "FAILED")
    assert trace is not None
    assert "Spark could not run a batch" in trace


def test_a_lost_session_is_left_told_and_followed_by_another(states: States, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connector_run, "_FIRST_RETRY_SECONDS", 0.3)
    planner, first, second = Endless(), Batches(), Batches()
    first.answers = [SessionLost()]
    sessions = [first, second]
    run = ConnectorRun(JOB, planner=lambda: planner, batches=lambda: sessions.pop(0), listener=states)
    run.start()
    told = states.wait_for_task("c", "RESTARTING")
    assert told is not None
    assert "Spark's JVM died; the connector goes on in a new one" in told
    assert told.endswith("Attempt 1, in 0.3 s.")
    states.wait_for_task("c", "RUNNING")
    wait_until(lambda: planner.done_batches > 1)
    assert first.stopped.is_set()
    run.stop(5)


def test_a_session_that_cannot_be_replaced_fails_the_tasks_in_the_end(
    states: States, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connector_run, "_FIRST_RETRY_SECONDS", 0.01)
    lost = Batches()
    lost.answers = [SessionLost()]
    tries: list[int] = []

    def batches() -> Batches:
        tries.append(1)
        if len(tries) > 1:
            raise JavaError("Spark's JVM did not start: no memory")
        return lost

    run = ConnectorRun(JOB, planner=Endless, batches=batches, listener=states)
    run.start()
    trace = states.wait_for_task("c", "FAILED")
    assert trace is not None
    assert "no memory" in trace
    assert len(tries) == 4
    run.stop(5)


def test_a_planner_that_fails_fails_all_tasks(start: Start, states: States) -> None:
    planner = Endless()
    planner.failures = [ConnectError("the topic is gone")]
    start(planner, Batches())
    for task in (0, 1):
        trace = states.wait_for_task("c", "FAILED", task)
        assert trace is not None
        assert "the topic is gone" in trace


def test_a_batch_that_hangs_is_interrupted(start: Start, states: States) -> None:
    batches = Batches()
    batches.hanging = threading.Event()
    run = start(Endless(), batches)
    run.stop(0.05)
    assert batches.stopped.is_set()
    assert states.tasks["c", 0][0] == "RUNNING"  # ending it is no failure


def test_client_settings_are_composed_as_kafka_connect_does() -> None:
    worker = {
        "bootstrap.servers": "b:1",
        "security.protocol": "SSL",
        "consumer.max.partition.fetch.bytes": "7",
        "group.id": "workers",
        "key.converter": "x",
    }
    roles = client_roles(worker, {"consumer.override.isolation.level": "read_uncommitted"})
    expected = {"bootstrap.servers": "b:1", "max.partition.fetch.bytes": "7", "isolation.level": "read_uncommitted"}
    assert roles["consumer"] == expected
    assert roles["producer"] == {"bootstrap.servers": "b:1"}
    assert roles["admin"] == {"bootstrap.servers": "b:1", "security.protocol": "SSL"}


def test_a_connectors_converter_takes_nothing_from_the_workers() -> None:
    worker = {"value.converter": "JsonConverter", "value.converter.schemas.enable": "false"}
    assert with_converters(worker, {"name": "c"}) == {"name": "c", **worker}
    own = {"value.converter": "StringConverter"}
    assert with_converters(worker, own) == own
