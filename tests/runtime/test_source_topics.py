from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder, Topology
from penstock.errors import ConfigError, MissingSourceTopicError, TopologyError
from penstock.kafka.admin import TopicSummary
from penstock.kafka.errors import BrokerUnreachable
from penstock.runtime import launch
from penstock.runtime.commit_topics import commits_group, commits_topic, existing_commit_topics
from penstock.runtime.launch import new_layout
from penstock.runtime.settings import Settings
from penstock.runtime.source_topics import grown_with_state, partition_counts, refuse_unknown_starts, require_outputs
from penstock.runtime.spark_host import SparkHost
from penstock.spark.job import Job
from penstock.spark.layout import lay_out


def topics(**partitions: int) -> dict[str, TopicSummary]:
    named = {name.replace("_", "-"): count for name, count in partitions.items()}
    return {name: TopicSummary(name, count, 1, name.startswith("--")) for name, count in named.items()}


class Kafka:
    def __init__(self, **partitions: int) -> None:
        self.partitions = partitions

    def topics(self) -> dict[str, TopicSummary]:
        if "away" in self.partitions:
            raise BrokerUnreachable("h:1")
        return topics(**self.partitions)


def reading(*names: str, pattern: str | None = None) -> Topology:
    builder = StreamsBuilder()
    builder.stream(*names, pattern=pattern).to("out")
    return builder.build()


def joining() -> Topology:
    builder = StreamsBuilder()
    builder.stream("orders").join(builder.table("prices", store="prices"), lambda a, b: a).to("out")
    return builder.build()


def test_topics_by_name_by_pattern_and_of_global_tables() -> None:
    builder = StreamsBuilder()
    builder.stream("orders").to("out")
    builder.stream(pattern="clicks-.*").to("out")
    builder.global_table("names", store="names")
    existing = topics(orders=2, names=3, clicks_eu=4, clicks_us=1, out=1)
    assert partition_counts(builder.build(), existing) == {"orders": 2, "clicks-eu": 4, "clicks-us": 1, "names": 3}


def test_a_topic_that_is_not_there_is_named_with_its_line_and_the_nearest() -> None:
    with pytest.raises(MissingSourceTopicError) as raised:
        partition_counts(reading("orders"), topics(oders=1))
    assert str(raised.value).startswith("the topic orders, read by KSTREAM-SOURCE-0000000000 at test_source_topics.py:")
    assert str(raised.value).endswith("does not exist. Did you mean oders? Create it: penstock topics create orders")
    with pytest.raises(MissingSourceTopicError, match="the topic out, written by KSTREAM-SINK-0000000001"):
        require_outputs(reading("orders"), topics(orders=1))
    with pytest.raises(MissingSourceTopicError, match="the topic dead, the dead letter topic, does not exist"):
        require_outputs(reading("orders"), topics(orders=1, out=1), [("dead", "the dead letter topic")])


def starts() -> Topology:
    builder = StreamsBuilder()
    builder.stream("orders").group_by(lambda value: value, name="by").count(name="counts")
    builder.stream(pattern="clicks-.*").to("out")
    builder.global_table("names", store="names")
    return builder.build()


STARTS = {"orders": 3, "clicks-eu": 1, "names": 1, "by-repartition": 3}


@pytest.mark.parametrize(
    ("positions", "text"),
    [
        ({"ordres": {"0": 17}}, "ordres, which is no topic that the application reads. Did you mean orders?"),
        ({"zzz": "latest"}, "zzz, which is no topic that the application reads. It reads clicks-eu, orders."),
        ({"by-repartition": "latest"}, "by-repartition, which is no topic that the application reads. It reads clicks"),
        ({"names": "latest"}, "names, which is the topic of a global table. Remove it: those are always read from the"),
        ({"orders": {"0": 1, "3": 1}}, "orders, which has no partition 3. It has 3, counted from 0."),
        ({"orders": {"10": 1, "4": 1}}, "orders, which has no partition 4 and no 10. It has 3, counted from 0."),
        ({"clicks-eu": {"1": 1}}, "clicks-eu, which has no partition 1. It has 1, counted from 0."),
    ],
)
def test_positions_that_nothing_would_start_at_are_refused(positions: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        refuse_unknown_starts(starts(), STARTS, positions)
    assert f"penstock.start.offsets has a position for {text}" in str(raised.value)


def test_positions_of_topics_that_may_still_come_are_not(caplog: pytest.LogCaptureFixture) -> None:
    given = {"orders": {"0": 1, "2": "latest"}, "clicks-eu": {"timestamp": 5}}
    refuse_unknown_starts(starts(), STARTS, given)
    assert caplog.messages == []
    refuse_unknown_starts(starts(), STARTS, {"clicks-us": {"7": 1}})
    assert caplog.messages == ["penstock.start.offsets has a position for clicks-us, which does not exist yet"]


def test_a_start_with_such_a_position_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "Admin", lambda settings: Kafka(orders=1, out=1))
    settings = Settings(
        application_id="app", bootstrap_servers="h:1", penstock_start_offsets={"ordres": {0: 17}}
    )  # fmt: skip
    with pytest.raises(ConfigError, match=r"ordres, which is no topic .* Did you mean orders\?"):
        launch.make_job(reading("orders"), settings, checkpoint=str(tmp_path), local=str(tmp_path), cores=1)
    assert list(tmp_path.iterdir()) == []


