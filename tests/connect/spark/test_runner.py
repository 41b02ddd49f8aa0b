from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.broker import LocalBroker
from penstock.connect.errors import ConfigError, ConnectError, NotFoundError
from penstock.connect.runner import ConnectorRunner
from penstock.kafka.admin import Admin
from penstock.kafka.clients import open_range_consumer
from penstock.kafka.producing import RecordProducer
from penstock.kafka.ranges import read_range
from tests.connect.spark.conftest import RunnerFactory, States, wait_until
from tests.spark.application import wait_until_settled

pytestmark = [pytest.mark.spark, pytest.mark.broker]

SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
Topics = Callable[..., str]


def source(name: str, file: Path, topic: str, **more: str) -> dict[str, str]:
    return {"name": name, "connector.class": SOURCE, "file": str(file), "topic": topic, **more}


def sink(name: str, file: Path, topic: str, **more: str) -> dict[str, str]:
    given = {key.replace("_", "."): value for key, value in more.items()}
    return {"name": name, "connector.class": SINK, "file": str(file), "topics": topic, **given}


def produce(broker: LocalBroker, topic: str, *values: str) -> None:
    producer = RecordProducer({"bootstrap.servers": broker.bootstrap_servers})
    for value in values:
        producer.produce(topic, value.encode())
    producer.flush()


def consume(broker: LocalBroker, topic: str) -> list[Any]:
    settings = {"bootstrap.servers": broker.bootstrap_servers}
    admin = Admin(settings)
    wait_until_settled(admin, topic)
    end = admin.end_offsets([(topic, 0)], committed=True)[topic, 0]
    consumer = open_range_consumer(settings)
    found = [message for messages in read_range(consumer, topic, 0, 0, end) for message in messages]
    consumer.close()
    return found


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_lines_travel_from_a_file_through_kafka_to_a_file(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path
) -> None:
    name, given, written = topic(), tmp_path / "in.txt", tmp_path / "out.txt"
    given.write_text("".join(f"line {i}\n" for i in range(1000)))
    runner.start("in", source("in", given, name), listener=states)
    runner.start("out", sink("out", written, name), listener=states)
    assert states.connectors == {"in": ("RUNNING", None), "out": ("RUNNING", None)}
    wait_until(lambda: len(lines(written)) == 1000)
    assert lines(written) == [f"line {i}" for i in range(1000)]
    with given.open("a") as file:
        file.write("one more\n")
    wait_until(lambda: lines(written)[1000:] == ["one more"])
    wait_until(lambda: states.topics == {"in": {name}, "out": {name}})
    (task,) = runner.task_configs("out")
    assert task["file"] == str(written)
    assert task["task.class"].endswith("FileStreamSinkTask")


