"""Aggregates of a stream in a versioned store: each result is a version at the largest timestamp of its records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock import KGroupedStream, Materialized, Stores, StreamsBuilder, fn, v
from tests.interpreter.piping import TEXT, Piping

Recipe = Callable[[KGroupedStream[Any, Any], Any], Any]
# The second is older than the first, the fourth is before the history of 100, the last has no value.
RECORDS = [("a", "x", 10), ("a", "y", 5), ("a", "z", 300), ("b", "q", 150), ("b", "r", 250), ("a", None, 400)]


def versions(history: int = 100) -> Any:
    return Materialized.as_(Stores.persistent_versioned_key_value_store("versions", history))


def piping(recipe: Recipe, *, value_serde: Any = "string", rekeyed: bool = False) -> Piping:
    builder = StreamsBuilder(TEXT)
    stream = builder.stream("in")
    group = stream.group_by(lambda key, value: key) if rekeyed else stream.group_by_key()
    recipe(group, versions()).to_stream().to("out", value_serde=value_serde)
    return Piping(builder, {"statestore.cache.max.bytes": 1 << 20})  # such a store is not cached for all that


def spelled(total: str, value: str) -> str | None:
    """The letters that came; `del` takes them all away."""
    return None if value == "del" else total + value


def collected(value: str, seen: list[str]) -> list[str]:
    seen.append(value)
    return seen


@pytest.mark.parametrize("rekeyed", [False, True])
@pytest.mark.parametrize(
    ("recipe", "value_serde", "results"),
    [
        (lambda group, store: group.count(store), "long", [1, 2, 3, 1]),
        (lambda group, store: group.reduce(lambda total, value: total + value, store), None, ["x", "xy", "xyz", "r"]),
        (
            lambda group, store: group.aggregate("", lambda value, total: total + value, store),
            None,
            ["x", "xy", "xyz", "r"],
        ),
        (
            lambda group, store: group.aggregate(list, collected, store, value_serde="json"),
            "json",
            [["x"], ["x", "y"], ["x", "y", "z"], ["r"]],
        ),
        (
            lambda group, store: group.cogroup(lambda key, value, total: total + value).aggregate("", store),
            None,
            ["x", "xy", "xyz", "r"],
        ),
        (
            lambda group, store: group.agg(store, n=fn.count(), last=fn.last(v)),
            "json",
            [{"n": 1, "last": "x"}, {"n": 2, "last": "y"}, {"n": 3, "last": "z"}, {"n": 1, "last": "r"}],
        ),
    ],
    ids=["count", "reduce", "aggregate", "aggregate-mutable", "cogroup", "expression"],
)
def test_each_record_gives_a_version(recipe: Recipe, value_serde: Any, results: list[Any], rekeyed: bool) -> None:
    serde = value_serde or "string"
    with piping(recipe, value_serde=serde, rekeyed=rekeyed) as p:
        sent = []
        for record in RECORDS:
            p.driver.create_input_topic("in").pipe_input(*record)
            sent.append([(r.key, r.value, r.timestamp) for r in p.driver.create_output_topic("out", value_serde=serde)])
        one, two, three, other = results
        assert sent == [[("a", one, 10)], [("a", two, 10)], [("a", three, 300)], [], [("b", other, 250)], []]
        assert p.dropped("expired version") == 1
        store = p.driver.get_versioned_key_value_store("versions")
        found = [(row.value, row.timestamp, row.valid_to) for row in store.versions("a", ascending=True)]
        assert found == [(results[1], 10, 300), (results[2], 300, None)]
        assert tuple(store.get("b"))[:2] == (results[3], 250)


def test_after_a_tombstone_a_record_may_be_older_than_it() -> None:
    with piping(lambda group, store: group.aggregate("", lambda value, total: spelled(total, value), store)) as p:
        assert p.pipe("in", "a", "x", 10) == [("a", "x", 10)]
        assert p.pipe("in", "a", "del", 50) == [("a", None, 50)]
        assert p.pipe("in", "a", "y", 20) == [("a", "y", 20)]
        store = p.driver.get_versioned_key_value_store("versions")
        assert store.get("a") is None  # the tombstone is the latest version
        assert [tuple(row) for row in store.versions("a")] == [("y", 20, 50), ("x", 10, 20)]
        assert p.pipe("in", "a", "z", 60) == [("a", "z", 60)]


def test_what_stands_below_knows_which_change_is_the_latest() -> None:
    builder = StreamsBuilder(TEXT)
    group = builder.stream("in").group_by_key()
    table = group.aggregate("", lambda value, total: spelled(total, value), versions())
    table.group_by(lambda key, value: ("all", value)).count().to_stream().to("out", value_serde="long")
    with Piping(builder) as p:
        sent = [len(p.pipe("in", "a", value, t)) for value, t in (("x", 10), ("del", 50), ("y", 20), ("z", 60))]
    assert sent == [1, 1, 0, 1]


def test_the_old_value_goes_on_as_it_was() -> None:
    builder = StreamsBuilder(TEXT)
    table = builder.stream("in").group_by_key().aggregate(list, collected, versions(), value_serde="json")
    table.group_by(lambda key, seen: (str(len(seen)), key)).count().to_stream().to("out", value_serde="long")
    with Piping(builder) as p:
        assert [[key for key, _, _ in p.pipe("in", "a", value, 5)] for value in "xy"] == [["1"], ["1", "2"]]


def test_its_table_may_be_joined_in_time_order() -> None:
    builder = StreamsBuilder(TEXT)
    table = builder.stream("rows").group_by_key().reduce(lambda total, value: total + value, versions())
    builder.stream("in").join(table, lambda left, right: left + right, grace=5).to("out")
    with Piping(builder) as p:
        for value, timestamp in (("x", 10), ("y", 20)):
            p.pipe("rows", "a", value, timestamp)
        assert p.pipe("in", "a", "l", 12) == []
        assert p.pipe("in", "a", "m", 30) == [("a", "lx", 12)]
