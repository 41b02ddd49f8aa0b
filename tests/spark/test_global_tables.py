"""Global tables in a worker: what it shows is what the batch was planned with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from penstock import StreamsBuilder
from penstock.broker import LocalBroker
from penstock.kafka.errors import BrokerUnreachable, KafkaClientError
from penstock.spark.failures import is_transient
from penstock.spark.job import Job
from penstock.spark.tasks import globals as in_worker
from tests.conftest import TopicFactory
from tests.spark.application import Kafka
from tests.spark.in_process import InProcess

pytestmark = pytest.mark.broker


class World:
    """Orders that are joined with the rates of their currencies, a global table."""

    def __init__(self, broker: LocalBroker, topic: TopicFactory, folder: Path) -> None:
        self.kafka = Kafka(broker.bootstrap_servers)
        self.orders, self.rates, self.out = topic("orders"), topic("rates"), topic("out")
        self.folder = folder
        builder = StreamsBuilder()
        rates = builder.global_table(self.rates, store="rates", key_serde="string", value_serde="string")
        orders = builder.stream(self.orders, key_serde="string", value_serde="string")
        orders.left_join(rates, lambda order, rate: f"{order} {rate}", on=lambda key, order: key).to(self.out)
        self.topology = builder.build()

    def app(self, **settings: Any) -> InProcess:
        return InProcess(
            self.topology,
            self.folder,
            bootstrap_servers=self.kafka.settings["bootstrap.servers"],
            application_id=f"app-{self.orders}",
            **settings,
        )

    def results(self) -> list[str]:
        return [m.value().decode() for m in self.kafka.read_settled(self.out)]


@pytest.fixture
def world(broker: LocalBroker, topic: TopicFactory, tmp_path: Path) -> Any:
    yield World(broker, topic, tmp_path)
    in_worker.close_global_stores()


def test_a_batch_that_is_done_again_sees_the_same_table(world: World) -> None:
    kafka = world.kafka
    kafka.send(world.rates, ("usd", "1", 1), ("eur", "2", 2))
    kafka.send(world.orders, ("usd", "a", 1), ("gbp", "b", 2))
    app = world.app()
    assert app.batch(commit=False)
    kafka.send(world.rates, ("usd", "7", 3), ("gbp", "8", 4))
    in_worker.global_stores(app.job, ((world.rates, 0, 4),), lambda: 0)  # as another task of the process may have
    assert world.app().batch()  # by the log it is the same batch
    assert world.results() == ["a 1", "b None"] * 2
    kafka.send(world.orders, ("usd", "c", 3), ("gbp", "d", 4))
    world.app().batches()
    assert world.results()[4:] == ["c 7", "d 8"]


def test_a_copy_that_is_ahead_is_made_anew(world: World) -> None:
    world.kafka.send(world.rates, ("usd", "1", 1), ("usd", "2", 2))
    job = world.app().job
    ahead = at(job, world.rates, 2)
    assert (ahead["rates"].get("usd")[0], at(job, world.rates, 1)["rates"].get("usd")[0]) == ("2", "1")
    assert at(job, world.rates, 2)["rates"].get("usd")[0] == "2"


def at(job: Job, topic: str, end: int) -> dict[str, Any]:
    return in_worker.global_stores(job, ((topic, 0, end),), lambda: 0)


def test_records_that_retention_removed_meanwhile_do_not_end_the_application(world: World) -> None:
    kafka = world.kafka
    kafka.send(world.rates, ("usd", "1", 1))
    kafka.send(world.orders, ("usd", "a", 1))
    app = world.app()
    app.batches()
    kafka.send(world.rates, ("eur", "2", 2), ("usd", "3", 3))
    kafka.admin.delete_records({(world.rates, 0): 2})
    kafka.send(world.orders, ("usd", "b", 2), ("eur", "c", 3))
    app.batches()
    assert world.results() == ["a 1", "b 3", "c None"]


def test_a_table_that_was_followed_half_way_is_made_anew(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.kafka.send(world.rates, ("usd", "1", 1), ("usd", "2", 2))
    job = world.app().job
    first = at(job, world.rates, 1)

    def stalls(*args: Any) -> Any:
        raise BrokerUnreachable("localhost:1", cause="away")

    with monkeypatch.context() as patch:
        patch.setattr(in_worker, "read_range", stalls)
        with pytest.raises(BrokerUnreachable):
            at(job, world.rates, 2)
    after = at(job, world.rates, 2)
    assert after is not first
    assert after["rates"].get("usd")[0] == "2"


def test_a_broker_that_is_away_at_the_start_is_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class Away:
        def get_watermark_offsets(self, partition: Any, timeout: float) -> Any:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))

    job = world.app().job
    with monkeypatch.context() as patch:
        patch.setattr(in_worker, "open_range_consumer", lambda *args, **options: Away())
        with pytest.raises(KafkaClientError) as raised:
            at(job, world.rates, 0)
    assert is_transient(type(raised.value).__name__, str(raised.value))
