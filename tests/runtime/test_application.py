from __future__ import annotations

import logging
import os
import signal
import threading
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from penstock import KafkaStreams, StreamsBuilder
from penstock.errors import ConfigError, MissingSourceTopicError, StreamsError, TopologyError, UnsupportedOperation
from penstock.runtime.states import StreamsState as State
from tests.runtime.scripted_host import ABatch, End, Failed, ScriptedStreams


def test_from_start_to_close(app: ScriptedStreams) -> None:
    assert app.state is State.CREATED
    query = app.started()
    assert app.states[-1] == "RUNNING"
    assert app.close()
    assert query.stopped.is_set()
    assert app.states == ["REBALANCING", "RUNNING", "PENDING_SHUTDOWN", "NOT_RUNNING"]
    assert app.host.closed == 1


def test_closing_twice_and_waiting_after_close_are_fine(app: ScriptedStreams) -> None:
    app.started()
    assert app.close()
    assert app.close()
    assert app.wait()
    assert app.host.closed == 1


def test_close_before_start(app: ScriptedStreams) -> None:
    assert app.close()
    assert app.states == ["PENDING_SHUTDOWN", "NOT_RUNNING"]
    with pytest.raises(StreamsError) as raised:
        app.start()
    assert str(raised.value) == (
        "the application app cannot be started: it is NOT_RUNNING. Make a new KafkaStreams object."
    )


def test_starting_twice_is_refused(app: ScriptedStreams) -> None:
    app.started()
    with pytest.raises(StreamsError, match=r"cannot be started: it is RUNNING. Call start\(\) once."):
        app.start()
    assert app.state is State.RUNNING


def test_close_with_a_timeout_says_whether_it_was_done(app: ScriptedStreams) -> None:
    query = app.started()
    query.may_stop.clear()
    assert not app.close("1ms")
    assert app.states[-1] == "PENDING_SHUTDOWN"
    assert not app.close(0)
    query.may_stop.set()
    assert app.close("10s")
    assert app.state is State.NOT_RUNNING


def test_close_while_spark_starts(app: ScriptedStreams) -> None:
    app.host.may_prepare.clear()
    starting = threading.Thread(target=app.start)
    starting.start()
    app.host.prepared.wait(10)
    assert app.close("10s")
    app.host.may_prepare.set()
    starting.join(10)
    assert app.host.queries.empty()
    assert app.states == ["REBALANCING", "PENDING_SHUTDOWN", "NOT_RUNNING"]


def test_it_is_a_context_manager() -> None:
    with ScriptedStreams() as app:
        assert app.states[-1] == "RUNNING"
    assert app.state is State.NOT_RUNNING


def test_a_start_that_fails_raises_and_ends_in_error(app: ScriptedStreams) -> None:
    app.host.refusals = [MissingSourceTopicError("the topic orders does not exist")]
    with pytest.raises(MissingSourceTopicError):
        app.start()
    assert app.states == ["REBALANCING", "PENDING_ERROR", "ERROR"]
    assert app.host.closed == 1
    assert app.close()
    with pytest.raises(MissingSourceTopicError):
        app.wait()


def test_listeners_and_handlers_are_set_before_start_only(app: ScriptedStreams) -> None:
    app.started()
    with pytest.raises(StreamsError) as raised:
        app.set_state_listener(lambda new, old: None)
    assert str(raised.value) == (
        "a state listener can only be set before start(); the application app is RUNNING. "
        "Set it right after the KafkaStreams object is made."
    )
    with pytest.raises(StreamsError, match="an uncaught exception handler can only be set before start"):
        app.set_uncaught_exception_handler(print)


def test_a_restore_listener_is_checked_and_handed_on(app: ScriptedStreams) -> None:
    class Listener:
        def on_restore_start(self, partition: Any, store: str, start: int, end: int) -> None: ...
        def on_batch_restored(self, partition: Any, store: str, end: int, restored: int) -> None: ...
        def on_restore_end(self, partition: Any, store: str, restored: int) -> None: ...

    listener = Listener()
    app.set_state_restore_listener(listener)
    assert app.host.restore_listener is listener
    with pytest.raises(ConfigError, match="has no on_restore_start") as raised:
        app.set_state_restore_listener(print)
    assert raised.value.hint == (
        "Give an object with the methods on_restore_start, on_batch_restored, on_restore_end; a subclass of "
        "penstock.spark.task_restore.RestoreListener has them all."
    )
    app.start()
    with pytest.raises(StreamsError, match="a state restore listener can only be set before start"):
        app.set_state_restore_listener(listener)


