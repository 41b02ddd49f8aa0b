"""What a failure of the query does to an application."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import MissingSourceTopicError
from penstock.runtime.states import StreamsState as State
from penstock.runtime.uncaught import StreamThreadExceptionResponse as Response
from tests.runtime.scripted_host import ABatch, End, Failed, ScriptedStreams


def test_a_failure_ends_the_application_and_is_raised(app: ScriptedStreams) -> None:
    query = app.started()
    query.happen(Failed("ValueError: x (node n, offset 2)"))
    with pytest.raises(Failed, match="node n, offset 2"):
        app.wait("10s")
    assert app.states == ["REBALANCING", "RUNNING", "PENDING_ERROR", "ERROR"]
    assert query.stopped.is_set()
    assert app.host.closed == 1


@pytest.mark.parametrize("answer", [Response.SHUTDOWN_CLIENT, "SHUTDOWN_APPLICATION", None, "REPLACE"])
def test_an_answer_that_is_not_replace_ends_it(app: ScriptedStreams, answer: Any) -> None:
    asked: list[BaseException] = []

    def handler(error: BaseException) -> Any:
        asked.append(error)
        return answer

    app.set_uncaught_exception_handler(handler)
    app.started().happen(failure := Failed("no"))
    with pytest.raises(Failed):
        app.wait("10s")
    assert asked == [failure]
    assert app.state is State.ERROR


def test_a_handler_that_fails_ends_it_with_the_first_error(app: ScriptedStreams) -> None:
    def handler(error: BaseException) -> Any:
        raise RuntimeError("second")

    app.set_uncaught_exception_handler(handler)
    app.started().happen(Failed("first"))
    with pytest.raises(Failed, match="first"):
        app.wait("10s")


def test_replace_thread_starts_the_query_again(app: ScriptedStreams) -> None:
    app.set_uncaught_exception_handler(lambda error: Response.REPLACE_THREAD)
    first = app.started()
    first.happen(Failed("once"))
    second = app.host.next_query()
    app.reached(State.RUNNING)
    assert first.stopped.is_set()
    assert not second.stopped.is_set()
    assert app.metrics["restarts-total"] == 1
    app.close()
    assert app.states == ["REBALANCING", "RUNNING", "REBALANCING", "RUNNING", "PENDING_SHUTDOWN", "NOT_RUNNING"]


def test_replace_thread_has_an_end_if_nothing_ever_succeeds() -> None:
    app = ScriptedStreams({"penstock.restart.attempts": 3})
    app.set_uncaught_exception_handler(lambda error: "REPLACE_THREAD")
    app.started().happen(Failed("again"))
    for _ in range(3):
        app.host.next_query().happen(Failed("again"))
    with pytest.raises(Failed, match="again"):
        app.wait("10s")
    assert app.host.queries.empty()


def test_a_batch_that_succeeds_gives_all_attempts_back() -> None:
    app = ScriptedStreams({"penstock.restart.attempts": 1})
    app.set_uncaught_exception_handler(lambda error: "REPLACE_THREAD")
    query = app.started()
    for number in range(5):
        query.happen(ABatch(number))
        query.happen(Failed("again"))
        query = app.host.next_query()
    app.reached(State.RUNNING)
    assert app.close()


def test_a_transient_failure_starts_the_query_again_without_asking(app: ScriptedStreams) -> None:
    asked: list[BaseException] = []
    app.set_uncaught_exception_handler(asked.append)
    query = app.started()
    app.host.refusals = [Failed("No Kafka broker answers", kind="BrokerUnreachable", transient=True)] * 3
    query.happen(Failed("No Kafka broker answers", kind="BrokerUnreachable", transient=True))
    app.host.next_query()
    app.reached(State.RUNNING)
    assert asked == []
    assert app.host.refusals == []


def test_a_transient_failure_that_stays_ends_it_after_the_timeout() -> None:
    app = ScriptedStreams({"task.timeout.ms": 0})
    app.started().happen(Failed("No Kafka broker answers", transient=True))
    with pytest.raises(Failed, match="No Kafka broker"):
        app.wait("10s")


def test_a_restart_that_finds_the_topic_gone_ends_it(app: ScriptedStreams) -> None:
    query = app.started()
    app.host.refusals = [MissingSourceTopicError("the topic orders does not exist")]
    query.happen(Failed("away", transient=True))
    with pytest.raises(MissingSourceTopicError):
        app.wait("10s")


def test_a_deleted_topic_of_a_pattern_is_no_failure(app: ScriptedStreams) -> None:
    query = app.started()
    app.host.changed.set()
    query.happen(Failed("Topic 'a' does not exist", kind="TopicMissing"))
    app.host.next_query()
    app.reached(State.RUNNING)


def test_a_query_stopped_by_sparks_own_means_ends_the_application(app: ScriptedStreams) -> None:
    app.started().happen(End())
    assert app.wait("10s")
    assert app.state is State.NOT_RUNNING
    assert app.host.closed == 1
