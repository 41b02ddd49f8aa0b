"""Wall-clock punctuators that are scheduled while records are processed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import ContextualProcessor, Record, StreamsBuilder
from penstock.broker import LocalBroker
from penstock.spark.planner import Planner
from penstock.spark.tasks import host
from penstock.spark.ticks import TickNote, Ticks
from tests.conftest import TopicFactory
from tests.spark.application import Kafka, until
from tests.spark.fake_kafka import FakeKafka, make_job
from tests.spark.in_process import InProcess

SERDES: dict[str, Any] = {"key_serde": "string", "value_serde": "string"}


class Beats(ContextualProcessor[Any, Any, Any, Any]):
    """Beats from its first record on, until it is told to end."""

    beat: Any = None

    def process(self, record: Any) -> None:
        if record.value == "end":
            self.beat.cancel()
        elif self.beat is None:
            self.beat = self.context.schedule(1, "wall", lambda now: self.context.forward(Record("beat", "x", now)))


def topology(source: str = "a", target: str = "beats") -> StreamsBuilder:
    builder = StreamsBuilder()
    builder.stream(source, **SERDES).process(Beats).to(target, **SERDES)
    return builder


def test_the_planner_learns_from_tasks(tmp_path: Path) -> None:
    kafka = FakeKafka()
    kafka.add("a", range(3))
    job = make_job(topology(), {"a": 2}, tmp_path)
    (tmp_path / "ticks" / "of an earlier run").mkdir(parents=True)
    ticks = Ticks(job)
    assert not (tmp_path / "ticks" / "of an earlier run").exists()
    first, second = TickNote(job, "0_0"), TickNote(job, "0_1")
    assert not ticks.is_due(0, 0, 10_000)
    first.begin([])
    first.tell([500, 700])
    second.begin([400])
    second.tell([400, 600])  # no shorter than what was known from init
    assert not ticks.is_due(0, 10_000, 12_000)  # no batch, no news
    assert ticks.is_due(1, 11_500, 12_000)
    assert not ticks.is_due(1, 11_501, 12_000)
    second.tell([300])
    assert ticks.is_due(2, 12_700, 13_000)
    first.tell([])
    second.tell([400])
    assert not ticks.is_due(3, 0, 14_000)
    assert Planner(job, kafka, kafka)._ticks.is_due(0, 0, 1) is False


def test_a_checkpoint_that_cannot_be_written_fails_no_batch(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    job = make_job(topology(), {"a": 1}, tmp_path)
    (tmp_path / "ticks").write_text("not a folder")
    note = TickNote(job, "0_0")
    note.begin([])
    note.tell([500])
    assert "task 0_0 cannot say that it has punctuators each 500 ms" in caplog.text


@pytest.mark.broker
def test_they_are_called_without_records(broker: LocalBroker, topic: TopicFactory, tmp_path: Path) -> None:
    kafka, source, target = Kafka(broker.bootstrap_servers), topic("in"), topic("out")
    app = InProcess(
        topology(source, target),
        tmp_path,
        bootstrap_servers=broker.bootstrap_servers,
        application_id=f"app-{source}",
    )
    assert not app.batch()  # nothing to read, nobody to call
    kafka.send(source, ("a", "begin", 1))
    until(app.batch)
    until(lambda: app.batch() and len(kafka.read(target)) >= 2)
    kafka.send(source, ("a", "end", 2))
    until(lambda: not app.batch() and not any((app.checkpoint / "ticks" / app.job.run).iterdir()))
    beats = len(kafka.read(target))
    kafka.send(source, ("a", "last", 3))
    until(app.batch)
    assert len(kafka.read(target)) == beats


class Reports(ContextualProcessor[Any, Any, Any, Any]):
    """Reports each ten minutes of stream time."""

    def init(self, context: Any) -> None:
        super().init(context)
        context.schedule("10m", "stream", lambda now: context.forward(Record("report", str(now), now)))

    def process(self, record: Any) -> None:
        pass


@pytest.mark.broker
def test_they_keep_their_rhythm_where_tasks_are_built_again(
    broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    kafka, source, target = Kafka(broker.bootstrap_servers), topic("in"), topic("out")
    builder = StreamsBuilder()
    builder.stream(source, **SERDES).process(Reports).to(target, **SERDES)
    app = InProcess(builder, tmp_path, bootstrap_servers=broker.bootstrap_servers, application_id=f"app-{source}")
    for timestamp in (1000, 2000, 600_500, 601_000, 1_200_500):
        kafka.send(source, ("a", "x", timestamp))
        until(app.batch)
        host.close_all()  # the process of a slot ends when nothing happens for five minutes
    assert [m.value() for m in kafka.read(target)] == [b"1000", b"600500", b"1200500"]
