"""Window stores of stream-stream joins: every record is kept, and found by its key."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.state.materialize import join_window
from penstock.state.stores import Stores
from penstock.windows import JoinWindows
from tests.state.environment import Environment, rows_kept_in_memory


def join_store(
    environment: Environment | None = None, *, retention: int = 100, in_memory: bool = False, **options: Any
) -> Any:
    make = Stores.in_memory_window_store if in_memory else Stores.persistent_window_store
    return Stores.window_store_builder(make("w", retention, 1, True), **options).build(environment or Environment())


@pytest.mark.parametrize(("in_memory", "store_time"), [(True, 500), (False, 10)])
def test_a_null_moves_the_time_of_a_join_store_only_in_memory(in_memory: bool, store_time: int) -> None:
    store = join_store(in_memory=in_memory)
    store.put("a", 1, 10)
    store.put("a", None, 500)
    assert store.observed_time == store_time


def test_join_windows_have_exactly_the_size_and_retention_of_the_join() -> None:
    builder = join_window("side", JoinWindows(5, 7, grace=3), key_serde="string", value_serde="long")
    assert (builder.window_size, builder.retention_ms, builder.retain_duplicates) == (12, 15, True)


duplicate_steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "find", "flush", "restart"]),
        st.sampled_from(["a", "b"]),
        st.integers(0, 40),
        st.integers(0, 40),
    ),
    max_size=40,
)


@given(
    duplicate_steps,
    st.sampled_from(["string", "json"]),
    st.sampled_from(["long", "json"]),
    st.sampled_from([0, 50_000]),
)
def test_join_windows_and_a_model_agree(steps: list[Any], key_serde: str, value_serde: str, limit: int) -> None:
    with rows_kept_in_memory(limit):
        environment, retention = Environment(), 10
        options: Any = {"retention": retention, "key_serde": key_serde, "value_serde": value_serde}
        store = join_store(environment, **options)
        rows: list[tuple[str, int, int]] = []
        time = -1
        for number, (name, key, first, last) in enumerate(steps):
            if name == "put":
                store.put(key, number, first)
                time = max(time, first)
                if first >= time - retention + 1:
                    rows.append((key, first, number))
            elif name == "flush":
                store.flush()
            elif name == "restart":
                store.flush()
                environment = environment.restarted()
                store = join_store(environment, **options)
            found = sorted(
                (start, number)
                for k, start, number in rows
                if k == key and max(first, time - retention + 1) <= start <= last
            )
            assert store.find(key, first, last) == found


@pytest.mark.parametrize("value_serde", ["long", "json"])
def test_a_key_that_the_other_side_never_asks_for_takes_no_more_memory_than_its_retention(value_serde: str) -> None:
    builder = join_window("side", JoinWindows(50, 50), key_serde="string", value_serde=value_serde)
    store: Any = builder.build(Environment())
    most = 0
    for time in range(10_000):
        store.write("a", time, time, time)
        most = max(most, sum(len(starts) for starts, _ in store._recent.values()))
    assert most <= 250
    assert [start for start, _ in store.find("a", 9_990, 9_999)] == list(range(9_990, 10_000))