def test_nothing_changed_no_new_layout() -> None:
    assert new_layout(reading(pattern="a.*"), Kafka(a1=2, b=7), {"a1": 2}) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("now", [{"a1": 3}, {"a1": 2, "a2": 1}, {"a2": 2}])
def test_new_partitions_and_topics_of_a_pattern_are_laid_out(now: dict[str, int]) -> None:
    layout = new_layout(reading(pattern="a.*"), Kafka(**now), {"a1": 2})  # type: ignore[arg-type]
    assert layout is not None
    assert layout.partitions == now
    assert layout.tasks == {0: max(now.values())}


def test_repartition_topics_keep_their_partitions() -> None:
    builder = StreamsBuilder()
    builder.stream("orders").group_by(lambda value: value, name="by").count(name="counts")
    running = {"orders": 2, "by-repartition": 2}
    layout = new_layout(builder.build(), Kafka(orders=4), running)  # type: ignore[arg-type]
    assert layout is not None
    assert layout.partitions == {"orders": 4, "by-repartition": 2}


def test_which_state_is_spread_by_a_topic_that_grew() -> None:
    before = {"orders": 1, "prices": 1}
    assert grown_with_state(joining(), before, {"orders": 2, "prices": 2}) == {
        "orders": ["prices"],
        "prices": ["prices"],
    }
    assert grown_with_state(joining(), before, before) == {}
    assert grown_with_state(reading("orders"), {"orders": 1}, {"orders": 2}) == {}


def host(topology: Topology, kafka: Any, partitions: dict[str, int]) -> SparkHost:
    """A host in the middle of its life, without the session that it would have."""
    made = SparkHost.__new__(SparkHost)
    made._topology, made._admin, made._partitions, made._misfit = topology, kafka, partitions, ""
    return made


def test_topics_that_do_not_fit_yet_are_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    kafka = Kafka(orders=2, prices=1)
    running = host(joining(), kafka, {"orders": 1, "prices": 1})
    assert [running.topics_changed(), running.topics_changed()] == [False, False]
    assert [message.partition(":")[0] for message in caplog.messages] == ["new partitions are not read yet"]
    kafka.partitions["prices"] = 2
    assert running.topics_changed()
    assert "orders now has 2 partitions instead of 1" in caplog.text
    assert "where prices has no state of it" in caplog.text


def test_while_kafka_is_away_nothing_changed(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert not host(reading("orders"), Kafka(away=1), {"orders": 1}).topics_changed()
        with pytest.raises(TopologyError):
            new_layout(joining(), Kafka(orders=2, prices=1), {"orders": 1, "prices": 1})  # type: ignore[arg-type]
    assert caplog.messages == []


def test_commit_topics_have_the_names_that_tasks_use() -> None:
    job = Job(
        run="r", topology=reading("a"), layout=lay_out(reading("a"), {"a": 1}), slots=1,
        config=Settings(application_id="app").task_config(), kafka={}, exactly_once=True, checkpoint="c", local="l",
    )  # fmt: skip
    assert commits_topic("app", 3) == job.commits_topic(3)
    assert commits_group("app") == job.commits_group
    found = existing_commit_topics("app", topics(app_commits_0=1, app_commits_x=1, apple_commits_0=1, app=1))
    assert [topic.name for topic in found] == ["app-commits-0"]
