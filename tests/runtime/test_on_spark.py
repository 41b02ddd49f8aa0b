"""The whole way: settings, Spark, Kafka."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Message
from confluent_kafka.admin import AdminClient, NewPartitions

from penstock import KafkaStreams, StreamsError, Topology
from penstock.broker import LocalBroker
from penstock.kafka.admin import Admin
from penstock.kafka.clients import open_range_consumer
from penstock.kafka.producing import RecordProducer
from penstock.kafka.ranges import read_range
from penstock.runtime.application import local_state
from penstock.runtime.presence import owner
from penstock.runtime.reset import carry_out, plan_reset
from penstock.runtime.reset_target import ResetTarget
from penstock.runtime.states import StreamsState
from tests.conftest import TopicFactory
from tests.runtime.copying import counting, double_or_nothing, doubling

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.slow]

Run = Callable[..., KafkaStreams]


@pytest.fixture
def run(broker: LocalBroker, spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    """Starts an application under the test's name; closed at the end."""
    started: list[KafkaStreams] = []

    def start(topology: Topology, **settings: Any) -> KafkaStreams:
        app = KafkaStreams(
            topology,
            {"bootstrap.servers": broker.bootstrap_servers, "state.dir": tmp_path, **settings},
            application_id=request.node.name.replace("_", "-"),
            spark=spark,
        )
        started.append(app)
        app.start()
        return app

    yield start
    for app in started:
        app.close("60s")


@pytest.fixture
def put(broker: LocalBroker) -> Callable[..., None]:
    return partial(send, broker)


