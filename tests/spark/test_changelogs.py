"""Which stores have changelog topics, with which settings, and what is written to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock import JoinWindows, Stores, StreamsBuilder, TimeWindows, UnlimitedWindows
from penstock.broker import LocalBroker
from penstock.kafka.admin import Admin
from penstock.kafka.errors import TopicMismatch
from penstock.spark.changelogs import Changelog, changelogs, ensure_changelogs
from penstock.spark.tasks.changelog import MARK, TaskChangelog
from tests.conftest import TopicFactory
from tests.spark.application import Kafka
from tests.spark.fake_kafka import make_job
from tests.spark.in_process import InProcess

TEXT: dict[str, Any] = {"key_serde": "string", "value_serde": "string"}
DAY = 86_400_000


def grouped(builder: StreamsBuilder, topic: str = "in") -> Any:
    return builder.stream(topic, **TEXT).group_by_key(**TEXT)


def logs(builder: StreamsBuilder, tmp_path: Path, partitions: dict[str, int] | None = None, **settings: Any) -> Any:
    return changelogs(make_job(builder, partitions or {"in": 3}, tmp_path, **settings))


def test_named_stores_have_a_changelog(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    grouped(builder).count(store="counts")
    grouped(builder).reduce(lambda a, b: a)
    found = logs(builder, tmp_path)
    assert found == {
        "counts": Changelog(
            "counts",
            "timestamped_key_value",
            "app-counts-changelog",
            0,
            3,
            (("cleanup.policy", "compact"), ("message.timestamp.type", "CreateTime")),
        )
    }


@pytest.mark.parametrize(("mode", "names"), [("all", ["KSTREAM-REDUCE-STATE-STORE-0000000001", "mine"]), ("none", [])])
def test_all_or_none(mode: str, names: list[str], tmp_path: Path) -> None:
    builder = StreamsBuilder()
    grouped(builder).reduce(lambda a, b: a).filter(lambda v: True, store="mine")
    assert sorted(logs(builder, tmp_path, penstock_changelogs=mode)) == names


def test_logging_can_be_switched_off_for_a_store(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    grouped(builder).count(store="counts", logging=False)
    assert logs(builder, tmp_path, penstock_changelogs="all") == {}


def test_generated_names_of_all_kinds_are_known(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    left, right = builder.stream("in", **TEXT), builder.stream("other", **TEXT)
    joined = left.outer_join(right, lambda a, b: a, JoinWindows("1s", "1s"), **TEXT)
    counted = joined.group_by_key(**TEXT).windowed_by(TimeWindows("1s")).count()
    counted.suppress(until="1m").to_stream().foreach(lambda k, v: None)
    table = builder.table("table", **TEXT)
    table.join(builder.table("table2", **TEXT), lambda a, b: a, on=lambda v: v)
    topics = {"in": 1, "other": 1, "table": 1, "table2": 1}
    assert logs(builder, tmp_path, topics) == {}
    assert len(logs(builder, tmp_path, topics, penstock_changelogs="all")) >= 7


def configs(builder: StreamsBuilder, tmp_path: Path, **settings: Any) -> dict[str, str]:
    (log,) = logs(builder, tmp_path, **settings).values()
    return dict(log.configs)


def test_settings_of_windows(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    grouped(builder).windowed_by(TimeWindows("1h", grace="1m")).count(store="w")
    found = configs(builder, tmp_path)
    assert (found["cleanup.policy"], found["retention.ms"]) == ("compact,delete", str(3_660_000 + DAY))
    less = configs(builder, tmp_path, windowstore_changelog_additional_retention_ms=1000)
    assert less["retention.ms"] == "3661000"


def test_windows_without_end_are_kept_for_ever(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    grouped(builder).windowed_by(UnlimitedWindows.of()).count(store="w")
    assert configs(builder, tmp_path)["retention.ms"] == str(2**63 - 1)


def test_settings_of_versioned_tables(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    builder.table("in", store="v", versioned="1h", **TEXT)
    found = configs(builder, tmp_path)
    assert (found["cleanup.policy"], found["min.compaction.lag.ms"]) == ("compact", str(3_600_000 + DAY))


def test_settings_of_joins(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    left, right = builder.stream("in", **TEXT), builder.stream("other", **TEXT)
    left.join(right, lambda a, b: a, JoinWindows("1s", "1s"), store="j", **TEXT).to("out")
    found = logs(builder, tmp_path, {"in": 1, "other": 1})
    assert sorted(found) == ["j-other-join-store", "j-this-join-store"]
    for log in found.values():
        assert dict(log.configs)["cleanup.policy"] == "delete"
        assert dict(log.configs)["retention.ms"] == str(2000 + DAY)


def test_the_application_and_the_store_may_say_otherwise(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    grouped(builder).count(store="s", logging={"segment.bytes": 1000, "cleanup.policy": "delete"})
    found = configs(builder, tmp_path, topic_segment_bytes=5000, topic_min_insync_replicas=2)
    assert found == {
        "cleanup.policy": "delete",
        "message.timestamp.type": "CreateTime",
        "min.insync.replicas": "2",
        "segment.bytes": "1000",
    }


def test_a_table_that_reuses_its_topic_has_that_one(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    builder.table("in", store="t", **TEXT)
    job = make_job(builder.build({"topology.optimization": "all"}), {"in": 3}, tmp_path)
    (log,) = changelogs(job).values()
    assert (log.topic, log.is_source) == ("in", True)


# ---------------------------------------------------------------------- what a task sends


class Output:
    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []

    def produce_all(self, records: list[Any]) -> None:
        self.sent += records


def test_the_last_record_of_a_pass_carries_a_mark(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    grouped(builder).count(store="counts")
    changelog = TaskChangelog(make_job(builder, {"in": 3}, tmp_path), 0, 2)
    store: Any = type("Store", (), {"on_change": None})()
    changelog.listen({"counts": store})
    store.on_change(b"a", b"1", 5)
    store.on_change(b"b", None, -1)
    output: Any = Output()
    changelog.send(output, lambda name: None, 7, {"sstream time": 5})
    first, last = output.sent
    assert first == ("app-counts-changelog", b"1", b"a", 2, None, None, 5, None)
    assert last[:7] == ("app-counts-changelog", None, b"b", 2, None, None, 1), "the client takes 0 for now"
    assert json.loads(dict(last[7])[MARK]) == {"sequence": 7, "metadata": {"sstream time": 5}, "times": {}}
    changelog.send(output, lambda name: None, 8, {})
    assert len(output.sent) == 2, "sent once"


def test_a_pass_that_was_committed_before_sends_nothing(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    grouped(builder).count(store="counts")
    changelog = TaskChangelog(make_job(builder, {"in": 1}, tmp_path), 0, 0)
    store: Any = type("Store", (), {"on_change": None})()
    changelog.listen({"counts": store})
    store.on_change(b"a", b"1", 5)
    changelog.send(None, lambda name: None, 7, {})
    output: Any = Output()
    changelog.send(output, lambda name: None, 8, {})
    assert output.sent == []


# ---------------------------------------------------------------------- in Kafka


@pytest.mark.broker
def test_topics_are_made_and_grow_with_the_tasks(broker: LocalBroker, topic: TopicFactory, tmp_path: Path) -> None:
    admin, source = Admin({"bootstrap.servers": broker.bootstrap_servers}), topic("in")
    builder = StreamsBuilder()
    grouped(builder, source).windowed_by(TimeWindows("1h")).count(store=f"w-{source}")
    name = f"app-w-{source}-changelog"
    assert ensure_changelogs(admin, make_job(builder, {source: 2}, tmp_path)) == [name]
    described = admin.describe_topic(name)
    assert len(described.partitions) == 2
    assert described.configs == {
        "cleanup.policy": "compact,delete",
        "message.timestamp.type": "CreateTime",
        "retention.ms": str(3_600_000 + DAY),
    }
    assert ensure_changelogs(admin, make_job(builder, {source: 2}, tmp_path)) == []
    assert ensure_changelogs(admin, make_job(builder, {source: 3}, tmp_path)) == []
    assert admin.topic(name).partitions == 3
    with pytest.raises(TopicMismatch, match="has 3 partitions, 1 are needed"):
        ensure_changelogs(admin, make_job(builder, {source: 1}, tmp_path))


@pytest.mark.broker
@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
def test_a_changed_key_is_one_record_a_batch_in_the_partition_of_its_task(
    guarantee: str, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    kafka, source = Kafka(broker.bootstrap_servers), topic("in", partitions=2)
    kafka.send(source, ("a", "1", 10), ("b", "2", 20), ("a", "3", 30), partition=0)
    kafka.send(source, ("a", "4", 40), partition=1)  # another partition than its key's: another task
    builder = StreamsBuilder()
    builder.add_state_store(
        Stores.key_value_store_builder(Stores.persistent_key_value_store("unused"), "string", "long")
    )
    grouped(builder, source).count(store="counts")
    name = f"one-{source}"
    app = InProcess(
        builder,
        tmp_path,
        bootstrap_servers=broker.bootstrap_servers,
        application_id=name,
        processing_guarantee=guarantee,
    )
    app.batches()
    kafka.send(source, ("b", "5", 50), partition=0)
    app.batches()
    found = [
        (m.partition(), m.key(), int.from_bytes(m.value(), "big"), m.timestamp()[1])
        for m in kafka.read_settled(f"{name}-counts-changelog")
    ]
    assert found == [(0, b"b", 1, 20), (0, b"a", 2, 30), (0, b"b", 2, 50), (1, b"a", 1, 40)]
