"""A store whose retention is another one than when its rows were written: a grace period that was added, for example."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.records import Window, Windowed
from penstock.state.stores import Stores
from tests.state.environment import Environment

MINUTE = 60_000
HOUR = 60 * MINUTE
SHORTER_AND_LONGER = [(10 * MINUTE, 6 * MINUTE), (6 * MINUTE, 10 * MINUTE)]


def windows(environment: Environment, retention: int, *, duplicates: bool = False, caching: bool = False) -> Any:
    supplier = Stores.persistent_window_store("w", retention, MINUTE, duplicates)
    builder = Stores.window_store_builder(supplier)
    return (builder.with_caching_enabled() if caching else builder).build(environment)


def sessions(environment: Environment, retention: int) -> Any:
    return Stores.session_store_builder(Stores.persistent_session_store("s", retention)).build(environment)


def versions(environment: Environment, history: int) -> Any:
    supplier = Stores.persistent_versioned_key_value_store("v", history)
    return Stores.versioned_key_value_store_builder(supplier).build(environment)


@pytest.mark.parametrize(("before", "now"), SHORTER_AND_LONGER)
@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize("duplicates", [False, True])
def test_windows_are_found_and_freed(before: int, now: int, *, duplicates: bool, caching: bool) -> None:
    environment = Environment()
    store = windows(environment, before, duplicates=duplicates, caching=caching and not duplicates)
    for minute in range(20, 25):
        store.put("a", minute, minute * MINUTE)
        store.put("b\0", minute, minute * MINUTE)
    store.flush()
    environment = environment.restarted()
    again = windows(environment, now, duplicates=duplicates, caching=caching and not duplicates)
    for key in ("a", "b\0"):
        assert [value for _, value in again.fetch(key, 0, 99 * MINUTE)] == list(range(20, 25))
        assert again.fetch(key, 22 * MINUTE) == 22
    again.put("a", 100, 100 * MINUTE)
    again.flush()
    assert len(environment.stores["w"]) == 2, "the row, and the store's time"


@pytest.mark.parametrize(("before", "now"), SHORTER_AND_LONGER)
def test_sessions_are_found_and_freed(before: int, now: int) -> None:
    environment = Environment()
    store = sessions(environment, before)
    for minute in range(20, 25):
        store.put(Windowed("a", Window(minute * MINUTE - 1, minute * MINUTE)), minute)
    store.flush()
    environment = environment.restarted()
    again = sessions(environment, now)
    assert [value for _, value in again.fetch("a")] == list(range(20, 25))
    again.remove(Windowed("a", Window(22 * MINUTE - 1, 22 * MINUTE)))
    assert [value for _, value in again.fetch("a")] == [20, 21, 23, 24]
    again.put(Windowed("a", Window(100 * MINUTE, 100 * MINUTE)), 100)
    again.flush()
    assert len(environment.stores["s"]) == 2


@pytest.mark.parametrize(("before", "now"), [(4 * HOUR, 24 * HOUR), (24 * HOUR, 4 * HOUR)])
def test_versions_are_freed(before: int, now: int) -> None:
    environment = Environment()
    store = versions(environment, before)
    for hour in range(1000, 1005):
        store.put("a", hour, hour * HOUR)
    store.flush()
    environment = environment.restarted()
    again = versions(environment, now)
    assert again.get("a", 1002 * HOUR).value == 1002
    again.put("b", 1, 1006 * HOUR)  # before all of them are out of the history
    again.put("b", 2, 1100 * HOUR)
    again.put("b", 3, 1200 * HOUR)
    again.flush()
    assert [found.value for found in again.versions("a")] == [1004]
    kept = [key for key, _ in environment.stores["v"].items() if b"a" in key]
    assert len(kept) == 1, "the latest version"


def test_rows_stay_where_they_are_if_nothing_changed() -> None:
    environment = Environment()
    store = windows(environment, 10 * MINUTE)
    store.put("a", 1, 20 * MINUTE)
    store.flush()
    before = list(environment.stores["w"].items())
    windows(environment, 10 * MINUTE).flush()
    assert list(environment.stores["w"].items()) == before
