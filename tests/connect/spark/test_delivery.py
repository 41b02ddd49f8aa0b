"""What must hold whatever goes wrong: with real Kafka and Spark."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from penstock.broker import LocalBroker
from penstock.connect.api import OffsetReader, SinkConnector, SinkTask, SourceConnector, SourceRange, SourceTask
from penstock.connect.data import STRING_SCHEMA, SinkRecord, SourceRecord
from penstock.connect.errors import RetriableError
from penstock.connect.runner import ConnectorRunner
from penstock.connect.spark.source_offsets import FILE
from penstock.kafka.admin import Admin
from penstock.kafka.errors import ProducerFenced
from penstock.kafka.transactions import TransactionalProducer
from tests.connect.spark.conftest import RunnerFactory, States, wait_until
from tests.connect.spark.test_runner import consume, lines, produce, sink, source

pytestmark = [pytest.mark.spark, pytest.mark.broker]

Topics = Callable[..., str]


class CountingTask(SourceTask):
    """Numbers up to a limit, in batches of ten; notes each read, and fails the first time if told to."""

    idle_ms = 50

    def plan(self, offsets: OffsetReader) -> Sequence[SourceRange]:
        part = {"part": self.config["part"]}
        known = offsets.offset(part)
        done = 0 if known is None else known["n"]
        end = min(done + 10, int(self.config["limit"]))
        return [] if done == end else [SourceRange(part, known, {"n": end})]

    def read(self, wanted: SourceRange) -> Iterator[SourceRecord]:
        begin = 0 if wanted.start is None else wanted.start["n"]
        part = wanted.partition["part"]
        for n in range(begin, wanted.end["n"]):
            if n == 15:
                self._stumble(part)
            yield SourceRecord(self.config["topic"], None, None, None, STRING_SCHEMA, f"{part}-{n}")

    def _stumble(self, part: str) -> None:
        mark = Path(self.config["folder"]) / f"stumbled-{part}"
        if self.config.get("stumbles") == part and not mark.exists():
            mark.touch()
            raise RetriableError("the first time is never good")


class Counting(SourceConnector):
    TASK = CountingTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{**self.config, "part": part} for part in "ab"[:max_tasks]]


class RefusingTask(SinkTask):
    """Notes records; asks for some again, reports others."""

    def put(self, records: list[SinkRecord]) -> None:
        folder = Path(self.config["folder"])
        if any(record.value == "again" for record in records) and not (folder / "asked").exists():
            (folder / "asked").touch()
            raise RetriableError("not yet")
        with (folder / "put").open("a") as file:
            for record in records:
                if record.value == "bad":
                    self.context.report(record, ValueError("bad is bad"))
                else:
                    file.write(f"{record.value}\n")


class Refusing(SinkConnector):
    TASK = RefusingTask


def test_a_batch_of_which_one_task_failed_is_not_written_twice_by_the_other(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name = topic()
    config = {
        "name": "counting",
        "connector.class": f"{__name__}:Counting",
        "topic": name,
        "limit": "40",
        "tasks.max": "2",
        "folder": str(tmp_path),
        "stumbles": "b",
    }
    runner.start("counting", config, listener=states)
    wanted = sorted(f"{part}-{n}" for part in "ab" for n in range(40))
    wait_until(lambda: len(consume(broker, name)) >= 80)
    runner.stop("counting")
    assert sorted(m.value().decode() for m in consume(broker, name)) == wanted
    assert (tmp_path / "stumbled-b").exists()
    offsets = {e["partition"]["part"]: e["offset"]["n"] for e in runner.offsets("counting", config)}
    assert offsets == {"a": 40, "b": 40}


def test_a_batch_that_was_committed_before_a_crash_is_not_written_again(
    make_runner: RunnerFactory, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name, given = topic(), tmp_path / "in.txt"
    given.write_text("one\ntwo\n")
    runner = make_runner()
    runner.start("in", source("in", given, name), listener=states)
    wait_until(lambda: len(consume(broker, name)) == 2)
    runner.stop("in")
    # As a worker leaves it that was killed between the commit in Kafka and its own note of it.
    (notes,) = tmp_path.glob(f"state/**/{FILE}")
    state = json.loads(notes.read_bytes())
    (entry,) = state["offsets"]
    plan = {"task": 0, "batch": 0, "ranges": [[entry["partition"], None, entry["offset"]]]}
    notes.write_text(json.dumps({**state, "batch": -1, "offsets": [], "planned": [plan]}))
    with given.open("a") as file:
        file.write("three\n")
    runner.start("in", source("in", given, name), listener=states)
    wait_until(lambda: len(consume(broker, name)) >= 3)
    assert [m.value() for m in consume(broker, name)] == [b"one", b"two", b"three"]


def test_shared_offsets_are_written_with_the_records(
    make_runner: RunnerFactory, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name, offsets, given = topic(), topic("offsets", config={"cleanup.policy": "compact"}), tmp_path / "in.txt"
    told: list[Any] = []
    stored: list[Any] = []
    given.write_text("one\ntwo\n")
    runner = make_runner(
        offset_storage_topic=offsets,
        publish_offsets=lambda name, entries: told.append(entries),
        stored_offsets=lambda name: stored,
    )
    runner.start("in", source("in", given, name), listener=states)
    wait_until(lambda: len(consume(broker, name)) == 2)
    runner.stop("in")
    (record,) = consume(broker, offsets)
    assert json.loads(record.key()) == ["in", {"filename": str(given)}]
    assert b" " not in record.key()
    assert json.loads(record.value())["position"] == 8
    assert told == []
    # Another worker takes over: it knows nothing but what the topic says.
    stored.append({"partition": json.loads(record.key())[1], "offset": json.loads(record.value())})
    with given.open("a") as file:
        file.write("three\n")
    runner.start("in", source("in", given, name), listener=states)
    wait_until(lambda: len(consume(broker, name)) >= 3)
    assert [m.value() for m in consume(broker, name)] == [b"one", b"two", b"three"]
    runner.stop("in")
    runner.reset_offsets("in", source("in", given, name))
    assert told == [[{"partition": {"filename": str(given)}, "offset": None}]]


def test_a_worker_that_was_cut_off_cannot_commit_what_its_successor_reads_again(
    make_runner: RunnerFactory, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name, offsets, given = topic(), topic("offsets", config={"cleanup.policy": "compact"}), tmp_path / "in.txt"
    given.write_text("one\n")
    zombie = TransactionalProducer({"bootstrap.servers": broker.bootstrap_servers}, "connect-source-cut-off-0")
    zombie.begin()
    zombie.produce(name, b"one")
    too_late: list[Exception] = []

    def stored(connector: str) -> list[Any]:
        # The last moment for the zombie: its successor has not read the offsets yet.
        try:
            zombie.commit()
        except ProducerFenced as error:
            too_late.append(error)
        return []

    runner = make_runner(offset_storage_topic=offsets, stored_offsets=stored)
    runner.start("cut-off", source("cut-off", given, name), listener=states)
    wait_until(lambda: consume(broker, offsets))
    assert [m.value() for m in consume(broker, name)] == [b"one"]
    assert too_late
    zombie.close()


def test_at_least_once_works_without_transactions(
    make_runner: RunnerFactory, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name, given = topic(), tmp_path / "in.txt"
    given.write_text("one\n")
    runner = make_runner(exactly_once_source_support="disabled")
    runner.start("in", source("in", given, name), listener=states)
    wait_until(lambda: [m.value() for m in consume(broker, name)] == [b"one"])


def test_a_sink_may_ask_for_records_again_and_report_bad_ones(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name = topic()
    produce(broker, name, "a", "again", "bad", "b")
    config = {
        "name": "refusing",
        "connector.class": f"{__name__}:Refusing",
        "topics": name,
        "folder": str(tmp_path),
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"{name}-letters",
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    runner.start("refusing", config, listener=states)
    wait_until(lambda: runner.offsets("refusing", config) and lines(tmp_path / "put") == ["a", "again", "b"])
    (letter,) = consume(broker, f"{name}-letters")
    headers = dict(letter.headers())
    assert letter.value() == b"bad"
    assert headers["__connect.errors.stage"] == b"TASK_PUT"
    assert headers["__connect.errors.exception.message"] == b"bad is bad"


def test_partitions_are_divided_between_the_tasks_of_a_sink(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name = topic(partitions=4)
    produce(broker, name, *(f"value {i}" for i in range(200)))
    config = {
        "name": "two",
        "connector.class": f"{__name__}:Refusing",
        "topics": name,
        "tasks.max": "2",
        "folder": str(tmp_path),
    }
    runner.start("two", config, listener=states)
    wait_until(lambda: len(lines(tmp_path / "put")) == 200)
    assert sorted(lines(tmp_path / "put")) == sorted(f"value {i}" for i in range(200))
    assert len(runner.task_configs("two")) == 2
    assert states.tasks["two", 1] == ("RUNNING", None)


def test_a_topic_that_is_deleted_under_a_sink_fails_it_with_a_reason(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name, written = topic(), tmp_path / "out.txt"
    config = sink("deleted", written, name)
    produce(broker, name, "a")
    runner.start("deleted", config, listener=states)
    wait_until(lambda: lines(written) == ["a"])
    Admin({"bootstrap.servers": broker.bootstrap_servers}).delete_topics([name])
    trace = states.wait_for_task("deleted", "FAILED")
    assert trace is not None
    assert f"The topic {name}, which connector deleted has read to {{0: 1}}" in trace


def test_a_source_makes_topics_as_it_is_told(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name, given = f"{topic()}-made", tmp_path / "in.txt"
    given.write_text("one\n")
    creation = {
        "topic.creation.default.partitions": "3",
        "topic.creation.default.replication.factor": "1",
        "topic.creation.default.cleanup.policy": "compact,delete",
    }
    runner.start("maker", source("maker", given, name, **creation), listener=states)
    admin = Admin({"bootstrap.servers": broker.bootstrap_servers})
    wait_until(lambda: name in admin.topics())
    found = admin.describe_topic(name)
    assert len(found.partitions) == 3
    assert found.configs["cleanup.policy"] == "compact,delete"


def test_a_connector_that_cannot_reach_kafka_waits_and_can_be_stopped(
    spark: Any, states: States, tmp_path: Path
) -> None:
    worker = {"bootstrap.servers": "localhost:1", "key.converter": "String", "value.converter": "String"}
    runner = ConnectorRunner(worker, spark=spark, state_dir=tmp_path)
    runner.start("lonely", sink("lonely", tmp_path / "out.txt", "t"), listener=states)
    assert states.tasks["lonely", 0] == ("RUNNING", None)
    runner.stop("lonely")
    assert states.connectors["lonely"] == ("STOPPED", None)
    runner.close()
