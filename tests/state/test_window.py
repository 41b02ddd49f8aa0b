from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import TopologyError
from penstock.records import Window, Windowed
from penstock.state.cells import SEQUENCE, TIMESTAMP, VALUE
from penstock.state.materialize import minimum_retention, window_result
from penstock.state.stores import Stores
from penstock.windows import SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows
from tests.state.environment import Environment, rows_kept_in_memory

MINUTE = 60_000


def window_store(environment: Environment | None = None, **options: Any) -> Any:
    retention, size = options.pop("retention", 100), options.pop("size", 10)
    in_memory, caching = options.pop("in_memory", False), options.pop("caching", False)
    make = Stores.in_memory_window_store if in_memory else Stores.persistent_window_store
    builder = Stores.window_store_builder(make("w", retention, size, options.pop("duplicates", False)), **options)
    return (builder.with_caching_enabled() if caching else builder).build(environment or Environment())


def windowed(key: str, start: int, size: int = 10) -> Windowed[str]:
    return Windowed(key, Window(start, start + size))


@pytest.mark.parametrize("caching", [False, True])
def test_public_operations(caching: bool) -> None:
    store = window_store(caching=caching)
    for key, start, value in [("b", 20, 1), ("a", 20, 2), ("a", 10, 3), ("a", 30, 4)]:
        store.put(key, value, start)
    assert store.fetch("a", 10) == 3
    assert store.fetch("a", 11) is None
    assert [tuple(entry) for entry in store.fetch("a", 10, 20)] == [(10, 3), (20, 2)]
    assert [tuple(entry) for entry in store.backward_fetch("a", 10, 20)] == [(20, 2), (10, 3)]
    everything = [(windowed("a", 10), 3), (windowed("a", 20), 2), (windowed("b", 20), 1), (windowed("a", 30), 4)]
    assert [tuple(entry) for entry in store.all()] == everything
    assert [tuple(entry) for entry in store.backward_all()] == everything[::-1]
    assert [tuple(entry) for entry in store.fetch_all(20, 20)] == everything[1:3]
    assert [tuple(entry) for entry in store.backward_fetch_all(0, 20)] == everything[2::-1]
    assert [tuple(entry) for entry in store.fetch_range("b", "c", 0, 99)] == [everything[2]]
    assert [tuple(entry) for entry in store.backward_fetch_range(None, "a", 0, 25)] == [everything[1], everything[0]]
    store.put("a", None, 20)
    assert store.fetch("a", 20) is None
    assert (store.name, store.kind, store.persistent, store.observed_time) == ("w", "window", True, 30)


def test_instants_are_accepted() -> None:
    store = window_store()
    start = datetime(1970, 1, 1, 0, 0, 1, tzinfo=timezone.utc)
    store.put("a", 1, start)
    assert store.fetch("a", start) == 1
    assert [tuple(entry) for entry in store.fetch("a", start, start)] == [(1000, 1)]


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize(("start", "visible"), [(100, False), (101, True)])
def test_retention_hides_what_starts_before_store_time_minus_retention_plus_one(
    start: int, visible: bool, caching: bool
) -> None:
    store = window_store(retention=100, caching=caching)
    store.put("a", 1, start)
    store.put("b", 2, 200)
    assert (store.fetch("a", start) == 1) is visible
    assert bool(list(store.fetch("a", 0, 999))) is visible
    assert len(list(store.all())) == 1 + visible


@pytest.mark.parametrize("caching", [False, True])
def test_stores_that_emit_on_close_hide_one_millisecond_later(caching: bool) -> None:
    builder = window_result("w", TimeWindows(100), on_close=True, caching=caching)
    store: Any = builder.build(Environment())
    store.write("a", 100, 1, 100)
    store.write("b", 200, 2, 200)
    assert store.fetch("a", 100) == (1, 100)
    store.write("b", 201, 2, 201)
    assert store.fetch("a", 100) is None


@pytest.mark.parametrize("caching", [False, True])
def test_an_expired_start_is_ignored_and_counted_as_kafka_counts(caching: bool) -> None:
    memory, disk = Environment(), Environment()
    for environment, in_memory in ((memory, True), (disk, False)):
        store = window_store(environment, retention=100, in_memory=in_memory, caching=caching)
        store.put("a", 1, 10 * MINUTE)
        store.put("a", 2, 10 * MINUTE - 100)  # its segment still lives
        store.put("a", 3, MINUTE)  # its segment is gone
        assert [start for start, _ in store.fetch("a", 0, 99 * MINUTE)] == [10 * MINUTE]
        store.flush()
    assert memory.dropped == {"expired window": 2}
    assert disk.dropped == {"expired window": 1}


def test_store_time_counts_deletions_and_survives_a_restart() -> None:
    environment = Environment()
    store = window_store(environment, retention=100)
    store.put("a", 1, 50)
    store.put("b", None, 151)
    assert store.fetch("a", 50) is None
    store.flush()
    again = window_store(environment.restarted(), retention=100)
    assert again.observed_time == 151
    again.put("a", 1, 51)
    assert again.fetch("a", 51) is None