def test_a_listener_that_fails_does_not_hurt(app: ScriptedStreams, caplog: pytest.LogCaptureFixture) -> None:
    def listener(new: State, old: State) -> None:
        raise RuntimeError("mine")

    app.set_state_listener(listener)
    app.started()
    assert app.state is State.RUNNING
    assert "the state listener of app failed" in caplog.text


def test_a_listener_may_close(app: ScriptedStreams) -> None:
    seen: list[tuple[str, str]] = []

    def listener(new: State, old: State) -> None:
        seen.append((new.value, old.value))
        if new is State.REBALANCING and len(seen) > 2:
            app.close()

    app.set_state_listener(listener)
    app.started().happen(Failed("away", transient=True))
    assert app.wait("10s")
    assert seen == [
        ("REBALANCING", "CREATED"),
        ("RUNNING", "REBALANCING"),
        ("REBALANCING", "RUNNING"),
        ("PENDING_SHUTDOWN", "REBALANCING"),
        ("NOT_RUNNING", "PENDING_SHUTDOWN"),
    ]


# ---------------------------------------------------------------------- topics, pause, clean-up


def test_new_partitions_restart_the_query_gracefully() -> None:
    with ScriptedStreams({"penstock.topics.check.ms": 1}) as app:
        first = app.host.next_query()
        app.host.changed.set()
        app.host.next_query()
        app.reached(State.RUNNING)
        assert first.stopped.is_set()
    assert app.states[:4] == ["REBALANCING", "RUNNING", "REBALANCING", "RUNNING"]


def test_pause_and_resume(app: ScriptedStreams) -> None:
    query = app.started()
    app.pause()
    assert (app.is_paused, query.paused, app.state) == (True, True, State.RUNNING)
    app.resume()
    assert (app.is_paused, query.paused) == (False, False)
    app.close()
    with pytest.raises(
        StreamsError, match=r"pause\(\) does nothing: the application app is NOT_RUNNING\. It has ended, "
    ):
        app.pause()


def test_pause_before_start_and_over_a_restart(app: ScriptedStreams) -> None:
    app.pause()
    query = app.started()
    assert query.paused
    query.happen(Failed("away", transient=True))
    assert app.host.next_query().paused
    assert app.is_paused


def test_clean_up_removes_local_state_of_this_application_only(tmp_path: Path) -> None:
    own, other = tmp_path / "app-0123456789ab", tmp_path / "app-eu-0123456789ab"
    checkpoint = tmp_path / "checkpoints" / "app"
    for folder in (own, other, checkpoint):
        (folder / "0_0").mkdir(parents=True)
    app = ScriptedStreams(state_dir=tmp_path)
    app.start()
    with pytest.raises(StreamsError) as raised:
        app.clean_up()
    assert str(raised.value) == (
        "local state of app cannot be removed while it is RUNNING. Close the application first."
    )
    app.close()
    app.clean_up()
    assert [own.exists(), other.exists(), checkpoint.exists()] == [False, True, True]


def test_where_things_are(tmp_path: Path) -> None:
    app = ScriptedStreams(state_dir=str(tmp_path))
    assert app.checkpoint == f"{tmp_path}/checkpoints/app"
    assert ScriptedStreams(penstock_checkpoint="s3://bucket/app").checkpoint == "s3://bucket/app"


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("add_stream_thread", "spark.master"),
        ("remove_stream_thread", "spark.master"),
        ("set_standby_update_listener", "checkpoint"),
    ],
)
def test_what_is_not_offered_names_what_to_use(app: ScriptedStreams, call: str, hint: str) -> None:
    method = getattr(app, call)
    with pytest.raises(UnsupportedOperation, match=hint):
        method(*([None] if call.startswith("set") else []))


@pytest.mark.parametrize("given", [None, StreamsBuilder().stream("orders"), StreamsBuilder])
def test_what_is_no_topology_is_refused(given: Any) -> None:
    with pytest.raises(ConfigError) as raised:
        KafkaStreams(given, application_id="app", bootstrap_servers="nowhere:1")
    name = "None" if given is None else f"a {type(given).__name__}"
    assert str(raised.value) == (
        f"KafkaStreams was given {name} instead of a topology. Give the StreamsBuilder, or what its build() returns. A "
        "function that makes one has to be called and to return it."
    )


