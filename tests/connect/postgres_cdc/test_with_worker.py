"""The configuration of the page, run by a worker on Spark: tables to topics, also when the worker is killed."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from penstock.broker import LocalBroker
from tests.connect.running_worker import RunningWorker, eventually
from tests.servers.fixtures import OwnDatabase

PAGE = Path(__file__).parents[3] / "docs" / "connect" / "postgres-cdc.md"
JSON = "org.apache.kafka.connect.json.JsonConverter"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def records(broker: LocalBroker, topic: str) -> list[tuple[Any, Any]]:
    """The committed records of a topic of one partition: keys and values."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": topic, "isolation.level": "read_committed"}
    consumer = Consumer({**settings, "enable.partition.eof": True})
    found: list[tuple[Any, Any]] = []
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while True:
            message = consumer.poll(10)
            if message is None or message.error() is not None:
                return found  # its end, or it is not there yet
            key, value = message.key(), message.value()
            found.append((key and json.loads(key), value and json.loads(value)))
    finally:
        consumer.close()


@pytest.mark.broker
@pytest.mark.spark
def test_the_configuration_of_the_page(broker: LocalBroker, database: OwnDatabase, tmp_path: Path) -> None:
    server, role = database.server, f"connect_{database.name}"
    database.execute(
        "CREATE TABLE customers (id int PRIMARY KEY, name text)",
        "CREATE TABLE orders (id int PRIMARY KEY, customer int)",
        "INSERT INTO customers VALUES (1, 'Ann')",
        *blocks("sql")[0].replace("connect", role).replace("...", "pw").strip().split(";")[:-1],
        f"GRANT CREATE ON DATABASE {database.name} TO {role}",
        f"ALTER TABLE customers OWNER TO {role}",
        f"ALTER TABLE orders OWNER TO {role}",
    )
    prefix = f"shop-{database.name}"
    text = blocks("properties")[0]
    for setting, value in {
        "database.hostname": "127.0.0.1",
        "database.port": server.port,  # type: ignore[union-attr]
        "database.user": role,
        "database.password": "pw",
        "database.dbname": database.name,
        "topic.prefix": prefix,
    }.items():
        text = re.sub(rf"(?m)^{setting}=.*$", f"{setting}={value}", text)
    file = tmp_path / "changes.properties"
    file.write_text(text + "topic.creation.default.partitions=1\ntopic.creation.default.replication.factor=1\n")
    customers, orders = f"{prefix}.public.customers", f"{prefix}.public.orders"
    converters = {"key.converter": JSON, "value.converter": JSON}
    schemaless = {f"{name}.schemas.enable": "false" for name in converters}
    settings = {"bootstrap.servers": broker.bootstrap_servers, **converters, **schemaless}
    with RunningWorker(tmp_path, settings, connectors=[file]) as worker:
        eventually(lambda: worker.http.get("/connectors/shop-changes/topics").json()["shop-changes"]["topics"])
        database.execute("INSERT INTO orders SELECT i, 1 FROM generate_series(1, 500) i")
        eventually(lambda: len(records(broker, orders)) >= 500)
        (entry,) = worker.http.get("/connectors/shop-changes/offsets").json()["offsets"]
        assert entry["partition"] == {"server": prefix}
        # Killed with changes on their way.
        database.execute("INSERT INTO orders SELECT i, 1 FROM generate_series(501, 20000) i")
        worker.stop(signal.SIGKILL)
    database.execute("UPDATE customers SET name = 'Anna' WHERE id = 1", "DELETE FROM orders WHERE id = 7")
    with RunningWorker(tmp_path, settings, connectors=[file]) as worker:
        eventually(lambda: len(records(broker, orders)) >= 20002)
        eventually(lambda: len(records(broker, customers)) >= 2)
        assert worker.state("shop-changes") == "RUNNING"
    found = records(broker, orders)
    assert [key["id"] for key, _ in found] == [*range(1, 20001), 7, 7]
    assert [value and value["op"] for _, value in found][-3:] == ["c", "d", None]
    rows = [(value["op"], value["after"]) for _, value in records(broker, customers)]
    assert rows == [("r", {"id": 1, "name": "Ann"}), ("u", {"id": 1, "name": "Anna"})]
    database.execute(
        blocks("sql")[-1].strip().splitlines()[-1].replace("'shop_changes'", "slot_name").rstrip(";")
        + " FROM pg_replication_slots WHERE NOT active AND database = current_database()"
    )
    database.execute(f"REASSIGN OWNED BY {role} TO penstock", f"DROP OWNED BY {role}", f"DROP ROLE {role}")
