"""Outputs that a broker never takes: the production handler is asked, and nothing else is lost or doubled."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from penstock import ContextualProcessor, Record, StreamsBuilder
from penstock.broker import LocalBroker
from penstock.handlers import DeadLetter, Origin, Response
from penstock.interpreter.context import wall_clock_ms
from penstock.interpreter.guards import TaskFailed
from penstock.kafka.errors import RecordRefused, TransactionError
from penstock.kafka.transactions import TransactionalProducer
from penstock.spark.failures import query_failed
from penstock.spark.tasks import changelog, outputs
from tests.conftest import TopicFactory
from tests.spark.application import Kafka, until
from tests.spark.in_process import InProcess

pytestmark = pytest.mark.broker
GUARANTEES = pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
LARGE = "x" * 3000
FAR = 10 * 365 * 86_400_000
SMALL_TOPIC, COMPACTED = {"max.message.bytes": "1000"}, {"cleanup.policy": "compact"}
TAKES_ALL = {"message.timestamp.after.max.ms": str(2 * FAR)}
_asked: list[tuple[Any, ...]] = []


def skip(context: Any, record: Any, exception: BaseException, *, origin: Origin) -> Response:
    _asked.append((context.processor_node_id, record.key, type(exception), origin))
    return Response.resume()


@pytest.fixture(autouse=True)
def _nobody_asked_yet() -> None:
    _asked.clear()


class Marks(ContextualProcessor[Any, Any, Any, Any]):
    """Takes the key from "keyless", and sends "far" to the far future."""

    def process(self, record: Any) -> None:
        if record.value == "keyless":
            record = Record(None, record.value, record.timestamp)
        if record.value == "far":
            record = record.with_timestamp(record.timestamp + FAR)
        self.context.forward(record)


class Bench:
    """An application that writes what it reads to a topic that refuses something, and to one that takes everything."""

    def __init__(
        self, broker: LocalBroker, topic: TopicFactory, folder: Path, config: dict[str, str], **settings: Any
    ) -> None:
        self.kafka = Kafka(broker.bootstrap_servers)
        self.source, self.target, self.all = topic("in"), topic("out", config=config), topic("all", config=TAKES_ALL)
        builder = StreamsBuilder()
        stream = builder.stream(self.source, key_serde="string", value_serde="string").process(Marks)
        stream.to(self.target, name="out", value_serde="string", key_serde="string")
        stream.map(lambda key, value: ("k", value)).to(self.all, name="all", value_serde="string", key_serde="string")
        given = {"bootstrap.servers": broker.bootstrap_servers, "application.id": f"app-{self.source}", **settings}
        self.app = InProcess(builder, folder, **given)

    def values(self, topic: str) -> list[str]:
        return [m.value().decode() for m in self.kafka.read(topic)]


@GUARANTEES
@pytest.mark.parametrize(
    ("config", "bad", "key"),
    [(SMALL_TOPIC, LARGE, b"b"), (COMPACTED, "keyless", None), ({}, "far", b"b")],
    ids=["too large", "no key", "in the far future"],
)
def test_the_handler_may_go_on_without_them(
    guarantee: str,
    config: dict[str, str],
    bad: str,
    key: bytes | None,
    broker: LocalBroker,
    topic: TopicFactory,
    tmp_path: Path,
) -> None:
    settings = {"production.exception.handler": skip, "processing.guarantee": guarantee}
    bench = Bench(broker, topic, tmp_path, config, **settings)
    now = wall_clock_ms()
    bench.kafka.send(bench.source, ("a", "1", now), ("b", bad, now + 1), ("c", "3", now + 2))
    assert bench.app.batches() == 1
    assert _asked == [("out", key, RecordRefused, Origin.SEND)]
    assert bench.app.metric("dropped") == 1
    until(lambda: len(bench.values(bench.target)) >= 2 and len(bench.values(bench.all)) >= 3)
    assert (bench.values(bench.target), bench.values(bench.all)) == (["1", "3"], ["1", bad, "3"])
    bench.kafka.send(bench.source, ("d", "4", now + 3))
    assert bench.app.batches() == 1
    until(lambda: len(bench.values(bench.target)) >= 3)
    assert (bench.values(bench.target), len(_asked)) == (["1", "3", "4"], 1)


@GUARANTEES
def test_without_a_handler_the_application_fails_and_says_which_record(
    guarantee: str, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    bench = Bench(broker, topic, tmp_path, SMALL_TOPIC, **{"processing.guarantee": guarantee})
    bench.kafka.send(bench.source, ("a", "1", 1), ("b", LARGE, 2), ("c", "3", 3))
    where = rf"RecordRefused: Kafka does not take a record for {bench.target} with the key b'b': Message size too large, 3071"
    with pytest.raises(TaskFailed, match=rf"{where} bytes.*which is 1000. \(node out, task 0_0\)") as caught:
        bench.app.batch()
    name = f"{TaskFailed.__module__}.{TaskFailed.__qualname__}"
    assert not query_failed(RuntimeError(f"{name}: {caught.value}")).transient
    if guarantee == "exactly_once_v2":
        assert bench.values(bench.all) == []


@GUARANTEES
def test_a_topic_that_takes_less_than_a_batch_of_the_client_gets_smaller_ones(
    guarantee: str, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    bench = Bench(broker, topic, tmp_path, SMALL_TOPIC, **{"processing.guarantee": guarantee})
    sent = [f"{i:0100}" for i in range(40)]
    for part in (sent[:20], sent[20:]):
        bench.kafka.send(bench.source, *[("k", value, i + 1) for i, value in enumerate(part)])
        assert bench.app.batches() == 1
    until(lambda: len(bench.values(bench.target)) >= len(sent))
    assert bench.values(bench.target) == sent
    assert bench.values(bench.all) == sent


@GUARANTEES
def test_a_refusal_that_comes_while_others_are_still_sent_blames_only_its_own(
    guarantee: str, broker: LocalBroker, topic: TopicFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "_KEPT", 5_000)
    bench = Bench(
        broker,
        topic,
        tmp_path,
        {"max.message.bytes": "2000"},
        **{"production.exception.handler": skip, "processing.guarantee": guarantee, "producer.linger.ms": 0},
    )
    large = {3, 7_000, 15_000}
    sent = [LARGE if i in large else str(i) for i in range(20_000)]
    bench.kafka.send(bench.source, *[(f"k{i}", value, i + 1) for i, value in enumerate(sent)])
    bench.app.batches()
    wanted = [value for i, value in enumerate(sent) if i not in large]
    until(lambda: len(bench.values(bench.target)) >= len(wanted) and len(bench.values(bench.all)) >= len(sent))
    assert {key for _, key, *_ in _asked} == {f"k{i}".encode() for i in large}
    assert bench.values(bench.all) == sent
    assert sorted(bench.values(bench.target)) == sorted(wanted)
    if guarantee == "exactly_once_v2":
        assert bench.values(bench.target) == wanted


@GUARANTEES
def test_what_is_small_enough_compressed_is_taken(
    guarantee: str, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    settings = {"production.exception.handler": skip, "processing.guarantee": guarantee}
    bench = Bench(broker, topic, tmp_path, SMALL_TOPIC, **settings, **{"producer.compression.type": "gzip"})
    noise = random.Random(1).randbytes(3000).hex()
    bench.kafka.send(bench.source, ("a", "1", 1), ("b", LARGE, 2), ("c", noise, 3), ("d", LARGE, 4))
    assert bench.app.batches() == 1
    until(lambda: len(bench.values(bench.target)) >= 3)
    assert bench.values(bench.target) == ["1", LARGE, LARGE]
    assert [key for _, key, *_ in _asked] == [b"c"]


def as_letter(context: Any, record: Any, exception: BaseException, *, origin: Origin) -> Response:
    letters = context.dead_letter_topic
    return Response.resume([DeadLetter(letters, record.key, b"too large", record.timestamp)])


@GUARANTEES
def test_dead_letters_of_the_handler_are_sent(
    guarantee: str, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    letters = topic("letters")
    settings = {
        "production.exception.handler": as_letter,
        "processing.guarantee": guarantee,
        "errors.dead.letter.queue.topic.name": letters,
    }
    bench = Bench(broker, topic, tmp_path, SMALL_TOPIC, **settings)
    bench.kafka.send(bench.source, ("a", "1", 1), ("b", LARGE, 2))
    assert bench.app.batches() == 1
    until(lambda: len(bench.values(letters)) >= 1)
    assert ([m.key() for m in bench.kafka.read(letters)], bench.values(bench.target)) == ([b"b"], ["1"])


@GUARANTEES
def test_no_dead_letter_is_lost_if_there_are_thousands_in_a_batch(
    guarantee: str, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    letters = topic("letters")
    settings = {
        "production.exception.handler": as_letter,
        "processing.guarantee": guarantee,
        "errors.dead.letter.queue.topic.name": letters,
    }
    bench = Bench(broker, topic, tmp_path, COMPACTED, **settings)
    count = 2 * outputs.CHUNK + 500
    bench.kafka.send(bench.source, *[("a", "keyless", i + 1) for i in range(count)], ("a", "good", count + 1))
    assert bench.app.batches() == 1
    until(lambda: len(bench.kafka.read(letters)) >= count)
    assert (len(bench.kafka.read(letters)), bench.values(bench.target)) == (count, ["good"])


@GUARANTEES
def test_a_letter_stays_when_a_changelog_is_sent_in_the_middle_of_a_batch(
    guarantee: str, broker: LocalBroker, topic: TopicFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changelog, "_MANY", 10)
    kafka, source, target, letters = Kafka(broker.bootstrap_servers), topic("in"), topic("out"), topic("letters")
    builder = StreamsBuilder()
    table = builder.table(source, key_serde="string", value_serde="string")
    table.map_values(len, store="lengths", value_serde="long")
    table.to_stream().map_values(lambda text: 50 * text).to(target, key_serde="string", value_serde="string")
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "application.id": f"app-{source}",
        "processing.guarantee": guarantee,
        "production.exception.handler": as_letter,
        "errors.dead.letter.queue.topic.name": letters,
        "producer.message.max.bytes": 1500,
        "statestore.cache.max.bytes": 0,
    }
    app = InProcess(builder, tmp_path, **settings)
    kafka.send(source, ("large", "x" * 100, 1), *[(f"k{i}", "x", i + 2) for i in range(20)])
    assert app.batches() == 1
    until(lambda: len(kafka.read(target)) >= 20)
    assert [m.key() for m in kafka.read(letters)] == [b"large"]
    assert len(kafka.read(target)) == 20


def test_a_slot_that_could_not_take_its_id_over_tries_again(
    broker: LocalBroker, topic: TopicFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(broker, topic, tmp_path, {}, **{"processing.guarantee": "exactly_once_v2"})
    steps: list[str] = []
    init = TransactionalProducer.init

    def fails_once(producer: TransactionalProducer) -> None:
        steps.append(producer.transactional_id)
        if len(steps) == 1:
            raise TransactionError(producer.transactional_id, "the coordinator moves")
        init(producer)

    monkeypatch.setattr(TransactionalProducer, "init", fails_once)
    with pytest.raises(TransactionError, match="the coordinator moves"):
        outputs.take_over(bench.app.job, 0, 0)
    assert outputs.take_over(bench.app.job, 0, 0)
    assert len(steps) == 2
    assert not outputs.take_over(bench.app.job, 0, 0)


@GUARANTEES
def test_state_that_its_changelog_does_not_take_is_never_skipped(
    guarantee: str, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    kafka, source, target = Kafka(broker.bootstrap_servers), topic("in"), topic("out")
    builder = StreamsBuilder()
    table = builder.table(source, key_serde="string", value_serde="string")
    table.map_values(str.upper, store="upper", value_serde="string").to_stream().to(
        lambda key, value, context: target, key_serde="string", value_serde="string"
    )
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "application.id": f"app-{source}",
        "processing.guarantee": guarantee,
        "production.exception.handler": skip,
        "topic.max.message.bytes": 1000,
    }
    app = InProcess(builder, tmp_path, **settings)
    kafka.send(source, ("a", "1", 1), ("b", LARGE, 2))
    with pytest.raises(RecordRefused, match=rf"a record for app-{source}-upper-changelog with the key b'b'"):
        app.batch()
    assert _asked == []
