"""What a reset would change, with a Kafka that only answers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder, StreamsError, Topology
from penstock.kafka.admin import TopicSummary
from penstock.runtime.reset import ResetPlan, plan_reset
from penstock.runtime.reset_target import PartitionId, ResetTarget

NAMES = (
    "in", "shop-counts-changelog", "shop-by-value-repartition", "shop-commits-0", "shop-orders-counts-changelog",
    "shop-orders-commits-0", "shop-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000005-topic", "shop-output",
)  # fmt: skip


class Kafka:
    def topics(self) -> dict[str, TopicSummary]:
        return {name: TopicSummary(name, 1, 1, False) for name in NAMES}

    def group_offsets(self, group: str, partitions: Iterable[PartitionId]) -> dict[PartitionId, Any]:
        return {}

    def start_offsets(self, partitions: Iterable[PartitionId]) -> dict[PartitionId, int]:
        return dict.fromkeys(partitions, 0)

    end_offsets = start_offsets


def plan(checkpoint: Path, application_id: str = "shop", **options: Any) -> ResetPlan:
    return plan_reset(Kafka(), application_id, str(checkpoint), ResetTarget(), **options)  # type: ignore[arg-type]


def topology() -> Topology:
    builder = StreamsBuilder()
    builder.stream("in").group_by(lambda value: value, name="by-value").count(store="counts")
    return builder.build()


def test_only_topics_with_its_name_are_deleted(tmp_path: Path) -> None:
    with pytest.raises(StreamsError, match="the topic in is no internal topic of shop: those begin with shop-"):
        plan(tmp_path, internal_topics=["shop-counts-changelog", "in"])


@pytest.mark.parametrize("known_by", ["checkpoint", "topology", "both"])
def test_topics_of_an_application_whose_name_begins_with_this_ones_stay(tmp_path: Path, known_by: str) -> None:
    if known_by != "topology":
        kept = {"stores": {"counts": 1}, "internal_topics": {"by-value-repartition": 1}}
        (tmp_path / "application.json").write_text(json.dumps(kept))
    found = plan(tmp_path, topology=None if known_by == "checkpoint" else topology())
    assert found.topics == ("shop-by-value-repartition", "shop-commits-0", "shop-counts-changelog")
    assert not found.guessed
    assert found.unknown == (
        "shop-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000005-topic",
        "shop-orders-counts-changelog",
    )
    assert plan(tmp_path / "other", "shop-orders").topics == ("shop-orders-commits-0", "shop-orders-counts-changelog")


def test_what_only_the_checkpoint_or_only_the_topology_knows_counts(tmp_path: Path) -> None:
    kept = {"stores": {"orders-counts": 0}, "internal_topics": {}}
    (tmp_path / "application.json").write_text(json.dumps(kept))
    assert plan(tmp_path, topology=topology()).topics == (
        "shop-by-value-repartition", "shop-commits-0", "shop-counts-changelog", "shop-orders-counts-changelog",
    )  # fmt: skip


@pytest.mark.parametrize("text", [None, "{}", "{"])
def test_by_name_alone_only_if_nothing_is_known(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "application.json").write_text(text)
    found = plan(tmp_path)
    assert found.guessed
    assert found.unknown == ()
    assert found.topics == (
        "shop-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000005-topic", "shop-by-value-repartition", "shop-commits-0",
        "shop-counts-changelog", "shop-orders-counts-changelog",
    )  # fmt: skip


def test_one_that_was_reset_and_did_not_run_since_has_no_topics(tmp_path: Path) -> None:
    (tmp_path / "start.json").write_text('{"in": {"0": 0}}')
    found = plan(tmp_path)
    assert found.topics == ("shop-commits-0",)
    assert not found.guessed
    assert len(found.unknown) == 4


def test_topics_that_are_named_are_all_that_go(tmp_path: Path) -> None:
    found = plan(tmp_path, internal_topics=["shop-counts-changelog"])
    assert found.topics == ("shop-commits-0", "shop-counts-changelog")
    assert not found.guessed
    assert found.unknown == ()
