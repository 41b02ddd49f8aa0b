"""New values for a table's rows."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.functions import MAPPER, Function, function
from penstock.state.builders import TimestampedKeyValueStoreBuilder, VersionedKeyValueStoreBuilder
from penstock.topology.operators import TableMapValues
from tests.interpreter.observe import JSON, Run, Seen

DOUBLE = function(lambda v: v * 2, MAPPER, "mapper")
TABLE = TimestampedKeyValueStoreBuilder(name="table", **JSON)
OWN = TimestampedKeyValueStoreBuilder(name="own", caching=True, **JSON)


def test_tombstones_stay_tombstones_without_a_call() -> None:
    calls: list[Any] = []

    def noting(value: Any) -> Any:
        calls.append(value)
        return value * 2

    r = Run(TableMapValues(function(noting, MAPPER, "mapper"), send_old=True), table=TABLE)
    assert r.pipe(("a", 1, 1), ("a", None, 2), ("a", None, 3)) == [
        Seen("a", 2, 1, None),
        Seen("a", None, 2, 2),
        Seen("a", None, 3, None),
    ]
    assert calls == [1, 1]


def test_an_update_that_changes_nothing_is_forwarded() -> None:
    assert Run(TableMapValues(DOUBLE)).pipe(("a", 1, 1), ("a", 1, 2)) == [Seen("a", 2, 1), Seen("a", 2, 2)]


@pytest.mark.parametrize("caching", [False, True])
def test_with_a_store_of_its_own_old_comes_from_it(caching: bool) -> None:
    r = Run(TableMapValues(DOUBLE, store="own", send_old=True), stores=[OWN], caching=caching)
    assert r.pipe(("a", 1, 1), ("a", 3, 2), ("a", None, 3)) == [
        Seen("a", 2, 1, None),
        Seen("a", 6, 2, 2),
        Seen("a", None, 3, 6),
    ]


def test_without_a_cache_a_delete_of_a_missing_row_is_forwarded_and_with_one_it_is_not() -> None:
    assert Run(TableMapValues(DOUBLE, store="own"), stores=[OWN]).pipe(("a", None, 1)) == [Seen("a", None, 1)]
    assert Run(TableMapValues(DOUBLE, store="own"), stores=[OWN], caching=True).pipe(("a", None, 1)) == []


def test_the_mapper_may_take_key_and_timestamp() -> None:
    r = Run(TableMapValues(Function(lambda k, v, t: f"{k}{v}@{t}", ("key", "value", "timestamp"))))
    assert r.pipe(("a", 1, 7)) == [Seen("a", "a1@7", 7)]


def test_old_versions_pass_as_not_latest() -> None:
    versioned = VersionedKeyValueStoreBuilder(name="table", history_retention=100, **JSON)
    r = Run(TableMapValues(DOUBLE, send_old=True), table=versioned)
    assert r.pipe(("a", 1, 50), ("a", 2, 40)) == [Seen("a", 2, 50, None, True), Seen("a", 4, 40, 2, False)]
