from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock import AutoOffsetReset, StreamsBuilder, Topology
from penstock.errors import StreamsError
from penstock.kafka.consumer_group import GroupOffset
from penstock.spark.job import Job
from penstock.spark.positions import decide_start
from tests.spark.fake_kafka import FakeKafka, make_job

A = ("a", 0)


def topology(*topics: str, pattern: str | None = None, reset: Any = None) -> Topology:
    builder = StreamsBuilder()
    builder.stream(*topics, pattern=pattern, offset_reset=reset).to("out")
    return builder.build()


@pytest.fixture
def kafka() -> FakeKafka:
    """Partitions hold offsets 10 to 20; offset n has timestamp n."""
    found = FakeKafka()
    for topic in ("a", "b"):
        for partition in (0, 1):
            found.add(topic, range(10, 20), partition=partition, start=10)
    return found


def job(tmp_path: Path, reset: Any = None, **start: Any) -> Job:
    return make_job(topology("a", reset=reset), {"a": 2}, tmp_path, start=start)


@pytest.mark.parametrize(
    ("reset", "start", "offset"),
    [
        (None, {}, 10),
        ("earliest", {"policy": "latest"}, 10),
        (None, {"policy": "latest"}, 20),
        ("latest", {"policy": "earliest"}, 20),
        (AutoOffsetReset.latest(), {}, 20),
        (AutoOffsetReset.by_duration(5), {}, 12),
        (None, {"policy": "by_duration", "duration_ms": 2}, 15),
        (AutoOffsetReset.by_duration(0), {}, 17),
        (AutoOffsetReset.by_duration("1h"), {}, 10),
        (None, {"positions": {"a": {"0": 13}}}, 13),
        ("none", {"positions": {"a": {"0": 13}}}, 13),
        (None, {"positions": {"a": {"0": "latest"}}}, 20),
        ("latest", {"positions": {"a": "earliest"}}, 10),
        ("latest", {"positions": {"a": {"timestamp": 14}}}, 14),
        (None, {"positions": {"a": {"0": {"timestamp": 14}}}}, 14),
        (None, {"positions": {"a": {"0": {"timestamp": 99}}}}, 20),
        ("latest", {"positions": {"b": {"0": 13}}}, 20),
        ("latest", {"positions": {"a": {"1": 13}}}, 20),
    ],
)
def test_where_a_partition_starts(
    reset: Any, start: dict[str, Any], offset: int, kafka: FakeKafka, tmp_path: Path
) -> None:
    assert decide_start(job(tmp_path, reset, **start), kafka, [A], now=17) == {A: offset}


def test_by_duration_starts_at_the_end_if_there_is_nothing_that_young(kafka: FakeKafka, tmp_path: Path) -> None:
    assert decide_start(job(tmp_path, AutoOffsetReset.by_duration(1)), kafka, [A], now=1000) == {A: 20}


