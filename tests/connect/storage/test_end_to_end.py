"""A worker as a user runs it: a topic to Parquet files, with Kafka and Spark."""

from __future__ import annotations

import json
import signal
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer

from penstock.broker import LocalBroker
from tests.conftest import TopicFactory
from tests.connect.running_worker import RunningWorker, eventually

SCHEMA = {
    "type": "struct",
    "optional": False,
    "fields": [
        {"field": "id", "type": "int64", "optional": False},
        {"field": "city", "type": "string", "optional": True},
    ],
}
JSON = "org.apache.kafka.connect.json.JsonConverter"


def produce(broker: LocalBroker, topic: str, ids: range) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 50})
    for number in ids:
        value = {"schema": SCHEMA, "payload": {"id": number, "city": f"c{number % 3}"}}
        producer.produce(topic, json.dumps(value).encode(), partition=number % 2)
        producer.poll(0)
    producer.flush()


def rows(lake: Path, topic: str) -> list[int]:
    paths = sorted((lake / "topics" / topic).rglob("*.parquet"))
    return sorted(
        number for path in paths for number in pq.read_table(path, partitioning=None).column("id").to_numpy().tolist()
    )


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.slow
def test_a_topic_becomes_parquet_files_though_the_worker_is_killed(broker: LocalBroker, topic: TopicFactory) -> None:
    orders = topic(partitions=2)
    produce(broker, orders, range(8000))
    # Not in tmp_path: names of sockets are short.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home, lake = Path(folder), Path(folder, "lake")
        config = {
            "connector.class": "FileSystemSink",
            "tasks.max": "2",
            "topics": orders,
            "store.url": str(lake),
            "format.class": "ParquetFormat",
            "flush.size": "700",
            "rotate.schedule.interval.ms": "2000",
            "timezone": "UTC",
            "partitioner.class": "FieldPartitioner",
            "partition.field.name": "city",
            "value.converter": JSON,
        }
        settings = {"bootstrap.servers": broker.bootstrap_servers}
        with RunningWorker(home, settings) as worker:
            assert worker.http.put("/connectors/lake/config", json=config).status_code == 201
            eventually(lambda: rows(lake, orders))
            worker.stop(signal.SIGKILL)
        produce(broker, orders, range(8000, 10_000))
        with RunningWorker(home, settings) as worker:
            if not worker.http.get("/connectors").json():
                worker.http.put("/connectors/lake/config", json=config)
            # The clock completes the last files, though no record comes any more.
            eventually(lambda: len(rows(lake, orders)) >= 10_000)
            assert worker.state("lake") == "RUNNING"
            offsets = eventually(lambda: worker.http.get("/connectors/lake/offsets").json()["offsets"])
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline and sum(o["offset"]["kafka_offset"] for o in offsets) < 10_000:
                time.sleep(0.2)
                offsets = worker.http.get("/connectors/lake/offsets").json()["offsets"]
            assert sum(o["offset"]["kafka_offset"] for o in offsets) == 10_000
        assert rows(lake, orders) == list(range(10_000))
        assert not [path for path in (lake / "topics" / "+tmp").rglob("*") if path.is_file()]
        table = pq.read_table(lake / "topics" / orders, partitioning=None)
        assert table.num_rows == 10_000
