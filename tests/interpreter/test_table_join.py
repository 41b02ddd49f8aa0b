from __future__ import annotations

from typing import Any

import pytest

from penstock import StreamsBuilder
from tests.interpreter.piping import Piping, pair
from tests.properties.playing import Input, Player, final

KINDS = ("inner", "left", "outer")
CACHED = {"statestore.cache.max.bytes": 10_485_760}


def join(kind: str, left: Any, right: Any, **options: Any) -> Any:
    return {"inner": left.join, "left": left.left_join, "outer": left.outer_join}[kind](right, pair, **options)


def run(kind: str, config: dict[str, Any] | None = None, **options: Any) -> Piping:
    builder = StreamsBuilder()
    join(kind, builder.table("left"), builder.table("right"), **options).to_stream().to("out")
    return Piping(builder, config)


T = "tombstone"
ROWS: list[tuple[str, str | None, str | None, str | None, str | None]] = [
    # topic, value, inner, left, outer; row n at n
    ("left", None, None, None, None),
    ("right", None, None, None, None),
    ("left", "A", None, "A+None", "A+None"),
    ("right", "a", "A+a", "A+a", "A+a"),
    ("left", "B", "B+a", "B+a", "B+a"),
    ("right", "b", "B+b", "B+b", "B+b"),
    ("left", None, T, T, "None+b"),
    ("right", None, None, None, T),
    ("left", "C", None, "C+None", "C+None"),
    ("right", "c", "C+c", "C+c", "C+c"),
    ("right", None, T, "C+None", "C+None"),
    ("left", None, None, T, T),
    ("right", None, None, None, None),
    ("right", "d", None, None, "None+d"),
    ("left", "D", "D+d", "D+d", "D+d"),
]


@pytest.mark.parametrize("config", [{}, CACHED])
@pytest.mark.parametrize("options", [{}, {"store": "result"}])
@pytest.mark.parametrize("kind", KINDS)
def test_what_each_change_emits(kind: str, options: dict[str, Any], config: dict[str, Any]) -> None:
    column = 2 + KINDS.index(kind)
    with run(kind, config, **options) as piping:
        for timestamp, row in enumerate(ROWS, 1):
            expected = row[column]
            outputs = [] if expected is None else [("k", None if expected is T else expected, timestamp)]
            assert piping.pipe(row[0], "k", row[1], timestamp) == outputs, (timestamp, row)


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_that_no_cache_holds_back_meets_no_row_that_one_may_never_let_out(kind: str) -> None:
    builder = StreamsBuilder()
    join(kind, builder.table("left", cache="off"), builder.table("right")).to_stream().to("out")
    with Player(builder, CACHED, wall_clock=0) as player:
        player.play([Input("right", "k", "r", 1), Input("left", "k", "l", 2), Input("right", "k", None, 3)])
        player.flush()
        assert final(player.rows()) == ({} if kind == "inner" else {"k": "l+None"})
        player.play([Input("right", "k", "s", 4)])
        player.flush()
        assert final(player.rows()) == {"k": "l+s"}


@pytest.mark.parametrize("sides", [("left", "right"), ("right", "left")])
@pytest.mark.parametrize("kind", KINDS)
def test_the_result_goes_if_both_rows_are_deleted_before_a_flush(kind: str, sides: tuple[str, str]) -> None:
    builder = StreamsBuilder()
    join(kind, builder.table("left"), builder.table("right")).to_stream().to("out")
    with Player(builder, CACHED, wall_clock=0) as player:
        player.play([Input("left", "k", "l", 1), Input("right", "k", "r", 2)])
        player.flush()
        assert final(player.rows()) == {"k": "l+r"}
        player.play([Input(side, "k", None, 3) for side in sides])
        player.flush()
        assert {tuple(row) for row in player.rows()} == {("k", None, 3)}


@pytest.mark.parametrize("kind", KINDS)
def test_the_timestamp_is_the_larger_one_also_for_tombstones(kind: str) -> None:
    with run(kind) as piping:
        piping.pipe("right", "k", "r", 100)
        assert piping.pipe("left", "k", "l", 50) == [("k", "l+r", 100)]
        assert piping.pipe("left", "k", "m", 150) == [("k", "m+r", 150)]
        assert piping.pipe("left", "k", None, 20) == [("k", "None+r" if kind == "outer" else None, 100)]
    with run(kind) as piping:
        piping.pipe("left", "k", "l", 100)
        assert piping.pipe("right", "k", "r", 50) == [("k", "l+r", 100)]
        assert piping.pipe("right", "k", None, 60) == [("k", None if kind == "inner" else "l+None", 100)]
        assert piping.pipe("left", "k", None, 70) == ([] if kind == "inner" else [("k", None, 70)])


@pytest.mark.parametrize(
    ("kind", "with_other", "without"),
    [("inner", [None], []), ("left", [None], []), ("outer", ["None+r"], [])],
)
def test_repeated_deletes(kind: str, with_other: list[Any], without: list[Any]) -> None:
    with run(kind) as piping:
        assert piping.values(("left", "k", None, 1)) == without
        piping.pipe("right", "k", "r", 2)
        assert piping.values(("left", "k", None, 3)) == with_other
        assert piping.values(("left", "k", None, 4)) == with_other


