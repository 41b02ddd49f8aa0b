from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.state.stores import Stores
from penstock.state.versioned import LATEST, NOT_PUT, VersionedRecord, default_segment_interval
from tests.state.environment import Environment


def versioned(environment: Environment | None = None, history: int = 100, segment: int | None = None) -> Any:
    supplier = Stores.persistent_versioned_key_value_store("v", history, segment)
    return Stores.versioned_key_value_store_builder(supplier).build(environment or Environment())


def test_put_tells_when_a_newer_version_ends_it() -> None:
    store = versioned()
    assert store.put("a", 1, 10) == LATEST == -1
    assert store.put("a", 2, 20) == LATEST
    assert store.put("a", 3, 15) == 20
    assert store.put("a", 4, 5) == 10
    assert store.put("a", 5, 15) == 20  # the same timestamp replaces
    assert store.put("a", 6, 20) == LATEST
    assert store.get("a") == VersionedRecord(6, 20)
    assert [store.get("a", at) and store.get("a", at).value for at in (4, 5, 9, 10, 14, 15, 19, 20, 99)] == [
        None, 4, 4, 1, 1, 5, 5, 6, 6
    ]  # fmt: skip


def test_tombstones_are_versions() -> None:
    store = versioned()
    assert store.put("a", None, 10) == LATEST
    assert store.put("a", 1, 5) == 10
    assert store.get("a") is None
    assert store.get("a", 9) == VersionedRecord(1, 5)
    assert store.get("a", 10) is None
    assert store.put("a", 2, 20) == LATEST
    assert store.get("a", 15) is None
    assert store.delete("a", 22) == VersionedRecord(2, 20)
    assert store.delete("a", 7) == VersionedRecord(1, 5)
    assert store.delete("b", 7) is None
    assert store.get("a") is None
    assert store.get("a", 21) == VersionedRecord(2, 20)


@pytest.mark.parametrize(("timestamp", "stored"), [(99, False), (100, True)])
def test_versions_before_the_history_are_not_stored(timestamp: int, stored: bool) -> None:
    environment = Environment()
    store = versioned(environment, history=100)
    store.put("a", 1, 200)
    assert store.put("b", 2, timestamp) == (LATEST if stored else NOT_PUT)
    assert store.delete("b", timestamp) == (VersionedRecord(2, timestamp) if stored else None)
    assert environment.dropped == ({} if stored else {"expired version": 2})


@pytest.mark.parametrize(
    ("before", "remembered"),
    [
        ([(1, 50)], False),  # nothing knows of 50 any more
        ([(None, 40), (1, 50)], False),
        ([(7, 40), (1, 50)], True),  # as the end of the value before it
        ([(1, 50), (None, 40)], True),  # as the end of a tombstone that came late
        ([(None, 50), (1, 50)], True),  # there was one before
        ([(None, 50), (1, 50), (2, 50)], True),
    ],
)
def test_a_tombstone_in_place_of_the_latest_version_is_forgotten_as_in_kafka(
    before: list[tuple[int | None, int]], remembered: bool
) -> None:
    store = versioned()
    for value, time in before:
        store.put("a", value, time)
    store.put("a", None, 50)
    assert store.get("a") is None
    assert store.put("a", 3, 45) == (50 if remembered else LATEST)


def test_a_time_before_the_history_shows_the_latest_version_only() -> None:
    store = versioned(history=100)
    for timestamp in (10, 50):
        store.put("a", timestamp, timestamp)
    store.put("b", 1, 20)
    store.put("c", 1, 140)
    assert store.get("a", 40) == VersionedRecord(10, 10)
    store.put("c", 1, 141)
    assert store.get("a", 40) is None
    assert store.get("a", 50) == VersionedRecord(50, 50)
    assert store.get("b", 20) == VersionedRecord(1, 20)
    assert store.get("b", 19) is None


def test_versions_with_their_ends() -> None:
    store = versioned(history=1000)
    for value, timestamp in [(1, 10), (None, 20), (3, 30), (4, 40)]:
        store.put("a", value, timestamp)
    every = [VersionedRecord(4, 40, None), VersionedRecord(3, 30, 40), VersionedRecord(1, 10, 20)]
    assert store.versions("a") == every
    assert store.versions("a", ascending=True) == every[::-1]
    assert store.versions("a", 20, 39) == [every[1]]
    assert store.versions("a", 19, 30) == every[1:]
    assert store.versions("b") == []


def test_old_versions_and_tombstones_are_freed_without_being_touched() -> None:
    environment = Environment()
    store = versioned(environment, history=100, segment=50)
    for timestamp in range(1000):
        store.put("a", timestamp, timestamp)
    store.put("b", 1, 990)
    store.put("b", None, 1000)
    assert len(environment.stores["v"]) < 180
    store.put("c", 1, 5000)
    assert [store.get(key) for key in "abc"] == [VersionedRecord(999, 999), None, VersionedRecord(1, 5000)]
    assert store.approximate_num_entries == 2
    assert len(environment.stores["v"]) == 2
    store.flush()
    again = versioned(environment.restarted(), history=100, segment=50)
    assert again.put("a", 1, 4899) == NOT_PUT


@pytest.mark.parametrize(
    ("history", "interval"),
    [(0, 2_000), (60_000, 20_000), (120_000, 24_000), (3_600_000, 300_000), (86_400_000, 3_600_000)],
)
def test_segments_are_as_long_as_kafkas(history: int, interval: int) -> None:
    assert default_segment_interval(history) == interval


steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "put", "delete", "restart"]),
        st.sampled_from(["a", "a\0", "b"]),
        st.integers(0, 60),
        st.integers(0, 60),
        st.one_of(st.none(), st.integers(0, 5)),
    ),
    max_size=40,
)


@given(steps, st.sampled_from([0, 10, 1000]), st.sampled_from([1, 7, 1000]))
def test_store_and_model_agree(steps: list[Any], history: int, segment: int) -> None:
    environment = Environment()
    store = versioned(environment, history, segment)
    model: dict[str, dict[int, int | None]] = {"a": {}, "a\0": {}, "b": {}}
    time = -1

    def valid(key: str, as_of: int) -> VersionedRecord[int] | None:
        found = max((at for at in model[key] if at <= as_of), default=None)
        if found is None or model[key][found] is None:
            return None
        return VersionedRecord(model[key][found], found)  # type: ignore[arg-type]

    for name, key, timestamp, as_of, value in steps:
        if name == "restart":
            store.flush()
            environment = environment.restarted()
            store = versioned(environment, history, segment)
        elif timestamp < time - history:
            if name == "put":
                assert store.put(key, value, timestamp) == NOT_PUT
            else:
                assert store.delete(key, timestamp) is None
        else:
            time = max(time, timestamp)
            deletes = name == "delete" or value is None
            if deletes and timestamp == max(model[key], default=-1) and model[key][timestamp] is not None:
                continue  # Kafka may forget such a tombstone: see above
            if name == "put":
                valid_to = min((at for at in model[key] if at > timestamp), default=LATEST)
                assert store.put(key, value, timestamp) == valid_to
                model[key][timestamp] = value
            else:
                assert store.delete(key, timestamp) == valid(key, timestamp)
                model[key][timestamp] = None
        latest = max(model[key], default=-1)
        assert store.get(key) == valid(key, latest)
        assert store.get(key, as_of) == (valid(key, as_of) if as_of >= time - history or latest <= as_of else None)
