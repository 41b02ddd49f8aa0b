"""Old values that go on with an update: each is what went on before for the same key, so that aggregates below add up."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import StreamsBuilder
from tests.properties.playing import Input, Player

CONFIG = {"default.key.serde": "string", "default.value.serde": "string"}
CACHED = {**CONFIG, "statestore.cache.max.bytes": 1000}
UNCACHED = {**CONFIG, "statestore.cache.max.bytes": 0}


def counted(table: Any) -> None:
    """How many rows the table has, as the aggregate of all its updates."""
    table.group_by(lambda key, value: ("rows", "x"), value_serde="string").count().to_stream().map_values(str).to("out")


def last_count(build: Any, config: dict[str, Any], *records: Input) -> Any:
    builder = StreamsBuilder(config)
    counted(build(builder))
    with Player(builder, config) as player:
        player.play(records)
        player.flush()
        return player.rows()[-1].value


@pytest.mark.parametrize("kind", ["join", "left_join", "outer_join"])
@pytest.mark.parametrize("config", [CACHED, UNCACHED])
def test_a_pair_that_changes_on_both_sides_in_one_batch_is_one_row(kind: str, config: dict[str, Any]) -> None:
    """The caches of both sides are flushed one after the other: each change meets what the other side has forwarded."""

    def build(builder: StreamsBuilder) -> Any:
        return getattr(builder.table("left"), kind)(builder.table("right"), lambda left, right: f"{left}{right}")

    records = [Input("left", "a", "1", 0), Input("right", "a", "2", 0), Input("left", "a", "3", 1)]
    assert last_count(build, config, *records) == "1"


@pytest.mark.parametrize("config", [CACHED, UNCACHED])
def test_joined_windows_that_change_in_one_batch_are_one_row(config: dict[str, Any]) -> None:
    def build(builder: StreamsBuilder) -> Any:
        left, right = (builder.stream(topic).group_by_key().tumbling(10).count() for topic in ("left", "right"))
        return left.outer_join(right, lambda left, right: f"{left}{right}")

    assert last_count(build, config, Input("left", "a", "1", 0), Input("right", "a", "2", 0)) == "1"


@pytest.mark.parametrize("config", [CACHED, UNCACHED])
def test_joined_sessions_that_change_in_one_batch_are_one_row(config: dict[str, Any]) -> None:
    def build(builder: StreamsBuilder) -> Any:
        left, right = (builder.stream(topic).group_by_key().session(10).count() for topic in ("left", "right"))
        return left.outer_join(right, lambda left, right: f"{left}{right}")

    assert last_count(build, config, Input("left", "a", "1", 0), Input("right", "a", "2", 0)) == "1"


@pytest.mark.parametrize("config", [CACHED, UNCACHED])
def test_a_sliding_window_made_twice_by_one_record_is_one_row(config: dict[str, Any]) -> None:
    """[1, 9] is the right window of the record at 0 and the left window of the one at 9."""

    def build(builder: StreamsBuilder) -> Any:
        return builder.stream("in").group_by_key().sliding(8).count()

    assert last_count(build, config, Input("in", "a", "x", 0), Input("in", "a", "x", 9)) == "2"