@pytest.mark.parametrize("kind", KINDS)
def test_null_keys_are_dropped(kind: str) -> None:
    with run(kind) as piping:
        assert piping.pipe("left", None, "l", 1) == piping.pipe("right", None, "r", 1) == []
        assert piping.driver.dropped_records == 2


def grouped(kind: str) -> Piping:
    """The join with a consumer that needs old values: it adds what is new and subtracts what is old."""
    builder = StreamsBuilder()
    joined = join(kind, builder.table("left"), builder.table("right"))
    joined.group_by(lambda key, value: ("all", value)).aggregate(
        list,
        lambda value, aggregate: [*aggregate, value],
        lambda value, aggregate: [v for v in aggregate if v != value],
        value_serde="json",
    ).to_stream().to("out", value_serde="json")
    return Piping(builder)


@pytest.mark.parametrize("kind", KINDS)
def test_old_values_follow_the_same_rules(kind: str) -> None:
    with grouped(kind) as piping:
        steps = [
            ("left", "A"),
            ("right", "a"),
            ("left", "B"),
            ("right", None),
            ("left", None),
            ("right", "b"),
            ("right", "c"),
        ]
        last: Any = None
        for timestamp, (topic, value) in enumerate(steps, 1):
            for _, result, _ in piping.pipe(topic, "k", value, timestamp):
                last = result
            left = next((v for t, v in reversed(steps[:timestamp]) if t == "left"), None)
            right = next((v for t, v in reversed(steps[:timestamp]) if t == "right"), None)
            exists = {"inner": left and right, "left": left, "outer": left or right}[kind]
            # Whatever was added is subtracted again: the aggregate holds the current row and nothing else.
            assert (last or []) == ([f"{left}+{right}"] if exists else []), (timestamp, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_versioned_table_ignores_changes_that_are_not_the_latest(kind: str) -> None:
    builder = StreamsBuilder()
    left, right = builder.table("left", versioned="1h"), builder.table("right", versioned="1h")
    join(kind, left, right).to_stream().to("out")
    with Piping(builder) as piping:
        piping.pipe("left", "k", "l", 100)
        assert piping.values(("right", "k", "r", 200)) == ["l+r"]
        assert piping.values(("left", "k", "early", 50), ("right", "k", "early", 150)) == []
        assert piping.dropped("not the latest version in a table join") == 2
        assert piping.pipe("left", "k", "m", 100) == [("k", "m+r", 200)]


def test_a_result_may_be_versioned() -> None:
    from penstock import Materialized, Stores

    builder = StreamsBuilder()
    result = join(
        "inner", builder.table("left"), builder.table("right"),
        store=Materialized.as_(Stores.persistent_versioned_key_value_store("result", "1h")),
    )  # fmt: skip
    result.to_stream().to("out")
    with Piping(builder) as piping:
        piping.pipe("right", "k", "r", 1)
        assert piping.values(("left", "k", "l", 100), ("left", "k", "m", 50)) == ["l+r", "m+r"]
        store = piping.driver.get_versioned_key_value_store("result")
        assert (store.get("k").value, store.get("k", 60).value) == ("l+r", "m+r")


@pytest.mark.parametrize(("first", "second"), [(a, b) for a in KINDS for b in KINDS])
def test_a_chain_over_the_same_table_runs_depth_first(first: str, second: str) -> None:
    builder = StreamsBuilder()
    left, right = builder.table("left"), builder.table("right")
    join(second, join(first, left, right), right).to_stream().to("out")
    with Piping(builder) as piping:
        piping.pipe("left", "k", "l", 1)
        # One change of the right table reaches the inner join, then the outer one: both results come out.
        assert piping.values(("right", "k", "r", 2)) == ["l+r+r", "l+r+r"]
        assert piping.values(("left", "k", "m", 3)) == ["m+r+r"]


def test_reading_through_filters_and_mappings() -> None:
    builder = StreamsBuilder()
    left = builder.table("left").filter(lambda value: value != "hidden")
    right = builder.table("right").map_values(lambda value: None if value == "gone" else value.upper())
    join("outer", left, right).to_stream().to("out")
    with Piping(builder) as piping:
        piping.pipe("left", "k", "hidden", 1)
        assert piping.values(("right", "k", "r", 2)) == ["None+R"]
        assert piping.values(("right", "k", "gone", 3)) == [None]
        assert piping.values(("left", "k", "l", 4)) == ["l+None"]


def test_the_joiner_may_take_the_key() -> None:
    builder = StreamsBuilder()
    left, right = builder.table("left"), builder.table("right")
    left.outer_join(right, lambda key, one, other: f"{key}:{one},{other}").to_stream().to("out")
    with Piping(builder) as piping:
        assert piping.values(("right", "k", "r", 1), ("left", "k", "l", 2)) == ["k:None,r", "k:l,r"]
