"""Parts of tasks and offsets that need neither Spark nor Kafka."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.connect.connectors.file_stream_source import FileStreamSourceConnector
from penstock.connect.connectors.mock_sink import MockSinkConnector
from penstock.connect.errors import BadRequestError, ConnectError
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.launch import Launch
from penstock.connect.spark.offsets import SinkGroup, SourceStore
from penstock.connect.spark.topic_creation import TopicCreation
from penstock.connect.spark.worker_session import WorkerSession
from penstock.connect.validation import ConnectorKind
from penstock.kafka.admin import TopicSummary
from penstock.kafka.consumer_group import GroupOffset
from penstock.kafka.errors import TopicMissing

CREATION = {
    "topic.creation.groups": "logs, wide",
    "topic.creation.default.partitions": "1",
    "topic.creation.default.replication.factor": "3",
    "topic.creation.default.retention.ms": "5",
    "topic.creation.logs.include": "log-.*",
    "topic.creation.logs.exclude": "log-secret",
    "topic.creation.logs.cleanup.policy": "compact",
    "topic.creation.wide.include": ".*-wide, log-.*",
    "topic.creation.wide.partitions": "12",
}


def job(kind: ConnectorKind = ConnectorKind.SOURCE, **config: str) -> ConnectJob:
    given = {key.replace("_", "."): value for key, value in config.items()}
    return ConnectJob("run", "c", kind, given, ({},), {"consumer": {}, "producer": {}, "admin": {}})


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("other", (1, 3, {"retention.ms": "5"})),
        ("log-a", (1, 3, {"retention.ms": "5", "cleanup.policy": "compact"})),
        ("log-secret", (12, 3, {"retention.ms": "5"})),
        ("x-wide", (12, 3, {"retention.ms": "5"})),
    ],
)
def test_a_topic_is_made_as_the_first_group_it_belongs_to_says(topic: str, expected: Any) -> None:
    creation = TopicCreation(ConnectJob("run", "c", ConnectorKind.SOURCE, CREATION, ({},), {"admin": {}}))
    assert creation.settings(topic) == expected


class Group:
    """A cluster with two topics and one group."""

    def __init__(self) -> None:
        self.offsets: dict[tuple[str, int], int] = {}

    def topics(self) -> dict[str, TopicSummary]:
        return {name: TopicSummary(name, 2, 1, False) for name in ("a", "b")}

    def group_offsets(self, group: str, partitions: Any) -> dict[tuple[str, int], GroupOffset]:
        return {at: GroupOffset(self.offsets[at]) for at in partitions if at in self.offsets}

    def set_group_offsets(self, group: str, offsets: Any) -> None:
        for topic, _ in offsets:
            if topic not in self.topics():
                raise TopicMissing(topic)
        self.offsets |= {at: found.offset for at, found in offsets.items()}

    def delete_group(self, group: str) -> None:
        self.offsets = {}


def at(topic: str, partition: Any, offset: Any) -> dict[str, Any]:
    position = None if offset is None else {"kafka_offset": offset}
    return {"partition": {"kafka_topic": topic, "kafka_partition": partition}, "offset": position}


def test_offsets_of_a_sink_are_set_and_forgotten_one_by_one() -> None:
    admin: Any = Group()
    group = SinkGroup(job(ConnectorKind.SINK, topics="a,b"), admin, MockSinkConnector)
    group.alter([at("a", 0, 5), at("b", "1", "7")])
    assert admin.offsets == {("a", 0): 5, ("b", 1): 7}
    group.alter([at("a", 0, None), at("a", 1, 2)])
    assert group.entries() == [at("a", 1, 2), at("b", 1, 7)]
    group.reset()
    assert group.entries() == []
    with pytest.raises(BadRequestError, match="Topic 'nope' does not exist"):
        group.alter([at("nope", 0, 1)])
    with pytest.raises(BadRequestError, match="need to be integers"):
        group.alter([at("a", "x", 1)])


def test_only_topics_of_the_sink_are_shown() -> None:
    admin: Any = Group()
    admin.offsets = {("a", 0): 1, ("b", 0): 2}
    assert SinkGroup(job(ConnectorKind.SINK, topics_regex="b.*"), admin, MockSinkConnector).entries() == [at("b", 0, 2)]


def test_offsets_of_a_source_that_cannot_be_used_change_nothing(tmp_path: Path) -> None:
    store = SourceStore(tmp_path)
    config = {"file": "f", "topic": "t"}
    good = {"partition": {"filename": "f"}, "offset": {"position": 3}}
    store.alter(FileStreamSourceConnector, config, [good])
    with pytest.raises(ConnectError, match="Long value"):
        store.alter(FileStreamSourceConnector, config, [{**good, "offset": {"position": "x"}}])
    with pytest.raises(BadRequestError, match="primitive"):
        store.alter(FileStreamSourceConnector, config, [{**good, "offset": {"position": [1]}}])
    assert store.entries() == [good]
    store.alter(FileStreamSourceConnector, config, [{**good, "offset": None}])
    assert store.entries() == []


class Greedy(MockSinkConnector):
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{}] * (max_tasks + 1)


def test_more_tasks_than_allowed_are_refused_unless_told_otherwise(tmp_path: Path) -> None:
    launch = Launch({"bootstrap.servers": "localhost:1"}, session=WorkerSession({}))
    context: Any = object()
    config = {"name": "greedy", "connector.class": f"{__name__}:Greedy", "topics": "t"}
    options: Any = {"store": SourceStore(tmp_path), "context": _Quiet(), "listener": context, "paused": True}
    with pytest.raises(ConnectError, match="has generated 2 tasks, which is greater than 1"):
        launch.start("greedy", config, **options)
    started = launch.start("greedy", {**config, "tasks.max.enforce": "false"}, **options)
    assert len(started.run.job.tasks) == 2


@pytest.mark.parametrize("enabled", ["true", "False"])
def test_a_worker_may_keep_sources_from_making_topics(enabled: str) -> None:
    launch = Launch({"bootstrap.servers": "localhost:1", "topic.creation.enable": enabled}, session=WorkerSession({}))
    config = {"name": "c", "connector.class": "FileStreamSource", "topic": "t", **CREATION}
    assert ("topic.creation.default.partitions" in launch.job("c", config).config) == (enabled == "true")


class _Quiet:
    def request_task_reconfiguration(self) -> None: ...

    def raise_error(self, error: Exception) -> None: ...
