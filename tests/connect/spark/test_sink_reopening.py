"""Which partitions a sink's host opens; no record is read, so that no Kafka is needed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, ClassVar

import pytest

from penstock.connect.api import SinkConnector, SinkTask, TopicPartition
from penstock.connect.data import SinkRecord
from penstock.connect.failures import SystemClock
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.sink_host import SinkHost
from penstock.connect.validation import ConnectorKind


class NotingTask(SinkTask):
    opened: ClassVar[list[TopicPartition]] = []
    wake_ms = 700

    def open(self, partitions: Collection[TopicPartition]) -> None:
        self.opened.extend(partitions)

    def put(self, records: list[SinkRecord]) -> None: ...


class NotingSink(SinkConnector):
    TASK = NotingTask


@pytest.fixture
def host() -> Iterator[SinkHost]:
    config = {
        "name": "noting",
        "connector.class": f"{__name__}:NotingSink",
        "topics": "t",
        "key.converter": "StringConverter",
        "value.converter": "StringConverter",
    }
    clients: dict[str, dict[str, Any]] = {
        role: {"bootstrap.servers": "127.0.0.1:1", "log_level": 0} for role in ("consumer", "producer", "admin")
    }
    made = SinkHost(ConnectJob("run", "noting", ConnectorKind.SINK, config, (config,), clients), 0, SystemClock())
    NotingTask.opened.clear()
    yield made
    made.close()


def run(host: SinkHost, *ranges: list[Any]) -> dict[str, Any]:
    return host.run({"task": 0, "batch": 0, "ranges": list(ranges)})


def test_a_partition_is_opened_once_while_it_goes_on(host: SinkHost) -> None:
    report = run(host, ["t", 0, 5, 5, 5])
    assert report["committed"] == [["t", 0, 5]]
    assert report["wake_ms"] == 700
    run(host, ["t", 0, 5, 5, 5], ["t", 1, 2, 2, 2])
    assert NotingTask.opened == [("t", 0), ("t", 1)]


def test_a_partition_that_another_process_had_in_between_is_opened_again(host: SinkHost) -> None:
    run(host, ["t", 0, 5, 5, 5])
    run(host, ["t", 0, 9, 9, 9])
    assert NotingTask.opened == [("t", 0), ("t", 0)]
    run(host, ["t", 0, 9, 9, 9])
    assert len(NotingTask.opened) == 2
