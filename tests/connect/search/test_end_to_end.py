"""The configuration of docs/connect/search-sink.md, run by a worker with Kafka, Spark and OpenSearch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.broker import LocalBroker
from penstock.connect.config.properties import parse_properties
from tests.connect.running_worker import RunningWorker, eventually
from tests.servers.opensearch import OpenSearchServer

PAGE = Path(__file__).parents[3] / "docs" / "connect" / "search-sink.md"


def documented() -> dict[str, str]:
    """The configuration of the page."""
    found = re.search(r"```properties\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return dict(parse_properties(found[1]))


def produce(broker: LocalBroker, topic: str, records: list[tuple[str, bytes | None]]) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for key, value in records:
        producer.produce(topic, key=key, value=value)
    assert producer.flush(30) == 0


def consumed(broker: LocalBroker, topic: str, count: int) -> list[Any]:
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": topic, "auto.offset.reset": "earliest"}
    )
    try:
        consumer.subscribe([topic])
        return consumer.consume(count, timeout=30)
    finally:
        consumer.close()


@pytest.mark.broker
@pytest.mark.spark
def test_the_documented_configuration_brings_a_topic_to_the_index(
    broker: LocalBroker, server: OpenSearchServer, tmp_path: Path
) -> None:
    topic = f"Orders-{tmp_path.name}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=1)])[topic].result(timeout=30)
    index, refused = topic.lower(), f"{topic}-refused"
    server.call("PUT", f"/{index}", {"mappings": {"properties": {"n": {"type": "long"}}}})
    config = {
        **documented(), "topics": topic, "connection.url": server.url, "read.timeout.ms": "30000",
        "errors.deadletterqueue.topic.name": refused,
    }  # fmt: skip
    name = config.pop("name")
    orders: list[tuple[str, bytes | None]] = [(f"k{n % 300}", orjson.dumps({"n": n})) for n in range(2000)]
    orders[700] = ("k400", b'{"n": "many"}')
    orders[1999] = ("k299", None)
    produce(broker, topic, orders)
    expected: dict[str, Any] = {}
    for key, value in orders:
        expected[key] = None if value is None else orjson.loads(value)["n"]
    del expected["k299"], expected["k400"]
    with RunningWorker(tmp_path, {"bootstrap.servers": broker.bootstrap_servers}) as worker:
        assert worker.http.put(f"/connectors/{name}/config", json=config).status_code == 201
        eventually(lambda: {key: one["n"] for key, one in server.documents(index).items()} == expected)
        assert worker.state(name) == "RUNNING"
        (letter,) = consumed(broker, refused, 1)
        headers = dict(letter.headers())
        assert (letter.key(), letter.value()) == (b"k400", b'{"n": "many"}')
        assert headers["__connect.errors.topic"] == topic.encode()
        assert b"mapper_parsing_exception" in headers["__connect.errors.exception.message"]

        def committed() -> int:
            answer = worker.http.get(f"/connectors/{name}/offsets").json()["offsets"]
            return sum(entry["offset"]["kafka_offset"] for entry in answer)

        eventually(lambda: committed() == 2000)
        # From the beginning: every document is there already, and stays as it is.
        assert worker.http.put(f"/connectors/{name}/stop").status_code == 204
        eventually(lambda: worker.http.get(f"/connectors/{name}/status").json()["connector"]["state"] == "STOPPED")
        assert worker.http.delete(f"/connectors/{name}/offsets").status_code == 200
        worker.http.put(f"/connectors/{name}/resume")
        eventually(lambda: committed() == 2000)
        assert {key: one["n"] for key, one in server.documents(index).items()} == expected
        assert worker.state(name) == "RUNNING"