def test_old_segments_are_really_freed() -> None:
    environment = Environment()
    store = window_store(environment, retention=2 * MINUTE)
    for minute in range(100):
        store.put("a", minute, minute * MINUTE)
    rows = environment.stores["w"]
    assert 2 <= len(rows) <= 5
    assert [start for start, _ in store.fetch("a", 0, 100 * MINUTE)] == [98 * MINUTE, 99 * MINUTE]


def test_unlimited_retention_frees_nothing() -> None:
    store: Any = window_result("w", UnlimitedWindows()).with_caching_disabled().build(Environment())
    store.write("a", 0, 1, 5)
    store.write("b", 10**15, 1, 5)
    assert store.fetch("a", 0) == (1, 5)
    assert next(store.all()).key.window == Window(0, 2**63 - 1)


# Duplicates


@pytest.mark.parametrize("value_serde", ["long", "json"])
def test_duplicates_are_kept_in_the_order_of_arrival(value_serde: str) -> None:
    environment = Environment()
    store = window_store(environment, duplicates=True, value_serde=value_serde)
    for value, start in [(1, 10), (2, 10), (3, 5), (4, 10)]:
        store.put("a", value, start)
    store.put("a", None, 10)  # ignored
    store.put("ab", 9, 10)
    expected = [(5, 3), (10, 1), (10, 2), (10, 4)]
    assert store.find("a", 0, 99) == expected
    assert store.find("a", 0, 99, reverse=True) == expected[::-1]
    assert store.find("a", 6, 99) == expected[1:]
    store.flush()
    again = window_store(environment.restarted(), duplicates=True, value_serde=value_serde)
    again.put("a", 5, 10)
    assert again.find("a", 0, 99) == [*expected, (10, 5)]
    assert again.fetch("a", 10) == 1
    assert [tuple(entry) for entry in again.all()] == [
        (windowed("a", 5), 3),
        *((windowed("a", 10), value) for value in (1, 2, 4, 5)),
        (windowed("ab", 10), 9),
    ]


# The cache


def caching_store(environment: Environment | None = None, **options: Any) -> tuple[Any, list[Any]]:
    options = {"size": 10, "retention": 100, **options}
    supplier = Stores.persistent_timestamped_window_store("w", options.pop("retention"), options.pop("size"))
    builder = Stores.timestamped_window_store_builder(supplier, **options).with_caching_enabled()
    store: Any = builder.build(environment or Environment())
    forwarded: list[Any] = []
    store.set_flush_listener(lambda *update: forwarded.append(update[:4]), True)
    return store, forwarded


def test_cells_of_a_window_are_one_look_up_away() -> None:
    store, forwarded = caching_store()
    windows = store.use_cells()
    for timestamp, key in [(1, "a"), (2, "b"), (3, "a"), (15, "a")]:
        start = timestamp - timestamp % 10
        window = windows.get(start)
        if window is None:
            window = store.open_window(start)
        cell = window.get(key)
        if cell is None:
            cell = store.load(key, start)
        cell[VALUE] = (cell[VALUE] or 0) + 1
        cell[TIMESTAMP] = timestamp
        cell[SEQUENCE] = store.tick()
    assert store.fetch("a", 0) == (2, 3)
    store.flush()
    assert forwarded == [
        (windowed("b", 0), 1, None, 2),
        (windowed("a", 0), 2, None, 3),
        (windowed("a", 10), 1, None, 15),
    ]
    assert store.load("a", 0)[VALUE] == 2


def test_a_dict_of_cells_that_an_operator_holds_is_emptied_when_its_window_goes() -> None:
    store, forwarded = caching_store()
    store.use_cells()
    held = store.open_window(0)
    cell = store.load("a", 0)
    cell[VALUE], cell[TIMESTAMP], cell[SEQUENCE] = 1, 0, store.tick()
    assert held["a"] is cell
    store.write("b", 100, 5, 100)
    assert held == {}
    assert store.load("a", 0)[VALUE] is None  # gone: looks as if it had no row
    assert store.open_window(0) == {}
    store.flush()
    assert forwarded == [(windowed("a", 0), 1, None, 0), (windowed("b", 100), 5, None, 100)]
    assert store.fetch("a", 0) is None


def test_an_update_of_an_expired_window_is_forwarded_and_not_kept() -> None:
    environment = Environment()
    store, forwarded = caching_store(environment)
    store.write("a", 10 * MINUTE, 1, 1)
    store.flush()
    for number in (1, 2):
        store.write("a", 0, number, number)
        assert store.fetch("a", 0) is None
    store.flush()
    assert forwarded[1:] == [(windowed("a", 0), 2, None, 2)]
    assert environment.dropped == {"expired window": 2}
    assert len(list(store.all())) == 1


