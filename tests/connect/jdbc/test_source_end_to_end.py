"""The configurations of docs/connect/jdbc-source.md, run by a worker with Kafka, Spark and PostgreSQL; worker and server are killed."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer

from penstock.broker import LocalBroker
from penstock.connect.config.properties import parse_properties
from tests.connect.running_worker import RunningWorker, eventually
from tests.servers.fixtures import OwnDatabase
from tests.servers.server import DatabaseServer

PAGE = Path(__file__).parents[3] / "docs" / "connect" / "jdbc-source.md"
ROWS = 150_000
CREATED = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
JSON = "org.apache.kafka.connect.json.JsonConverter"


def documented() -> list[dict[str, str]]:
    """The configurations of the page."""
    found = re.findall(r"```properties\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [dict(parse_properties(text)) for text in found]


class Topic:
    """What was committed to a topic so far."""

    def __init__(self, broker: LocalBroker, name: str) -> None:
        self._consumer = Consumer({
            "bootstrap.servers": broker.bootstrap_servers, "group.id": f"{name}-reader", "auto.offset.reset": "earliest",
            "isolation.level": "read_committed", "topic.metadata.refresh.interval.ms": 500,
        })  # fmt: skip
        self._consumer.subscribe([name])
        self.values: list[dict[str, Any]] = []

    def count(self) -> int:
        for message in self._consumer.consume(5000, timeout=0.5):
            if not message.error():
                self.values.append(json.loads(message.value() or b"null"))
        return len(self.values)

    def close(self) -> None:
        self._consumer.close()


@pytest.fixture
def shop(postgres_database: OwnDatabase, monkeypatch: pytest.MonkeyPatch) -> OwnDatabase:
    """The database of the page."""
    monkeypatch.setenv("SHOP_PASSWORD", postgres_database.config["connection.password"])
    postgres_database.execute(
        "CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL)",
        "CREATE TABLE orders (id bigserial PRIMARY KEY, customer integer NOT NULL, price numeric(10,2) NOT NULL, "
        "changed timestamptz NOT NULL DEFAULT now())",
        "CREATE INDEX ON orders (changed, id)",
        "INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bob')",
        f"INSERT INTO orders (customer, price) SELECT 1 + n % 2, n % 200 FROM generate_series(1, {ROWS}) n",
    )
    return postgres_database


@pytest.fixture
def topics(broker: LocalBroker) -> Iterator[list[Topic]]:
    opened: list[Topic] = []
    yield opened
    for one in opened:
        one.close()


@pytest.mark.broker
@pytest.mark.spark
def test_each_row_comes_once_though_worker_and_server_are_killed(
    broker: LocalBroker, shop: OwnDatabase, tmp_path: Path, topics: list[Topic]
) -> None:
    tables, query = documented()
    where = {key: shop.config[key] for key in ("connection.url", "connection.user")}
    prefix, single = f"shop-{tmp_path.name}-", f"big-{tmp_path.name}"
    tables |= {**where, **CREATED, "topic.prefix": prefix, "poll.interval.ms": "100", "table.poll.interval.ms": "500"}
    tables["table.whitelist"] = "orders,later"
    query |= {**where, **CREATED, "topic.prefix": single, "poll.interval.ms": "100"}
    orders, big, later = (Topic(broker, name) for name in (f"{prefix}orders", single, f"{prefix}later"))
    topics += [orders, big, later]
    server = shop.server
    assert isinstance(server, DatabaseServer)
    settings = {
        "bootstrap.servers": broker.bootstrap_servers, "value.converter": JSON, "value.converter.schemas.enable": "false",
        "value.converter.decimal.format": "NUMERIC", "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    }  # fmt: skip
    with RunningWorker(tmp_path, settings) as worker:
        assert worker.http.put("/connectors/tables/config", json={**tables, "name": "tables"}).status_code == 201
        eventually(lambda: orders.count() > 0)
        server.kill()
        server.start()
        worker.stop(signal.SIGKILL)
    file = tmp_path / "tables.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in {**tables, "name": "tables"}.items()))
    with RunningWorker(tmp_path, settings, connectors=[file]) as worker:
        eventually(lambda: orders.count() >= ROWS)
        shop.execute("UPDATE orders SET price = 7, changed = now() WHERE id = 1")
        eventually(lambda: orders.count() > ROWS)
        assert worker.http.put("/connectors/big/config", json={**query, "name": "big"}).status_code == 201
        # A table made while it runs has a topic of its own.
        shop.execute(
            "CREATE TABLE later (id serial PRIMARY KEY, changed timestamptz NOT NULL DEFAULT now())",
            "INSERT INTO later DEFAULT VALUES",
        )
        eventually(lambda: later.count() == 1)
        eventually(lambda: big.count() >= ROWS * 99 // 200)
        assert worker.state("tables") == worker.state("big") == "RUNNING"
        entries = worker.http.get("/connectors/tables/offsets").json()["offsets"]
        assert {"protocol": "1", "table": "public.orders"} in [entry["partition"] for entry in entries]
        assert server.password not in worker.log.read_text()
    assert [row["id"] for row in orders.values] == [*range(1, ROWS + 1), 1]
    assert orders.values[-1]["price"] == 7
    assert orders.values[0].keys() == {"id", "customer", "price", "changed"}
    assert [row["id"] for row in big.values] == [n for n in range(1, ROWS + 1) if n % 200 > 100]
    assert {row["name"] for row in big.values} == {"Ann", "Bob"}