@pytest.mark.parametrize(("asked", "offset"), [(3, 10), (99, 20)])
def test_an_offset_that_kafka_does_not_have_moves_to_the_next_it_has(
    asked: int, offset: int, kafka: FakeKafka, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = job(tmp_path, positions={"a": {"0": asked}})
    assert decide_start(made, kafka, [A], now=0) == {A: offset}
    assert f"a-0 is to start at offset {asked}, but holds 10 to 20: it starts at {offset}" in caplog.text


def test_without_a_policy_there_must_be_a_position(kafka: FakeKafka, tmp_path: Path) -> None:
    with pytest.raises(StreamsError) as raised:
        decide_start(job(tmp_path, "none"), kafka, [A], now=0)
    text = str(raised.value)
    assert text.startswith("partition 0 of topic a, read by KSTREAM-SOURCE-0000000000 at ")
    assert text.endswith(
        "has no position, and its offset reset is none. Say where to start with penstock.start.offsets, or choose another "
        "policy (consumer.auto.offset.reset, or offset_reset= of the source)."
    )


def test_the_offsets_of_the_group_count_only_if_asked_for(kafka: FakeKafka, tmp_path: Path) -> None:
    kafka.groups["app"] = {A: GroupOffset(16)}
    both = [A, ("a", 1)]
    assert decide_start(job(tmp_path / "1"), kafka, both, now=0) == {A: 10, ("a", 1): 10}
    assert decide_start(job(tmp_path / "2", from_group=True), kafka, both, now=0) == {A: 16, ("a", 1): 10}


def test_a_group_offset_that_is_gone_leaves_the_choice_to_the_policy(
    kafka: FakeKafka, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kafka.groups["app"] = {A: GroupOffset(4)}
    assert decide_start(job(tmp_path, "latest", from_group=True), kafka, [A], now=0) == {A: 20}
    assert "the group's offset of a-0 is out of range: its policy counts" in caplog.text


def test_offsets_that_were_decided_win_over_the_group(kafka: FakeKafka, tmp_path: Path) -> None:
    kafka.groups["app"] = {A: GroupOffset(16)}
    made = job(tmp_path, from_group=True, positions={"a": {"0": 12}})
    assert decide_start(made, kafka, [A], now=0) == {A: 12}


def test_a_start_is_decided_once(kafka: FakeKafka, tmp_path: Path) -> None:
    made = job(tmp_path, "latest")
    assert decide_start(made, kafka, [A], now=0) == {A: 20}
    kafka.add("a", range(10, 90), start=10)
    assert decide_start(made, kafka, [A], now=0) == {A: 20}
    assert json.loads((tmp_path / "start.json").read_text()) == {"a": {"0": 20}}
    assert decide_start(made, kafka, [("a", 1)], now=0) == {("a", 1): 20}
    assert json.loads((tmp_path / "start.json").read_text()) == {"a": {"0": 20, "1": 20}}


def test_a_file_in_the_checkpoint_decides(kafka: FakeKafka, tmp_path: Path) -> None:
    (tmp_path / "start.json").write_text('{"a": {"0": 15}}')
    made = job(tmp_path, positions={"a": {"0": 12, "1": 13}})
    assert decide_start(made, kafka, [A], now=0) == {A: 15}


def test_a_start_that_was_decided_does_not_move_with_retention(kafka: FakeKafka, tmp_path: Path) -> None:
    """Records that are gone before the first batch are a loss like any other: the planner fails on them or counts them."""
    made = job(tmp_path)
    assert decide_start(made, kafka, [A], now=0) == {A: 10}
    kafka.add("a", range(15, 20), start=15)
    assert decide_start(made, kafka, [A], now=0) == {A: 10}


def test_new_partitions_of_a_topic_that_is_read_start_with_their_first_record(kafka: FakeKafka, tmp_path: Path) -> None:
    made = job(tmp_path, "latest")
    assert decide_start(made, kafka, [("a", 1)], now=0, known_topics=["a"]) == {("a", 1): 10}


@pytest.mark.parametrize(
    ("positions", "offset"),
    [
        ({"a": "latest"}, 10),
        ({"a": {"timestamp": 14}}, 10),
        ({"a": {"0": 12}}, 10),
        ({"a": {"1": 13}}, 13),
        ({"a": {"1": {"timestamp": 14}}}, 14),
    ],
)
def test_whatever_the_setting_says_of_the_whole_topic(
    positions: dict[str, Any], offset: int, kafka: FakeKafka, tmp_path: Path
) -> None:
    made = job(tmp_path, positions=positions)
    assert decide_start(made, kafka, [("a", 1)], now=0, known_topics=["a"]) == {("a", 1): offset}


@pytest.mark.parametrize("positions", [{}, {"a": {"0": 17}}, {"a": {"0": "latest"}}, {"a": "latest"}])
def test_a_topic_that_was_made_again_starts_with_its_first_record_whatever_was_decided_for_the_old_one(
    positions: dict[str, Any], kafka: FakeKafka, tmp_path: Path
) -> None:
    made = job(tmp_path, "latest", positions=positions, from_group=True)
    kafka.groups["app"] = {A: GroupOffset(16), ("a", 1): GroupOffset(16)}
    decide_start(made, kafka, [A, ("a", 1)], now=0)
    kafka.add("a", range(3))
    assert decide_start(made, kafka, [A], now=0, made_again=[A]) == {A: 0}
    assert json.loads((tmp_path / "start.json").read_text())["a"]["0"] == 0
    assert decide_start(made, kafka, [A], now=0) == {A: 0}, "noted, should the query begin again"


def test_a_new_topic_of_a_pattern_starts_by_its_policy(kafka: FakeKafka, tmp_path: Path) -> None:
    made = make_job(topology(pattern="a|b", reset="latest"), {"a": 2, "b": 1}, tmp_path)
    assert decide_start(made, kafka, [("b", 0)], now=0, known_topics=["a"]) == {("b", 0): 20}


def test_nothing_is_asked_for_nothing(tmp_path: Path) -> None:
    assert decide_start(job(tmp_path), FakeKafka(), [], now=0) == {}
    assert not (tmp_path / "start.json").exists()
