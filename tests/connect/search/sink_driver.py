"""A search sink's task as a worker drives it, without a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.connect.api import CONNECTORS, SinkConnector, TopicPartition
from penstock.connect.connectors.search.sink import SearchSinkTask
from penstock.connect.data import SinkRecord
from penstock.connect.errors import ConnectError

CONFLUENT = "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector"


class Reports:
    """Keeps what a task reports; fails where errors are not tolerated, as a worker does."""

    def __init__(self, *, tolerant: bool) -> None:
        self.tolerant = tolerant
        self.reported: list[tuple[int, Exception]] = []

    def report(self, record: SinkRecord, error: Exception) -> None:
        self.reported.append((record.offset, error))
        if not self.tolerant:
            raise ConnectError(f"Tolerance exceeded in error handler: {error}") from error

    @property
    def offsets(self) -> list[int]:
        return [offset for offset, _ in self.reported]


class Sink:
    """A started task.

    Args:
        config: The connector's configuration; underscores in names stand for dots.
    """

    def __init__(self, config: Mapping[str, str]) -> None:
        given = {name.replace("_", "."): value for name, value in config.items()}
        connector = given.pop("connector.class", CONFLUENT)
        self.config = {"name": "search", **given}
        found = CONNECTORS.find(connector)
        assert issubclass(found, SinkConnector)
        assert [value.errors for value in found.validate(self.config)] == []
        task = found(self.config).task_configs(1)[0]
        made = found.TASK(task)
        assert isinstance(made, SearchSinkTask)
        self.task = made
        self.reports = Reports(tolerant=given.get("errors.tolerance") == "all")
        self.task.context = self.reports
        self.task.start()

    def put(self, *records: SinkRecord) -> None:
        self.task.put(list(records))
        ends = {TopicPartition(one.topic or "", one.partition or 0): one.offset + 1 for one in records}
        assert self.task.pre_commit(ends) == ends

    def stop(self) -> None:
        self.task.stop()


def record(topic: str, offset: int, key: Any, value: Any, *, partition: int = 0, **more: Any) -> SinkRecord:
    """A record as it comes from Kafka; without schema unless one is given."""
    return SinkRecord(
        topic, partition, more.pop("key_schema", None), key, more.pop("value_schema", None), value, offset=offset,
        original_topic=topic, original_partition=partition, original_offset=offset, **more,
    )  # fmt: skip
