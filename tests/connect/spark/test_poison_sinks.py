"""Records that a sink cannot handle, at every step: with real Kafka and Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from penstock.broker import LocalBroker
from penstock.connect.api import SinkConnector, SinkTask
from penstock.connect.data import SinkRecord
from penstock.connect.errors import RetriableError
from penstock.connect.runner import ConnectorRunner
from penstock.kafka.producing import RecordProducer
from tests.connect.spark.conftest import States, wait_until
from tests.connect.spark.test_runner import consume, lines

pytestmark = [pytest.mark.spark, pytest.mark.broker]

Topics = Callable[..., str]
SCHEMA = {"type": "struct", "fields": [{"field": "id", "type": "int32"}]}


class PickyTask(SinkTask):
    """Notes offsets; some values it reports, some make it fail or ask for them again, until they are mended."""

    def put(self, records: list[SinkRecord]) -> None:
        folder = Path(self.config["folder"])
        mended = (folder / "mended").exists()
        with (folder / f"{self.config['name']}.put").open("a") as file:
            for record in records:
                what = None if mended or record.value is None else record.value["id"]
                if what == -1:
                    self.context.report(record, ValueError("id -1 cannot be"))
                    continue
                if what == -2:
                    raise ValueError("id -2 cannot be")
                if what == -3:
                    (folder / "asked").touch()
                    raise RetriableError("id -3 may pass")
                file.write(f"{record.original_offset}\n")


class Picky(SinkConnector):
    TASK = PickyTask


def value(number: int, field: str = "id") -> bytes:
    schema = {**SCHEMA, "fields": [{"field": field, "type": "int32"}]}
    return json.dumps({"schema": schema, "payload": {field: number}}).encode()


@dataclass
class Poison:
    """A record that cannot be handled.

    Attributes:
        stage: Where it fails.
        says: What the message says of it.
        mends: Settings with which it can be handled.
    """

    stage: str
    says: str
    key: bytes = b"\0\0\0\1"
    value: bytes = field(default_factory=lambda: value(1))
    header: bytes = b"1"
    mends: dict[str, str] = field(default_factory=dict)


TEXT = "org.apache.kafka.connect.storage.StringConverter"
POISON = {
    "key": Poison("KEY_CONVERTER", "IntegerConverter", key=b"abc", mends={"key.converter": TEXT}),
    "malformed": Poison("VALUE_CONVERTER", "JsonConverter", value=b'{"schema": ', mends={}),
    "incomplete": Poison("VALUE_CONVERTER", 'requires "schema" and "payload" fields', value=b'{"id": 1}'),
    "header": Poison("HEADER_CONVERTER", "JsonConverter", header=b"{", mends={"header.converter": TEXT}),
    "field": Poison("TRANSFORMATION", "id", value=value(1, "other"), mends={"transforms": ""}),
    "reported": Poison("TASK_PUT", "id -1 cannot be", value=value(-1)),
}


def send(broker: LocalBroker, topic: str, *records: Poison) -> None:
    producer = RecordProducer({"bootstrap.servers": broker.bootstrap_servers})
    for one in records:
        producer.produce(topic, one.value, one.key, timestamp=1_700_000_000_000, headers=[("h", one.header)])
    producer.flush()


def config(name: str, topic: str, folder: Path, **more: str) -> dict[str, str]:
    return {
        "name": name,
        "connector.class": f"{__name__}:Picky",
        "topics": topic,
        "folder": str(folder),
        "key.converter": "org.apache.kafka.connect.converters.IntegerConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "header.converter": "org.apache.kafka.connect.json.JsonConverter",
        "header.converter.schemas.enable": "false",
        "transforms": "key",
        "transforms.key.type": "ExtractField$Value",
        "transforms.key.field": "id",
        "transforms.back.type": "HoistField$Value",
        "transforms.back.field": "id",
        **more,
        **({} if more.get("transforms") == "" else {"transforms": "key,back"}),
    }


GOOD = Poison("", "", value=value(5))


def committed(runner: ConnectorRunner, settings: dict[str, str]) -> list[int]:
    return [entry["offset"]["kafka_offset"] for entry in runner.offsets(settings["name"], settings)]


def test_without_tolerance_the_task_fails_says_why_and_goes_on_once_it_is_mended(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    cases = {**POISON, "put": Poison("TASK_PUT", "ValueError: id -2 cannot be", value=value(-2))}
    settings: dict[str, dict[str, str]] = {}
    for name, bad in cases.items():
        settings[name] = config(name, topic(name), tmp_path)
        send(broker, settings[name]["topics"], GOOD, bad, GOOD)
        runner.start(name, settings[name], listener=states)
    for name, bad in cases.items():
        trace = states.wait_for_task(name, "FAILED")
        assert trace is not None
        last = trace.strip().splitlines()[-1]
        where = f"topic {settings[name]['topics']}, partition 0, offset"
        assert f"task {name}-0, {bad.stage}" in last, last
        assert f"{where}s 0 to 2 failed" in last if name == "put" else f"{where} 1 failed" in last, last
        assert bad.says in last, last
        assert "restart the task" in last
        assert "errors.tolerance=all" in last or name == "put"
        assert all(offset <= 1 for offset in committed(runner, settings[name]))
        runner.stop(name)
    # Some are mended by settings, some by whoever receives them; what no converter can read is sent in another form.
    (tmp_path / "mended").touch()
    for name, bad in cases.items():
        more = {"value.converter": TEXT, "transforms": ""} if bad.stage == "VALUE_CONVERTER" else bad.mends
        settings[name] |= config(name, settings[name]["topics"], tmp_path, **more)
        runner.start(name, settings[name], listener=states)
    for name in cases:
        wait_until(lambda name=name: committed(runner, settings[name]) == [3])  # type: ignore[misc]
        assert sorted(set(lines(tmp_path / f"{name}.put"))) == ["0", "1", "2"]
        runner.stop(name)


def test_with_tolerance_records_are_skipped_counted_and_kept(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name = topic()
    send(broker, name, *(one for bad in POISON.values() for one in (bad, GOOD)))
    tolerant = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"{name}-letters",
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    settings = config("tolerant", name, tmp_path, **tolerant)
    runner.start("tolerant", settings, listener=states)
    wait_until(lambda: committed(runner, settings) == [2 * len(POISON)])
    assert lines(tmp_path / "tolerant.put") == [str(2 * n + 1) for n in range(len(POISON))]
    letters = {
        int(dict(letter.headers())["__connect.errors.offset"]): letter for letter in consume(broker, f"{name}-letters")
    }
    assert sorted(letters) == [2 * n for n in range(len(POISON))]
    for number, bad in enumerate(POISON.values()):
        letter = letters[2 * number]
        headers = dict(letter.headers())
        assert (letter.key(), letter.value(), letter.timestamp()[1]) == (bad.key, bad.value, 1_700_000_000_000)
        assert headers["h"] == bad.header
        assert {key.removeprefix("__connect.errors.") for key in headers if key.startswith("__connect")} == {
            "topic", "partition", "offset", "connector.name", "task.id", "stage", "class.name",
            "exception.class.name", "exception.message", "exception.stacktrace",
        }  # fmt: skip
        assert headers["__connect.errors.stage"].decode() == bad.stage
        assert headers["__connect.errors.topic"].decode() == name
        assert headers["__connect.errors.connector.name"] == b"tolerant"
    wait_until(lambda: ("tolerant", 0) in states.metrics)
    told = states.metrics["tolerant", 0]
    assert told["skipped"] == {
        "KEY_CONVERTER DataException": 1,
        "VALUE_CONVERTER DataException": 2,
        "HEADER_CONVERTER DataException": 1,
        "TRANSFORMATION IllegalArgumentException": 1,
        "TASK_PUT ValueError": 1,
    }
    assert (told["records"], told["dead_letters"]) == (len(POISON), len(POISON))
    assert "TASK_PUT (PickyTask) of topic" in told["last_error"]


def test_a_record_that_may_pass_is_put_again_until_it_does_and_none_is_skipped(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    settings = config("patient", topic(), tmp_path, **{"errors.tolerance": "all"})
    send(broker, settings["topics"], GOOD, Poison("", "", value=value(-3)), GOOD)
    runner.start("patient", settings, listener=states)
    wait_until((tmp_path / "asked").exists)
    assert not committed(runner, settings)
    assert states.tasks["patient", 0] == ("RUNNING", None)
    (tmp_path / "mended").touch()
    wait_until(lambda: committed(runner, settings) == [3])
    assert sorted(set(lines(tmp_path / "patient.put"))) == ["0", "1", "2"]


def test_a_letter_that_is_too_large_for_its_topic_leaves_the_place_of_its_record(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    name = topic()
    # With the headers of a letter it is more than a client sends.
    send(broker, name, Poison("", "", value=b"{" + b"x" * 999_000))
    more: dict[str, Any] = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"{name}-letters",
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    settings = config("large", name, tmp_path, **more)
    runner.start("large", settings, listener=states)
    wait_until(lambda: committed(runner, settings) == [1])
    (letter,) = consume(broker, f"{name}-letters")
    headers = dict(letter.headers())
    assert (letter.key(), letter.value()) == (None, None)
    assert headers["__connect.errors.offset"] == b"0"
    assert headers["__connect.errors.left.out"] == b"key and value of 999005 bytes are left out: too large for a letter"