def test_pause_holds_records_back_and_resume_lets_them_go(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name, written = topic(), tmp_path / "out.txt"
    runner.start("paused", sink("paused", written, name), listener=states, paused=True)
    assert states.tasks["paused", 0] == ("PAUSED", None)
    produce(broker, name, "a")
    runner.resume("paused")
    states.wait_for_task("paused", "RUNNING")
    wait_until(lambda: lines(written) == ["a"])
    runner.pause("paused")
    states.wait_for_task("paused", "PAUSED")
    produce(broker, name, "b")
    runner.stop("paused")
    assert lines(written) == ["a"]
    assert states.connectors["paused"] == ("STOPPED", None)
    with pytest.raises(NotFoundError):
        runner.stop("paused")


def test_a_connector_goes_on_where_it_stood(
    make_runner: RunnerFactory, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name, given, written = topic(), tmp_path / "in.txt", tmp_path / "out.txt"
    given.write_text("one\n")
    for expected in (["one"], ["one", "two"]):
        runner = make_runner()
        runner.start("in", source("in", given, name), listener=states)
        runner.start("out", sink("out", written, name), listener=states)
        wait_until(lambda expected=expected: lines(written) == expected)  # type: ignore[misc]
        runner.close()
        with given.open("a") as file:
            file.write("two\n")
    assert [m.value() for m in consume(broker, name)] == [b"one", b"two"]


def test_offsets_of_a_sink_are_those_of_its_group_and_can_be_changed(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name, written = topic(), tmp_path / "out.txt"
    config = sink("offsets", written, name)
    produce(broker, name, "a", "b", "c")
    runner.start("offsets", config, listener=states)
    wait_until(lambda: lines(written) == ["a", "b", "c"])
    with pytest.raises(ConnectError, match="must be stopped"):
        runner.reset_offsets("offsets", config)
    runner.stop("offsets")
    at = {"kafka_topic": name, "kafka_partition": 0}
    assert runner.offsets("offsets", config) == [{"partition": at, "offset": {"kafka_offset": 3}}]
    runner.alter_offsets("offsets", config, [{"partition": at, "offset": {"kafka_offset": 2}}])
    runner.start("offsets", config, listener=states)
    wait_until(lambda: lines(written) == ["a", "b", "c", "c"])
    runner.stop("offsets")
    runner.reset_offsets("offsets", config)
    assert runner.offsets("offsets", config) == []
    runner.start("offsets", config, listener=states)
    wait_until(lambda: lines(written) == ["a", "b", "c", "c", "a", "b", "c"])


def test_offsets_of_a_source_can_be_changed_and_are_published(
    make_runner: RunnerFactory, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    published: list[Any] = []
    runner = make_runner(publish_offsets=lambda name, entries: published.append((name, list(entries))))
    name, given = topic(), tmp_path / "in.txt"
    config = source("in", given, name)
    given.write_text("one\ntwo\n")
    runner.start("in", config, listener=states)
    wait_until(lambda: published)
    runner.stop("in")
    (entry,) = runner.offsets("in", config)
    assert entry["partition"] == {"filename": str(given)}
    assert entry["offset"]["position"] == 8
    assert published[-1] == ("in", [entry])
    runner.alter_offsets("in", config, [{"partition": {"filename": str(given)}, "offset": {"position": 4}}])
    runner.start("in", config, listener=states)
    wait_until(lambda: len(consume(broker, name)) == 3)
    runner.stop("in")
    runner.reset_offsets("in", config)
    assert runner.offsets("in", config) == []
    runner.start("in", config, listener=states)
    wait_until(lambda: len(consume(broker, name)) == 5)
    assert [m.value() for m in consume(broker, name)] == [b"one", b"two", b"two", b"one", b"two"]


def test_a_poison_record_fails_its_task_and_nobody_elses(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name, good, bad = topic(), tmp_path / "good.txt", tmp_path / "bad.txt"
    produce(broker, name, '{"a": 1}', "no json")
    json = {"value.converter": "JsonConverter", "value.converter.schemas.enable": "false"}
    runner.start("bad", {**sink("bad", bad, name), **json}, listener=states)
    runner.start("good", sink("good", good, name), listener=states)
    trace = states.wait_for_task("bad", "FAILED")
    assert trace is not None
    assert "Tolerance exceeded in error handler" in trace
    assert f"topic {name}, partition 0, offset 1" in trace
    assert states.connectors["bad"][0] == "RUNNING"
    wait_until(lambda: lines(good) == ['{"a": 1}', "no json"])
    tolerant = {**sink("bad", bad, name), **json, "errors.tolerance": "all"}
    runner.stop("bad")
    runner.start("bad", tolerant, listener=states)
    wait_until(lambda: lines(bad) == ["{a=1}"])


def test_poison_records_go_to_the_dead_letter_topic(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name, written = topic(), tmp_path / "out.txt"
    letters = f"{name}-letters"
    produce(broker, name, '{"a": 1}', "no json", '{"a": "x"}')
    config = {
        **sink("letters", written, name),
        "value.converter": "JsonConverter",
        "value.converter.schemas.enable": "false",
        "transforms": "cast",
        "transforms.cast.type": "org.apache.kafka.connect.transforms.Cast$Value",
        "transforms.cast.spec": "a:int32",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    runner.start("letters", config, listener=states)
    wait_until(lambda: runner.offsets("letters", config)[:1] and lines(written) == ["{a=1}"])
    found = consume(broker, letters)
    assert [m.value() for m in found] == [b"no json", b'{"a": "x"}']
    stages = [dict(m.headers())["__connect.errors.stage"] for m in found]
    assert stages == [b"VALUE_CONVERTER", b"TRANSFORMATION"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"connector.class": "FileStreamSnik"}, "FileStreamSnik could not be found"),
        ({"connector.class": SINK, "exactly.once.support": "required"}, None),
        ({"connector.class": SOURCE, "file": "f"}, 'Missing required configuration "topic"'),
        (
            {"connector.class": SOURCE, "file": "f", "topic": "t", "exactly.once.support": "required"},
            "requires exactly",
        ),
    ],
)
def test_a_configuration_that_cannot_run_is_refused(
    make_runner: RunnerFactory, states: States, config: dict[str, str], message: str | None
) -> None:
    runner = make_runner(exactly_once_source_support="disabled")
    if message is None:
        runner.start("refused", {"name": "refused", "topics": "none", **config}, listener=states)
        return
    with pytest.raises(ConfigError, match=message):
        runner.start("refused", {"name": "refused", **config}, listener=states)
    with pytest.raises(NotFoundError):
        runner.task_configs("refused")
