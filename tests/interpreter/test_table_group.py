"""Grouping a table by something else, and aggregating the groups."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import PenstockError
from penstock.functions import AGGREGATOR, MAPPER, REDUCER, function
from penstock.records import Change
from penstock.state.builders import TimestampedKeyValueStoreBuilder, VersionedKeyValueStoreBuilder
from penstock.topology.operators import TableAggregate, TableReduce, TableRepartitionMap
from tests.interpreter.observe import JSON, Run, Seen

TABLE = TimestampedKeyValueStoreBuilder(name="table", **JSON)
OWN = TimestampedKeyValueStoreBuilder(name="own", caching=True, **JSON)
BY_GROUP = TableRepartitionMap(function(lambda v: (v["g"], v["n"]), MAPPER, "mapper"))
TEXT = TableAggregate(
    "own",
    lambda: "0",
    function(lambda v, a: f"{a}+{v}", AGGREGATOR, "adder"),
    function(lambda v, a: f"{a}-{v}", AGGREGATOR, "subtractor"),
)


def mapped(mapper: Any, *inputs: Any) -> list[tuple[Any, Change[Any]]]:
    r = Run(TableRepartitionMap(function(mapper, MAPPER, "mapper")), table=TABLE)
    return [(s.key, Change(s.new, s.old)) for s in r.pipe(*inputs)]


def g(group: Any, n: Any) -> dict[str, Any]:
    return {"g": group, "n": n}


def test_one_combined_update_if_the_group_stays_and_old_group_first_if_it_changes() -> None:
    def mapper(v: Any) -> Any:
        return v["g"], v["n"]

    assert mapped(mapper, ("a", g("x", 1), 1), ("a", g("x", 2), 2), ("a", g("y", 3), 3), ("a", None, 4)) == [
        ("x", Change(1, None)),
        ("x", Change(2, 1)),
        ("x", Change(None, 2)),
        ("y", Change(3, None)),
        ("y", Change(None, 3)),
    ]


def test_rows_without_group_or_value_are_in_no_group() -> None:
    def mapper(v: Any) -> Any:
        return None if v == 0 else (None, v) if v == 1 else ("x", None) if v == 2 else ("x", v)

    assert mapped(mapper, ("a", 0, 1), ("a", 1, 2), ("a", 2, 3), ("a", 5, 4), ("a", 0, 5)) == [
        ("x", Change(5, None)),
        ("x", Change(None, 5)),
    ]


def test_keys_that_are_equal_in_python_but_not_as_bytes_are_two_groups() -> None:
    assert mapped(lambda v: (v, v), ("a", 1, 1), ("a", 1.0, 2), ("a", True, 3)) == [
        (1, Change(1, None)),
        (1, Change(None, 1)),
        (1.0, Change(1.0, None)),
        (1.0, Change(None, 1.0)),
        (True, Change(True, None)),
    ]


def test_a_mapper_that_returns_no_pair_is_told_so() -> None:
    with pytest.raises(PenstockError, match="returned 'xy', a str"):
        mapped(lambda v: "xy", ("a", 1, 1))


def test_versions_that_are_not_the_latest_are_skipped() -> None:
    versioned = VersionedKeyValueStoreBuilder(name="table", history_retention=100, **JSON)
    mapper = function(lambda v: ("x", v), MAPPER, "mapper")
    r = Run(TableRepartitionMap(mapper, versioned=True), table=versioned)
    assert r.pipe(("a", 1, 50), ("a", 2, 40)) == [Seen("x", 1, 50, None)]
    assert r.dropped == {}


def test_aggregate_subtracts_then_adds() -> None:
    r = Run(BY_GROUP, TEXT, stores=[OWN], table=TABLE)
    assert r.pipe(("a", g("x", 1), 1), ("a", g("x", 2), 2), ("a", g("y", 3), 3), ("a", None, 4)) == [
        Seen("x", "0+1", 1),
        Seen("x", "0+1-1+2", 2),
        Seen("x", "0+1-1+2-2", 3),
        Seen("y", "0+3", 3),
        Seen("y", "0+3-3", 4),
    ]


def test_timestamp_is_not_before_that_of_the_aggregate() -> None:
    r = Run(BY_GROUP, TEXT, stores=[OWN], table=TABLE)
    assert [s.timestamp for s in r.pipe(("a", g("x", 1), 9), ("b", g("x", 2), 3), ("c", g("y", 2), 2))] == [9, 9, 2]


def test_a_subtractor_that_returns_null_removes_the_group() -> None:
    counting = TableAggregate(
        "own",
        lambda: 0,
        function(lambda v, a: a + 1, AGGREGATOR, "adder"),
        function(lambda v, a: a - 1 or None, AGGREGATOR, "subtractor"),
        send_old=True,
    )
    r = Run(BY_GROUP, counting, stores=[OWN], table=TABLE)
    assert r.pipe(("a", g("x", 1), 1), ("a", None, 2), ("a", g("x", 1), 3)) == [
        Seen("x", 1, 1, None),
        Seen("x", None, 2, 1),
        Seen("x", 1, 3, None),
    ]


def test_subtracting_from_a_missing_group_forwards_a_tombstone() -> None:
    never = TableAggregate(
        "own",
        lambda: 0,
        function(lambda v, a: None, AGGREGATOR, "adder"),
        function(lambda v, a: a - v, AGGREGATOR, "subtractor"),
    )
    r = Run(BY_GROUP, never, stores=[OWN], table=TABLE)
    assert r.pipe(("a", g("x", 1), 1), ("a", None, 2)) == [Seen("x", None, 1), Seen("x", None, 2)]


def test_reduce_takes_the_first_value() -> None:
    reduce = TableReduce(
        "own",
        function(lambda a, v: a + v, REDUCER, "adder"),
        function(lambda a, v: a - v, REDUCER, "subtractor"),
        send_old=True,
    )
    r = Run(BY_GROUP, reduce, stores=[OWN], table=TABLE)
    assert r.pipe(("a", g("x", 5), 1), ("b", g("x", 7), 2), ("a", g("y", 1), 3)) == [
        Seen("x", 5, 1, None),
        Seen("x", 12, 2, 5),
        Seen("x", 7, 3, 12),
        Seen("y", 1, 3, None),
    ]


@pytest.mark.parametrize("caching", [False, True])
def test_functions_may_change_the_aggregate_they_get(caching: bool) -> None:
    def add(value: Any, aggregate: list[Any]) -> list[Any]:
        aggregate.append(value)
        return aggregate

    def subtract(value: Any, aggregate: list[Any]) -> list[Any]:
        aggregate.remove(value)
        return aggregate

    collecting = TableAggregate(
        "own", list, function(add, AGGREGATOR, "adder"), function(subtract, AGGREGATOR, "subtractor"), send_old=True
    )
    r = Run(BY_GROUP, collecting, stores=[OWN], table=TABLE, caching=caching)
    r.pipe(("a", g("x", 1), 1))
    assert r.pipe(("b", g("x", 2), 2)) == [Seen("x", [1, 2], 2, [1])]
    assert r.pipe(("b", g("x", 3), 3)) == [Seen("x", [1, 3], 3, [1, 2])]


def test_a_versioned_store_refuses_what_is_older_than_its_history() -> None:
    versioned = VersionedKeyValueStoreBuilder(name="own", history_retention=10, **JSON)
    r = Run(BY_GROUP, TEXT, stores=[versioned], table=TABLE)
    assert r.pipe(("a", g("x", 1), 100), ("b", g("y", 2), 50)) == [Seen("x", "0+1", 100)]
    assert r.pipe(("c", g("x", 3), 95)) == [Seen("x", "0+1+3", 100)]


@pytest.mark.parametrize(("caching", "timestamp"), [(False, 9), (True, 5)])
def test_a_tombstone_out_of_a_cache_has_the_timestamp_of_its_record(caching: bool, timestamp: int) -> None:
    counting = TableAggregate(
        "own",
        lambda: 0,
        function(lambda v, a: a + 1, AGGREGATOR, "adder"),
        function(lambda v, a: a - 1 or None, AGGREGATOR, "subtractor"),
    )
    r = Run(BY_GROUP, counting, stores=[OWN], table=TABLE, caching=caching)
    assert r.pipe(("a", g("x", 1), 9), ("a", None, 5)) == [Seen("x", 1, 9), Seen("x", None, timestamp)]
