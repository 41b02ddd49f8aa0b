"""Processors are closed: when their task fails, is made anew, or the application ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock import ContextualProcessor, Stores, StreamsBuilder
from penstock.broker import LocalBroker
from penstock.interpreter.guards import TaskFailed
from penstock.spark.tasks import host
from tests.conftest import TopicFactory
from tests.spark.application import Kafka, running, until
from tests.spark.in_process import InProcess

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SERDES: dict[str, Any] = {"key_serde": "string", "value_serde": "string"}
_closed: list[dict[str, str]] = []


class Keeper(ContextualProcessor[Any, Any, Any, Any]):
    """Keeps the last value of each key; when it is closed it shows what it has, and writes what nobody is to see."""

    def init(self, context: Any) -> None:
        super().init(context)
        self.store: Any = context.get_state_store("kept")

    def process(self, record: Any) -> None:
        if record.value == "bad":
            raise ValueError("bad")
        self.store.put(record.key, record.value)

    def close(self) -> None:
        with self.store.all() as entries:
            _closed.append(dict(entries))
        self.store.put("closed", "by close")
        raise RuntimeError("close is broken")


@pytest.fixture
def app(broker: LocalBroker, topic: TopicFactory, tmp_path: Path) -> tuple[InProcess, Kafka, str]:
    source = topic("in")
    builder = StreamsBuilder()
    builder.add_state_store(
        Stores.key_value_store_builder(Stores.persistent_key_value_store("kept"), "string", "string")
    )
    builder.stream(source, **SERDES).process(Keeper, "kept", name="keeper")
    made = InProcess(builder, tmp_path, bootstrap_servers=broker.bootstrap_servers, application_id=f"app-{source}")
    _closed.clear()  # the planner has asked a processor for its punctuators, and closed it
    return made, Kafka(broker.bootstrap_servers), source


@pytest.mark.broker
def test_after_a_failure_and_when_its_process_ends(
    app: tuple[InProcess, Kafka, str], caplog: pytest.LogCaptureFixture
) -> None:
    batches, kafka, source = app
    kafka.send(source, ("a", "1", 1))
    assert batches.batch()
    assert batches.metric("segment_bytes") > 0
    kafka.send(source, ("b", "bad", 2))
    with pytest.raises(TaskFailed, match="ValueError: bad"):
        batches.batch()
    assert _closed == [{"a": "1"}]
    assert "processor keeper failed to close" in caplog.text
    (one,) = host._hosts.values()
    one.forget()
    assert len(_closed) == 1


@pytest.mark.broker
def test_what_it_writes_when_it_is_closed_is_not_kept(app: tuple[InProcess, Kafka, str]) -> None:
    batches, kafka, source = app
    kafka.send(source, ("a", "1", 1))
    assert batches.batch()
    (one,) = host._hosts.values()
    one._state.forget()  # as if another process had run the batch: the next one makes the task anew
    kafka.send(source, ("b", "2", 2))
    assert batches.batch()
    assert _closed == [{"a": "1"}]
    host.close_all()
    assert _closed == [{"a": "1"}, {"a": "1", "b": "2"}]
    kafka.send(source, ("c", "3", 3))
    assert batches.batch()
    host.close_all()
    assert _closed[2] == {"a": "1", "b": "2", "c": "3"}


SLOW = """
import threading
from penstock.spark.tasks import server
server.close_all = threading.Event().wait
print("closing")
server.close_tasks(0.1)
"""


@pytest.mark.slow
def test_one_that_does_not_return_does_not_hold_the_process() -> None:
    ended = subprocess.run([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, timeout=120, check=True)
    assert ended.stdout == b"closing\n"


class Leaves(ContextualProcessor[Any, Any, Any, Any]):
    """Leaves a file behind."""

    def process(self, record: Any) -> None:
        self.file = Path(record.value)

    def close(self) -> None:
        self.file.write_text(str(self.context.task_id))


@pytest.mark.spark
@pytest.mark.broker
@pytest.mark.slow
def test_at_the_end_of_the_application(
    spark: SparkSession, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    kafka, source = Kafka(broker.bootstrap_servers), topic("in")
    left = tmp_path / "left"
    kafka.send(source, ("a", str(left), 1))
    builder = StreamsBuilder()
    builder.stream(source, **SERDES).process(Leaves)
    with running(builder, spark, kafka, tmp_path, application_id=f"app-{source}") as streams:
        until(lambda: streams.metrics["records-in-total"] >= 1, streams)
        assert not left.exists()
    assert left.read_text() == "0_0"