def test_required_settings_and_handlers_are_checked_when_it_is_made() -> None:
    with pytest.raises(ConfigError, match=r"the setting application.id is missing"):
        KafkaStreams(StreamsBuilder(), bootstrap_servers="x:1")
    with pytest.raises(ConfigError, match=r"processing.exception.handler is 'no.such', which cannot be imported"):
        ScriptedStreams(processing_exception_handler="no.such")


# ---------------------------------------------------------------------- run


def test_run_stops_cleanly_on_a_signal() -> None:
    app = ScriptedStreams()
    before = signal.getsignal(signal.SIGTERM)
    steps: list[str] = []

    def kill_when_running(new: State, old: State) -> None:
        if new is State.RUNNING:
            os.kill(os.getpid(), signal.SIGTERM)

    app.set_state_listener(kill_when_running)
    app.run(progress=steps.append)
    assert app.state is State.NOT_RUNNING
    assert steps == ["starting Spark", "stopping after the batch in hand, a second Ctrl-C ends it at once"]
    assert signal.getsignal(signal.SIGTERM) is before


def test_run_answers_ctrl_c_while_spark_starts() -> None:
    app = ScriptedStreams()
    app.host.may_prepare.clear()
    app.run(progress=lambda text: os.kill(os.getpid(), signal.SIGINT))
    app.host.may_prepare.set()
    assert app.state is State.NOT_RUNNING


def test_run_raises_the_failure() -> None:
    app = ScriptedStreams()

    def fail(new: State, old: State) -> None:
        if new is State.RUNNING:
            app.host.next_query().happen(Failed("no"))

    app.set_state_listener(fail)
    with pytest.raises(Failed, match="no"):
        app.run()


def test_run_raises_what_keeps_it_from_starting() -> None:
    app = ScriptedStreams()
    app.host.refusals = [MissingSourceTopicError("the topic orders does not exist")]
    with pytest.raises(MissingSourceTopicError):
        app.run()


def test_run_in_another_thread_than_the_main_one() -> None:
    app = ScriptedStreams()
    running = threading.Thread(target=app.run)
    running.start()
    app.reached(State.RUNNING)
    app.close()
    running.join(10)
    assert app.state is State.NOT_RUNNING


# ---------------------------------------------------------------------- metrics


def test_metrics_as_a_mapping_and_over_http() -> None:
    with ScriptedStreams({"penstock.metrics.port": 0}) as app:
        assert {"state": "RUNNING", "paused": False, "batches-total": 7}.items() <= dict(app.metrics).items()
        page = urlopen(f"http://127.0.0.1:{app.metrics_port}/metrics", timeout=10)
        assert page.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        text = page.read().decode()
        assert 'penstock_state{application="app",state="RUNNING"} 1\n' in text
        assert 'penstock_offset{application="app",topic="orders",partition="0"} 12\n' in text
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"http://127.0.0.1:{app.metrics_port}/", timeout=10)
        port = app.metrics_port
        second = ScriptedStreams({"penstock.metrics.port": port})
        with pytest.raises(ConfigError, match=rf"penstock.metrics.port={port} cannot be opened on 127.0.0.1"):
            second.start()
    assert app.metrics_port is None
    assert app.metrics["state"] == "NOT_RUNNING"


def test_batches_as_lines_of_json(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="penstock.batches"), ScriptedStreams(penstock_log_batches="json") as app:
        query = app.host.next_query()
        query.happen(ABatch(3))
        query.happen(End())
        app.wait("10s")
    assert [r.getMessage() for r in caplog.records if r.name == "penstock.batches"] == [
        '{"application": "app", "batch": 3}'
    ]


def test_a_topology_that_reads_nothing_is_refused() -> None:
    with pytest.raises(TopologyError, match=r"the topology reads no topic. Begin it with builder.stream"):
        KafkaStreams(StreamsBuilder(), application_id="app", bootstrap_servers="nowhere:1")


def test_the_status_is_told_while_the_query_starts_again() -> None:
    app, seen = ScriptedStreams(), []

    def status(application: Any) -> None:
        seen.append(application.state)
        if application.state is State.RUNNING and len(seen) > 1:
            os.kill(os.getpid(), signal.SIGTERM)
        elif len(seen) == 1:
            app._life.move(State.REBALANCING)
        else:
            app._life.move(State.RUNNING)

    app.run(status=status)
    assert seen == [State.RUNNING, State.REBALANCING, State.RUNNING]
