"""The configurations of docs/connect/jdbc-sink.md, run by a worker with Kafka, Spark and PostgreSQL; the worker is killed."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.broker import LocalBroker
from penstock.connect.config.properties import parse_properties
from tests.connect.running_worker import STRING, RunningWorker, eventually
from tests.servers.fixtures import OwnDatabase

PAGE = Path(__file__).parents[3] / "docs" / "connect" / "jdbc-sink.md"
RECORDS, KEYS = 100_000, 30_000
_HEAD = json.dumps(
    {
        "type": "struct",
        "optional": False,
        "fields": [
            {"field": "n", "type": "int32", "optional": False},
            {"field": "item", "type": "string", "optional": True},
        ],
    }
)


def documented() -> list[dict[str, str]]:
    """The configurations of the page."""
    found = re.findall(r"```properties\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [dict(parse_properties(text)) for text in found]


def orders() -> list[tuple[str, bytes | None]]:
    """Orders that are made, changed and deleted."""
    made: list[tuple[str, bytes | None]] = []
    for n in range(RECORDS):
        key = f"k{n * 7919 % KEYS}"
        payload = json.dumps({"n": n, "item": f"it's item {n}"})
        made.append((key, None if n % 11 == 5 else f'{{"schema":{_HEAD},"payload":{payload}}}'.encode()))
    return made


def final(records: list[tuple[str, bytes | None]]) -> dict[str, int]:
    rows: dict[str, int] = {}
    for n, (key, value) in enumerate(records):
        if value is None:
            rows.pop(key, None)
        else:
            rows[key] = n
    return rows


class Topics:
    """The topics of the test."""

    def __init__(self, broker: LocalBroker) -> None:
        self._settings: dict[str, Any] = {"bootstrap.servers": broker.bootstrap_servers}

    def create(self, *names: str) -> None:
        admin = AdminClient(self._settings)
        new = [NewTopic(name, num_partitions=3, replication_factor=1) for name in names]
        for done in admin.create_topics(new).values():
            done.result(timeout=30)

    def produce(self, topic: str, records: list[tuple[str, bytes | None]]) -> None:
        producer = Producer({**self._settings, "queue.buffering.max.messages": 1_000_000})
        for key, value in records:
            producer.produce(topic, key=key, value=value)
        assert producer.flush(60) == 0

    def consume(self, topic: str, count: int) -> list[Any]:
        consumer = Consumer({**self._settings, "group.id": topic, "auto.offset.reset": "earliest"})
        try:
            consumer.subscribe([topic])
            return consumer.consume(count, timeout=30)
        finally:
            consumer.close()


@pytest.mark.broker
@pytest.mark.spark
def test_the_table_is_exactly_what_the_topic_says_though_the_worker_is_killed(
    broker: LocalBroker, postgres_database: OwnDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = Topics(broker)
    first, second, letters = (f"{name}-{tmp_path.name}" for name in ("orders", "clicks", "letters"))
    topics.create(first, second)
    upsert, infer = documented()
    monkeypatch.setenv("SHOP_PASSWORD", postgres_database.config["connection.password"])
    where = {key: postgres_database.config[key] for key in ("connection.url", "connection.user")}
    upsert |= {**where, "topics": first, "table.name.format": "orders"}
    infer |= {
        **where, "topics": second, "table.name.format": "clicks",
        "errors.tolerance": "all", "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.topic.replication.factor": "1", "errors.deadletterqueue.context.headers.enable": "true",
    }  # fmt: skip
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "key.converter": STRING,
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    }
    files = []
    for config in (upsert, infer):
        file = tmp_path / f"{config['name']}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in config.items()))
        files.append(file)

    def rows(query: str) -> list[tuple[Any, ...]]:
        try:
            return postgres_database.query(query)
        except Exception as error:
            if "does not exist" in str(error):
                return []
            raise

    records = orders()
    topics.produce(first, records[: RECORDS // 3])
    topics.produce(
        second, [("a", b'{"page": "/", "ms": 3}'), ("b", b'"no object"'), ("c", b'{"page": "/x", "ms": 4.5}')]
    )
    with RunningWorker(tmp_path, settings, connectors=files) as worker:
        eventually(lambda: rows("SELECT 1 FROM orders LIMIT 1"))
        topics.produce(first, records[RECORDS // 3 :])
        worker.stop(signal.SIGKILL)
        killed_at = rows("SELECT max(n) FROM orders")[0][0]
    assert killed_at < RECORDS - 1, "it was killed too late to say anything"
    expected = sorted(final(records).items())
    with RunningWorker(tmp_path, settings, connectors=files) as worker:
        eventually(lambda: rows("SELECT count(*) FROM orders WHERE n > 99900")[0][0] > 80)
        eventually(lambda: sorted(rows("SELECT id, n FROM orders")) == expected)
        eventually(lambda: sorted(rows("SELECT page, ms FROM clicks")) == [("/", 3.0), ("/x", 4.5)])
        assert worker.state("orders-to-postgres") == worker.state("clicks-to-postgres") == "RUNNING"
        (letter,) = topics.consume(letters, 1)
        assert (letter.key(), letter.value()) == (b"b", b'"no object"')
        message = dict(letter.headers())["__connect.errors.exception.message"].decode()
        assert "its value has no schema: it is a str" in message
        shown = worker.http.get("/connectors/orders-to-postgres").json()["config"]["connection.password"]
        assert shown == "${env:SHOP_PASSWORD}"
    password = postgres_database.config["connection.password"]
    assert not any(password in log.read_text(errors="replace") for log in tmp_path.glob("*.log"))