@pytest.fixture
def read(broker: LocalBroker) -> Any:
    """`read(topic, 3)` waits for that many committed records."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "reader",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )

    def records(topic: str, count: int) -> list[Message]:
        consumer.subscribe([topic])
        found: list[Message] = []
        for _ in range(600):
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                found.append(message)
            if len(found) >= count:
                break
        consumer.unsubscribe()
        return found

    yield records
    consumer.close()


def values(messages: list[Message]) -> list[str]:
    return [(message.value() or b"").decode() for message in messages]


def test_a_record_that_fails_stops_at_its_offset_until_the_function_is_fixed(
    run: Run, put: Any, read: Any, topic: TopicFactory, broker: LocalBroker
) -> None:
    source, target = topic("numbers"), topic("doubled")
    put(source, "1", "2", "x", "4")
    app = run(doubling(source, target), **{"processing.guarantee": "exactly_once_v2"})
    with pytest.raises(StreamsError) as raised:
        app.wait("120s")
    assert str(raised.value) == (
        "ValueError: invalid literal for int() with base 10: 'x' (node doubling, task 0_0, "
        f"topic {source}, partition 0, offset 2, at copying.py:11). "
        "Fix the function, or set processing.exception.handler to go on without such records."
    )
    assert app.state is StreamsState.ERROR
    assert owner(app.checkpoint) is None
    assert committed(broker, target) == []

    fixed = run(doubling(source, target, double_or_nothing), **{"processing.guarantee": "exactly_once_v2"})
    assert values(read(target, 4)) == ["2", "4", "nothing", "8"]
    with pytest.raises(StreamsError, match=rf"the application {fixed.application_id} runs already \(process \d+ on"):
        run(doubling(source, target))


def test_handlers_send_poison_to_the_dead_letter_topic_and_go_on(
    run: Run, put: Any, read: Any, topic: TopicFactory
) -> None:
    source, target, dead = topic("numbers"), topic("doubled"), topic("dead")
    put(source, "1", "x", "3")
    app = run(
        doubling(source, target),
        **{
            "processing.exception.handler": "LogAndContinueProcessingExceptionHandler",
            "errors.dead.letter.queue.topic.name": dead,
        },
    )
    assert values(read(target, 2)) == ["2", "6"]
    (letter,) = read(dead, 1)
    assert (letter.key(), letter.value()) == (b"k", b"x")
    headers = {name: value.decode() for name, value in letter.headers()}
    assert headers.pop("__streams.errors.stacktrace").startswith("Traceback (most recent call last)")
    assert headers == {
        "__streams.errors.exception": "builtins.ValueError",
        "__streams.errors.message": "invalid literal for int() with base 10: 'x'",
        "__streams.errors.topic": source,
        "__streams.errors.partition": "0",
        "__streams.errors.offset": "1",
    }
    until(lambda: app.metrics["records-in-total"] == 3)
    assert app.metrics["offsets"] == {source: {"0": 3}}
    assert (
        f'penstock_offset{{application="{app.application_id}",topic="{source}",partition="0"}} 3' in app.metrics_text()
    )


def test_new_partitions_while_it_runs(run: Run, put: Any, read: Any, topic: TopicFactory, broker: LocalBroker) -> None:
    source, target = topic("orders"), topic("counts")
    put(source, "a", "b")
    app = run(counting(source, target), **{"penstock.topics.check.ms": 200, "processing.guarantee": "exactly_once_v2"})
    assert len(read(target, 1)) == 1
    client = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    client.create_partitions([NewPartitions(source, 3)])[source].result(30)
    until(lambda: app.metrics["restarts-total"] == 1 and app.state is StreamsState.RUNNING)
    app.pause()
    until(lambda: Admin({"bootstrap.servers": broker.bootstrap_servers}).topic(source).partitions == 3)
    put(source, "c", partition=2)
    put(source, "c", partition=0)
    app.resume()
    last = {}
    for message in read(target, 3):
        last[message.value()] = message
    assert sorted(int.from_bytes(value, "big") for value in last) == [1, 2, 3]  # state of partition 0 stayed


def test_a_reset_application_starts_over(
    run: Run, put: Any, topic: TopicFactory, broker: LocalBroker, tmp_path: Path
) -> None:
    source, target = topic("orders"), topic("counts")
    put(source, "a", "b", "c")
    settings = {"processing.guarantee": "exactly_once_v2"}
    first = run(counting(source, target), **settings)
    until(lambda: committed(broker, target) == [_long(3)])
    first.close()

    admin = Admin({"bootstrap.servers": broker.bootstrap_servers})
    plan = plan_reset(
        admin,
        first.application_id,
        first.checkpoint,
        ResetTarget("offset", 1),
        local=local_state(first.state_dir, first.application_id),
    )
    assert [(change.current, change.new) for change in plan.changes] == [(3, 1)]
    carry_out(plan, admin)
    run(counting(source, target), **settings)
    until(lambda: committed(broker, target) == [_long(3), _long(2)])


def _long(number: int) -> bytes:
    return number.to_bytes(8, "big")


def test_a_broker_that_goes_away_for_a_while(spark: SparkSession, tmp_path: Path) -> None:
    with LocalBroker() as broker:
        settings = {"bootstrap.servers": broker.bootstrap_servers}
        admin = Admin(settings)
        for name in ("orders", "counts"):
            admin.create_topic(name)
        send(broker, "orders", "a", "b")
        app = KafkaStreams(
            counting("orders", "counts"),
            {**settings, "state.dir": tmp_path, "processing.guarantee": "exactly_once_v2"},
            application_id="broker-away",
            spark=spark,
        )
        states: list[str] = []
        app.set_state_listener(lambda new, old: states.append(new.value))
        with app:
            until(lambda: app.metrics["batches-total"] >= 1)
            broker.kill()
            until(lambda: app.state is StreamsState.REBALANCING)
            broker.start()
            until(lambda: app.state is StreamsState.RUNNING)
            send(broker, "orders", "c")
            until(lambda: app.metrics["records-in-total"] == 3)
        assert states[:3] == ["REBALANCING", "RUNNING", "REBALANCING"]
        assert states[-3:] == ["RUNNING", "PENDING_SHUTDOWN", "NOT_RUNNING"]
        assert [int.from_bytes(value, "big") for value in committed(broker, "counts")] == [2, 3]


def send(broker: LocalBroker, topic: str, *values: str, key: str = "k", partition: int = -1) -> None:
    producer = RecordProducer({"bootstrap.servers": broker.bootstrap_servers})
    for value in values:
        producer.produce(topic, value.encode(), key.encode(), partition=partition)
    producer.flush()


def committed(broker: LocalBroker, topic: str) -> list[bytes]:
    """All committed values of a topic with one partition."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "isolation.level": "read_committed"}
    end = Admin(settings).end_offsets([(topic, 0)], committed=True)[topic, 0]
    consumer = open_range_consumer(settings)
    try:
        return [m.value() or b"" for chunk in read_range(consumer, topic, 0, 0, end) for m in chunk]
    finally:
        consumer.close()


def until(reached: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(2400):
        if reached():
            return
        pause.wait(0.1)
    raise AssertionError("not reached in four minutes")