window_steps = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "write", "flush", "restart", "find", "all"]),
        st.sampled_from(["a", "ab", "b"]),
        st.integers(0, 300_000),
        st.one_of(st.none(), st.integers(0, 5)),
    ),
    max_size=30,
)


@given(
    window_steps,
    st.booleans(),
    st.sampled_from(["long", "json"]),
    st.sampled_from([1, 100_000]),
    st.sampled_from([0, 50_000]),
)
def test_cache_on_and_off_and_a_model_agree(
    steps: list[Any], inline: bool, value_serde: str, retention: int, limit: int
) -> None:
    with rows_kept_in_memory(limit):
        environments = {caching: Environment(caching=caching) for caching in (True, False)}

        def build(caching: bool) -> Any:
            store, _ = (
                caching_store(environments[caching], retention=retention, size=1, value_serde=value_serde)
                if caching
                else (None, None)
            )
            if store is None:
                supplier = Stores.persistent_timestamped_window_store("w", retention, 1)
                store = Stores.timestamped_window_store_builder(supplier, None, value_serde).build(
                    environments[caching]
                )
            elif inline:
                store.use_cells()
            return store

        stores = {caching: build(caching) for caching in (True, False)}
        rows: dict[tuple[int, str], Any] = {}
        time = -1
        for name, key, start, value in steps:
            if name == "write":
                for store in stores.values():
                    store.write(key, start, value, start)
                time = max(time, start)
                if start >= time - retention + 1:
                    rows[start, key] = None if value is None else (value, start)
            elif name in ("flush", "restart"):
                for store in stores.values():
                    store.flush()
                if name == "restart":
                    environments = {caching: environment.restarted() for caching, environment in environments.items()}
                    stores = {caching: build(caching) for caching in (True, False)}
            shown = {at: row for at, row in rows.items() if row is not None and at[0] >= time - retention + 1}
            for store in stores.values():
                assert store.observed_time == time
                assert store.fetch(key, start) == shown.get((start, key))
                if name == "find":
                    assert store.find(key, 100, start) == sorted(
                        (at, row) for (at, k), row in shown.items() if k == key and 100 <= at <= start
                    )
                if name == "all":
                    assert [((entry.key.window.start, entry.key.key), entry.value) for entry in store.all()] == sorted(
                        shown.items()
                    )
        assert environments[True].dropped == environments[False].dropped


# Windows that are emitted when they close


@pytest.mark.parametrize("caching", [False, True])
def test_closed_windows_come_in_the_order_of_start_and_key_also_when_they_left_the_retention(caching: bool) -> None:
    environment = Environment()
    builder = window_result(
        "w", TimeWindows(100), on_close=True, caching=caching, key_serde="string", value_serde="long"
    )
    store: Any = builder.build(environment)
    for key, start in [("b", 100), ("a", 100), ("a", 0), ("c", 5000)]:
        store.write(key, start, start + 1, start)
    store.write("d", 0, 1, 0)  # too late: refused
    store.write("b", 200, None, 200)
    assert store.fetch("a", 100) is None
    emitted = [(key.key, key.window.start, row) for key, row in store.find_closed(-100, 4900)]
    assert emitted == [("a", 0, (1, 0)), ("a", 100, (101, 100)), ("b", 100, (101, 100))]
    store.flush()
    again: Any = builder.build(environment.restarted())
    assert [key.key for key, _ in again.find_closed(4901, 5000)] == ["c"]


@pytest.mark.parametrize("caching", [False, True])
def test_closed_windows_are_freed_after_they_were_emitted_and_not_before(caching: bool) -> None:
    environment = Environment()
    store: Any = window_result("w", TimeWindows(MINUTE), on_close=True, caching=caching).build(environment)
    rows = environment.stores["w"]
    for minute in range(50):
        store.write("a", minute * MINUTE, minute, 0)
    assert len(list(store.find_closed(0, 40 * MINUTE))) == 41
    store.flush()
    assert len(rows) < 30
    assert len(list(store.find_closed(41 * MINUTE, 49 * MINUTE))) == 9
    store.write("a", 60 * MINUTE, 60, 0)
    store.flush()
    assert len(rows) < 10


# What the DSL asks for


def test_retention_follows_from_the_windows() -> None:
    assert minimum_retention(TimeWindows(10, grace=5)) == 15
    assert minimum_retention(SlidingWindows(10, grace=5)) == 25
    assert minimum_retention(SessionWindows(10, grace=5)) == 15
    assert window_result("w", TimeWindows(10, grace=5), retention=20).retention_ms == 20
    with pytest.raises(TopologyError, match="retention of the store w is 14 ms, but its windows need 15 ms"):
        window_result("w", TimeWindows(10, grace=5), retention=14)
    assert window_result("w", TimeWindows(10), on_close=True).caching
    assert not window_result("w", SlidingWindows(10), on_close=True).caching
