"""The planner against a real Kafka: offsets, times, sizes, transactions, retention, deletion."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from penstock import AutoOffsetReset, StreamsBuilder, Topology
from penstock.broker import LocalBroker
from penstock.errors import MissingSourceTopicError
from penstock.kafka.admin import Admin
from penstock.kafka.consumer_group import GroupOffset
from penstock.kafka.producing import RecordProducer
from penstock.kafka.transactions import TransactionalProducer
from penstock.spark.job import Job, Limits
from penstock.spark.losses import DataLossError
from penstock.spark.offsets import records_between
from penstock.spark.planner import Planner
from penstock.spark.samples import Samples
from tests.conftest import TopicFactory
from tests.spark.fake_kafka import make_job

pytestmark = pytest.mark.broker
SERDES: dict[str, Any] = {"key_serde": "string", "value_serde": "string"}


@pytest.fixture(scope="module")
def settings(broker: LocalBroker) -> dict[str, Any]:
    return {"bootstrap.servers": broker.bootstrap_servers}


@pytest.fixture(scope="module")
def admin(settings: dict[str, Any]) -> Admin:
    return Admin(settings)


def plan(job: Job, settings: dict[str, Any]) -> Planner:
    return Planner(job, Admin(settings), Samples(settings, group_id="planner-test"), lambda: 100_000)


def send(settings: dict[str, Any], topic: str, times: Iterable[int], *, size: int = 10, partition: int = 0) -> None:
    producer = RecordProducer(settings)
    for timestamp in times:
        producer.produce(topic, b"v" * size, b"k", partition=partition, timestamp=timestamp)
    producer.flush()


def stream(topic: str, **options: Any) -> Topology:
    builder = StreamsBuilder()
    builder.stream(topic, **options).to("out")
    return builder.build()


def test_joined_topics_come_in_time_order_and_within_the_limit(
    settings: dict[str, Any], topic: TopicFactory, tmp_path: Path
) -> None:
    orders, prices = topic("orders"), topic("prices")
    send(settings, orders, range(1000, 101_000, 10))
    send(settings, prices, range(1000, 101_000, 500))
    builder = StreamsBuilder()
    table = builder.table(prices, **SERDES)
    builder.stream(orders, **SERDES).join(table, lambda a, b: a, **SERDES).to("out")
    made = make_job(builder, {orders: 1, prices: 1}, tmp_path, limits=Limits(max_records=2000))
    planner = plan(made, settings)
    position, batches = planner.initial(), 0
    while (end := planner.next(position)) is not position:
        taken, known = end["topics"][orders]["0"], end["topics"][prices]["0"]
        if taken < 10_000 and known < 200:
            assert abs(taken * 10 - known * 500) <= 500
        assert records_between(position, end) <= 2000
        position, batches = end, batches + 1
    assert position["topics"] == {orders: {"0": 10_000}, prices: {"0": 200}}
    assert 5 <= batches <= 8


def test_sizes_are_those_of_the_records(settings: dict[str, Any], topic: TopicFactory, tmp_path: Path) -> None:
    large = topic("large")
    send(settings, large, range(1, 301), size=20_000)
    made = make_job(stream(large), {large: 1}, tmp_path, limits=Limits(max_bytes=1_000_000))
    planner = plan(made, settings)
    assert planner.next(planner.initial())["topics"][large]["0"] == 49


def test_only_decided_transactions_are_planned(settings: dict[str, Any], topic: TopicFactory, tmp_path: Path) -> None:
    name = topic()
    send(settings, name, [1, 2, 3])
    planner = plan(make_job(stream(name), {name: 1}, tmp_path), settings)
    producer = TransactionalProducer(settings, "planner-test")
    producer.init()
    producer.begin()
    producer.produce(name, b"v", b"k", timestamp=4)
    first = planner.next(planner.initial())
    assert first["topics"] == {name: {"0": 3}}
    assert planner.next(first) is first
    producer.commit()
    deadline = time.monotonic() + 30
    while (second := planner.next(first)) is first and time.monotonic() < deadline:
        pass  # the commit's marks are written behind its answer
    assert second["topics"] == {name: {"0": 5}}, "the record and the mark of the commit"


@pytest.mark.parametrize(
    ("reset", "offset"), [("earliest", 0), ("latest", 5), (AutoOffsetReset.by_duration(30_000), 2)]
)
def test_start_policies(reset: Any, offset: int, settings: dict[str, Any], topic: TopicFactory, tmp_path: Path) -> None:
    name = topic()
    send(settings, name, [50_000, 60_000, 70_000, 80_000, 90_000])
    planner = plan(make_job(stream(name, offset_reset=reset), {name: 1}, tmp_path), settings)
    assert planner.initial()["topics"] == {name: {"0": offset}}
    send(settings, name, [95_000])
    assert plan(make_job(stream(name, offset_reset=reset), {name: 1}, tmp_path), settings).initial()["topics"] == {
        name: {"0": offset}
    }


def test_the_offsets_of_a_group(settings: dict[str, Any], admin: Admin, topic: TopicFactory, tmp_path: Path) -> None:
    name = topic(partitions=2)
    send(settings, name, range(1, 6))
    assert admin.group_offsets("app", [(name, 0)]) == {}  # waits until Kafka knows who keeps the group
    admin.set_group_offsets("app", {(name, 0): GroupOffset(3)})
    made = make_job(stream(name), {name: 2}, tmp_path, start={"from_group": True})
    assert plan(made, settings).initial()["topics"] == {name: {"0": 3, "1": 0}}


def test_deleted_records(settings: dict[str, Any], admin: Admin, topic: TopicFactory, tmp_path: Path) -> None:
    name = topic()
    send(settings, name, range(1, 11))
    strict = plan(make_job(stream(name), {name: 1}, tmp_path), settings)
    start = strict.initial()
    admin.delete_records({(name, 0): 4})
    with pytest.raises(DataLossError, match=rf"offset 0 of {name}-0 is next, but it holds offsets 4 to 10"):
        strict.next(start)
    lenient = plan(make_job(stream(name), {name: 1}, tmp_path, fail_on_data_loss=False), settings)
    end = lenient.next(start)
    assert (end["topics"], end["begins"], end["lost"]) == ({name: {"0": 10}}, {name: {"0": 4}}, 4)


def test_a_deleted_topic(settings: dict[str, Any], admin: Admin, topic: TopicFactory, tmp_path: Path) -> None:
    name = topic()
    planner = plan(make_job(stream(name), {name: 1}, tmp_path), settings)
    start = planner.initial()
    admin.delete_topics([name])
    with pytest.raises(
        MissingSourceTopicError, match=f"the topic {name}, read by .* was deleted while the application"
    ):
        planner.next(start)
