"""Records of a source that cannot be brought to Kafka, at every step: with real Kafka and Spark."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from penstock.broker import LocalBroker
from penstock.connect.api import OffsetReader, SourceConnector, SourceRange, SourceTask
from penstock.connect.data import (
    INT32_SCHEMA,
    STRING_SCHEMA,
    ConnectHeaders,
    ConnectRecord,
    Header,
    SourceRecord,
)
from penstock.connect.runner import ConnectorRunner
from penstock.connect.transforms.predicates.predicate import Predicate
from tests.connect.spark.conftest import RunnerFactory, States, wait_until
from tests.connect.spark.test_runner import consume

pytestmark = [pytest.mark.spark, pytest.mark.broker]

Topics = Callable[..., str]
COUNT = 5
BAD = 2


class SpoiltTask(SourceTask):
    """Five numbers; something is wrong with one of them until it is mended."""

    idle_ms = 100

    def plan(self, offsets: OffsetReader) -> Sequence[SourceRange]:
        part = {"part": self.config["name"]}
        return [] if offsets.offset(part) else [SourceRange(part, None, {"n": COUNT})]

    def read(self, wanted: SourceRange) -> Iterator[SourceRecord]:
        mended = (Path(self.config["folder"]) / "mended").exists()
        for n in range(COUNT):
            record = SourceRecord(
                self.config["topic"],
                key_schema=INT32_SCHEMA,
                key=n,
                value_schema=STRING_SCHEMA,
                value=str(n),
                headers=ConnectHeaders([Header("h", n, INT32_SCHEMA)]),
                timestamp=1_700_000_000_000,
                source_partition=wanted.partition,
                source_offset={"n": n + 1},
            )
            if n == BAD and not mended:
                yield SPOILT.get(self.config["spoilt"], ("", torn))[1](record)
            else:
                yield record


class Spoilt(SourceConnector):
    TASK = SpoiltTask


class IsText(Predicate):
    """Whether a value is text."""

    def test(self, record: ConnectRecord) -> bool:
        return isinstance(record.value, str)


def torn(record: SourceRecord) -> SourceRecord:
    raise ValueError("the page is torn")


SPOILT: dict[str, tuple[str, Callable[[SourceRecord], SourceRecord]]] = {
    "transform": ("TRANSFORMATION (Cast", lambda r: r.new_record(value="x")),
    "key": ("KEY_CONVERTER (IntegerConverter)", lambda r: r.with_key(STRING_SCHEMA, "x")),
    "value": ("VALUE_CONVERTER (IntegerConverter)", lambda r: r.with_value(None, {"id": 1})),
    "header": (
        "HEADER_CONVERTER (IntegerConverter)",
        lambda r: r.new_record(headers=ConnectHeaders([Header("h", "x", STRING_SCHEMA)])),
    ),
    "topic": ("TRANSFORMATION (SourcePipeline)", lambda r: r.new_record(topic=None)),
    "partition": ("KAFKA_PRODUCE (RecordProducer)", lambda r: r.new_record(partition=7)),
    "large": ("KAFKA_PRODUCE (RecordProducer)", lambda r: r.with_value(STRING_SCHEMA, "x" * 1_200_000)),
    "larger-than-topic": ("KAFKA_PRODUCE (RecordProducer)", lambda r: r.with_value(STRING_SCHEMA, "x" * 3000)),
    "keyless": ("KAFKA_PRODUCE (RecordProducer)", lambda r: r.with_key(None, None)),
}


def made_topic(topic: Topics, spoilt: str) -> str:
    configs = {"keyless": {"cleanup.policy": "compact"}, "larger-than-topic": {"max.message.bytes": "2000"}}
    return topic(spoilt, config=configs.get(spoilt))


def config(spoilt: str, topic: str, folder: Path, **more: str) -> dict[str, str]:
    numbers = spoilt in {"transform", "value"}
    integers = "org.apache.kafka.connect.converters.IntegerConverter"
    found = {
        "name": spoilt,
        "connector.class": f"{__name__}:Spoilt",
        "topic": topic,
        "folder": str(folder),
        "spoilt": spoilt,
        "key.converter": integers,
        "value.converter": integers if spoilt == "value" else "org.apache.kafka.connect.storage.StringConverter",
        "header.converter": integers,
        **more,
    }
    if numbers:
        # Numbers all through; what is not text is left to the converter.
        found |= {
            "transforms": "number",
            "transforms.number.type": "Cast$Value",
            "transforms.number.spec": "int32",
            "transforms.number.predicate": "texts",
            "predicates": "texts",
            "predicates.texts.type": f"{__name__}:IsText",
        }
    return found


def values(broker: LocalBroker, topic: str) -> list[Any]:
    return [message.timestamp()[1] and int.from_bytes(message.key(), "big") for message in consume(broker, topic)]


def test_without_tolerance_the_task_fails_says_why_and_goes_on_once_it_is_mended(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    settings = {spoilt: config(spoilt, made_topic(topic, spoilt), tmp_path) for spoilt in SPOILT}
    for spoilt, one in settings.items():
        runner.start(spoilt, one, listener=states)
    for spoilt, (stage, _) in SPOILT.items():
        trace = states.wait_for_task(spoilt, "FAILED")
        assert trace is not None
        last = trace.strip().splitlines()[-1]
        assert f"task {spoilt}-0, {stage}" in last, last
        assert f"from {{'part': '{spoilt}'}}, offset {{'n': {BAD + 1}}} failed: " in last, last
        assert settings[spoilt]["topic"] in last or spoilt == "topic", last
        assert "restart the task" in last
        assert "errors.tolerance=all" in last
        assert runner.offsets(spoilt, settings[spoilt]) == []
        assert consume(broker, settings[spoilt]["topic"]) == []  # the batch is rolled back as a whole
    (tmp_path / "mended").touch()
    for spoilt in SPOILT:
        runner.restart(spoilt)
    for spoilt, one in settings.items():
        wait_until(lambda spoilt=spoilt, one=one: runner.offsets(spoilt, one))  # type: ignore[misc]
        assert values(broker, one["topic"]) == list(range(COUNT))


@pytest.mark.parametrize("guarantee", ["enabled", "disabled"])
def test_with_tolerance_records_are_skipped_counted_and_kept(
    guarantee: str, make_runner: RunnerFactory, states: States, topic: Topics, tmp_path: Path, broker: LocalBroker
) -> None:
    runner = make_runner(exactly_once_source_support=guarantee)
    letters = topic("letters")
    tolerant = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    settings = {spoilt: config(spoilt, made_topic(topic, spoilt), tmp_path, **tolerant) for spoilt in SPOILT}
    for spoilt, one in settings.items():
        runner.start(spoilt, one, listener=states)
    for spoilt, one in settings.items():
        wait_until(lambda spoilt=spoilt, one=one: runner.offsets(spoilt, one))  # type: ignore[misc]
        found = values(broker, one["topic"])
        if guarantee == "enabled":
            assert found == [n for n in range(COUNT) if n != BAD]
        assert set(found) == {n for n in range(COUNT) if n != BAD}
    kept: dict[str, list[Any]] = {}
    for letter in consume(broker, letters):
        kept.setdefault(dict(letter.headers())["__connect.errors.connector.name"].decode(), []).append(letter)
    assert kept.keys() == SPOILT.keys()
    for spoilt, (stage, _) in SPOILT.items():
        if guarantee == "enabled":
            assert len(kept[spoilt]) == 1  # also if the batch was sent again without the record
        letter = kept[spoilt][-1]
        headers = {key.removeprefix("__connect.errors."): value.decode() for key, value in letter.headers()}
        assert headers["stage"] == stage.partition(" ")[0]
        assert json.loads(headers["source.partition"]) == {"part": spoilt}
        assert json.loads(headers["source.offset"]) == {"n": BAD + 1}
        assert headers["task.id"] == "0"
        assert headers["exception.message"]
        assert "exception.stacktrace" in headers
        assert headers["topic"] == ("" if spoilt == "topic" else settings[spoilt]["topic"])
        wait_until(lambda spoilt=spoilt: (spoilt, 0) in states.metrics)  # type: ignore[misc]
        told = states.metrics[spoilt, 0]
        assert (told["records"], told["dead_letters"], sum(told["skipped"].values())) == (COUNT - 1, 1, 1)
        assert next(iter(told["skipped"])).startswith(headers["stage"])
    # JSON where there are no bytes yet, the bytes that were to be sent where there are.
    assert (kept["transform"][-1].key(), kept["transform"][-1].value()) == (b"2", b'"x"')
    assert (kept["key"][-1].key(), kept["key"][-1].value()) == (b'"x"', b'"2"')
    assert kept["value"][-1].value() == b'{"id":1}'
    assert dict(kept["header"][-1].headers())["h"] == b"x"
    assert (kept["partition"][-1].key(), kept["partition"][-1].value()) == (b"\0\0\0\2", b"2")
    assert kept["larger-than-topic"][-1].value() == b"x" * 3000
    assert kept["large"][-1].value() is None
    assert b"1200004 bytes are left out" in dict(kept["large"][-1].headers())["__connect.errors.left.out"]


def test_a_source_that_cannot_be_read_says_where(
    runner: ConnectorRunner, states: States, topic: Topics, tmp_path: Path
) -> None:
    runner.start("torn", config("torn", topic(), tmp_path), listener=states)
    trace = states.wait_for_task("torn", "FAILED")
    assert trace is not None
    assert "task torn-0, reading {'part': 'torn'} from None to {'n': 5} failed: ValueError: the page is torn" in trace
