"""Filter of a table."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.functions import MAPPER, function
from penstock.state.builders import TimestampedKeyValueStoreBuilder, VersionedKeyValueStoreBuilder
from penstock.topology.operators import TableFilter
from tests.interpreter.observe import JSON, Run, Seen

BIG = function(lambda v: v > 10, MAPPER, "predicate")
TABLE = TimestampedKeyValueStoreBuilder(name="table", **JSON)
VERSIONED = VersionedKeyValueStoreBuilder(name="table", history_retention=100, **JSON)
OWN = TimestampedKeyValueStoreBuilder(name="own", caching=True, **JSON)


def test_without_old_values_each_row_that_does_not_match_is_a_tombstone() -> None:
    r = Run(TableFilter(BIG))
    assert r.pipe(("a", 1, 1), ("a", 20, 2), ("a", None, 3)) == [
        Seen("a", None, 1), Seen("a", 20, 2), Seen("a", None, 3),
    ]  # fmt: skip


def test_negated() -> None:
    assert [s.new for s in Run(TableFilter(BIG, negate=True)).pipe(("a", 1, 1), ("a", 20, 2))] == [1, None]


def test_the_predicate_is_not_called_with_null() -> None:
    calls: list[Any] = []

    def noting(value: Any) -> bool:
        calls.append(value)
        return True

    r = Run(TableFilter(function(noting, MAPPER, "predicate"), send_old=True), table=TABLE)
    r.pipe(("a", None, 1), ("a", 1, 2), ("a", None, 3))
    assert None not in calls


def test_with_old_values_a_change_from_nothing_to_nothing_is_not_forwarded() -> None:
    r = Run(TableFilter(BIG, send_old=True), table=TABLE)
    assert r.pipe(("a", 1, 1), ("a", 20, 2), ("a", 30, 3), ("a", 2, 4), ("a", 3, 5), ("a", None, 6)) == [
        Seen("a", 20, 2, None),
        Seen("a", 30, 3, 20),
        Seen("a", None, 4, 30),
    ]


def test_old_values_of_the_parent_are_not_passed_on_when_nobody_asked() -> None:
    r = Run(TableFilter(BIG), table=TABLE)
    assert r.pipe(("a", 20, 1), ("a", 30, 2)) == [Seen("a", 20, 1), Seen("a", 30, 2)]


@pytest.mark.parametrize("caching", [False, True])
def test_with_a_store_of_its_own(caching: bool) -> None:
    r = Run(TableFilter(BIG, store="own", send_old=True), stores=[OWN], table=TABLE, caching=caching)
    assert r.pipe(("a", 20, 1), ("a", 1, 2), ("a", 2, 3), ("a", 40, 4)) == [
        Seen("a", 20, 1, None),
        Seen("a", None, 2, 20),
        Seen("a", 40, 4, None),
    ]
    assert r.driver.get_timestamped_key_value_store("own").get("a") == (40, 4)


def test_a_version_that_is_not_the_latest_passes_as_such() -> None:
    r = Run(TableFilter(BIG, send_old=True, versioned=True), table=VERSIONED)
    assert r.pipe(("a", 20, 50), ("a", 1, 40), ("a", 30, 45)) == [
        Seen("a", 20, 50, None, True),
        Seen("a", None, 40, 20, False),
        Seen("a", 30, 45, 20, False),
    ]


def test_versioned_parent_forwards_nothing_to_nothing() -> None:
    r = Run(TableFilter(BIG, send_old=True, versioned=True), table=VERSIONED)
    assert r.pipe(("a", 1, 50)) == [Seen("a", None, 50, None, True)]


def test_in_a_plain_store_every_change_is_the_latest_and_in_a_versioned_one_by_its_time() -> None:
    plain = Run(TableFilter(BIG, store="own", versioned=True), stores=[OWN], table=VERSIONED)
    assert [s.is_latest for s in plain.pipe(("a", 20, 50), ("a", 30, 40))] == [True, True]
    own = VersionedKeyValueStoreBuilder(name="own", history_retention=5, **JSON)
    versioned = Run(TableFilter(BIG, store="own", versioned=True), stores=[own], table=VERSIONED)
    assert [s.is_latest for s in versioned.pipe(("a", 20, 50), ("a", 30, 48))] == [True, False]
    assert versioned.pipe(("a", 30, 10)) == []  # older than the history of its own store
