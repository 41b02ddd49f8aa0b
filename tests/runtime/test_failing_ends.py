"""Ends that fail themselves, as when Spark's JVM is gone: the application ends all the same, and says what mattered."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder
from penstock.errors import MissingSourceTopicError
from penstock.kafka.admin import TopicSummary
from penstock.runtime import launch, spark_host
from penstock.runtime.application import KafkaStreams
from penstock.runtime.presence import owner
from penstock.runtime.settings import Settings
from penstock.runtime.states import StreamsState as State
from penstock.spark import warm_up
from tests.runtime.scripted_host import End, Failed, ScriptedStreams

# What a call into a JVM that is gone raises: no error of py4j's.
REFUSED = ConnectionRefusedError(111, "Connection refused")


@pytest.fixture
def app() -> ScriptedStreams:
    made = ScriptedStreams()
    made.host.close_fails = REFUSED
    return made


def test_close_ends_though_nothing_can_be_given_back(app: ScriptedStreams, caplog: pytest.LogCaptureFixture) -> None:
    app.started().stop_fails = REFUSED
    assert app.close("10s")
    assert app.state is State.NOT_RUNNING
    assert caplog.messages[-2:] == [
        "app: the query could not be stopped: [Errno 111] Connection refused",
        "app: not everything could be cleaned up: [Errno 111] Connection refused",
    ]
    assert not app._supervisor.thread.is_alive()  # type: ignore[union-attr]


def test_the_metrics_endpoint_is_closed_though_the_host_is_not() -> None:
    app = ScriptedStreams({"penstock.metrics.port": 0})
    app.host.close_fails = REFUSED
    app.start()
    assert app.close("10s")
    assert app.metrics_port is None


def test_a_start_that_fails_raises_its_own_failure(app: ScriptedStreams) -> None:
    app.host.refusals = [RuntimeError("the JVM died")]
    with pytest.raises(RuntimeError, match="the JVM died"):
        app.start()
    assert app.state is State.ERROR
    assert app.close("10s")


def test_run_returns_with_the_failure_of_its_start(app: ScriptedStreams) -> None:
    app.host.refusals = [RuntimeError("the JVM died")]
    raised: list[BaseException] = []

    def run() -> None:
        try:
            app.run()
        except RuntimeError as error:
            raised.append(error)

    running = threading.Thread(target=run, daemon=True)
    running.start()
    running.join(10)
    assert [str(error) for error in raised] == ["the JVM died"]


def test_a_query_that_fails_and_cannot_be_stopped_gives_everything_back(app: ScriptedStreams) -> None:
    query = app.started()
    query.stop_fails = REFUSED
    query.happen(Failed("the connection to Spark's driver was lost", kind="ConnectionLost"))
    with pytest.raises(Failed, match="driver was lost"):
        app.wait("10s")
    assert app.host.closed == 1
    assert app.states[-1] == "ERROR"


def test_a_query_that_somebody_stopped_ends_the_application(app: ScriptedStreams) -> None:
    app.started().happen(End())
    assert app.wait("10s")
    assert app.state is State.NOT_RUNNING


class _LostWarmUp:
    def wait(self, progress: Any) -> None: ...

    def close(self) -> None:
        raise REFUSED


def test_the_claim_on_the_checkpoint_ends_with_the_session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(warm_up, "start_warm_up", lambda settings, existing: _LostWarmUp())
    monkeypatch.setattr(launch, "require_topics", lambda topology, settings: None)
    builder = StreamsBuilder()
    builder.stream("orders").to("copies")
    settings = Settings(application_id="app", bootstrap_servers="nowhere:1")
    host = spark_host.SparkHost(builder.build(), settings, checkpoint=str(tmp_path), local=str(tmp_path), spark=None)
    host.prepare(None)
    assert owner(str(tmp_path)) is not None
    with pytest.raises(ConnectionRefusedError):
        host.close()
    assert owner(str(tmp_path)) is None


def test_an_application_can_be_closed_and_started_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(warm_up, "start_warm_up", lambda settings, existing: _LostWarmUp())
    monkeypatch.setattr(launch, "require_topics", lambda topology, settings: None)
    for _ in range(2):
        builder = StreamsBuilder()
        builder.stream("orders").to("copies")
        app = KafkaStreams(builder, application_id="app", bootstrap_servers="nowhere:1", state_dir=str(tmp_path))
        app._host.start = lambda paused: (_ for _ in ()).throw(REFUSED)  # type: ignore[method-assign,misc]
        with pytest.raises(ConnectionRefusedError):
            app.start()
        assert app.close("10s")


def test_nobody_waits_for_spark_to_hear_that_kafka_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class NeverReady:
        closed = False

        def wait(self, progress: Any) -> None:
            raise AssertionError("Spark was waited for")

        def close(self) -> None:
            self.closed = True

    class Kafka:
        def __init__(self, settings: Any) -> None: ...

        def topics(self) -> dict[str, TopicSummary]:
            return {"orders": TopicSummary("orders", 1, 1, False)}

    spark = NeverReady()
    monkeypatch.setattr(warm_up, "start_warm_up", lambda settings, existing: spark)
    monkeypatch.setattr(launch, "Admin", Kafka)
    builder = StreamsBuilder()
    builder.stream("orders").to("copies")
    app = KafkaStreams(builder, application_id="app", bootstrap_servers="nowhere:1", state_dir=str(tmp_path))
    with pytest.raises(MissingSourceTopicError, match=r"the topic copies, written by .* does not exist"):
        app.start()
    assert spark.closed
