from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.records import Headers, Window, Windowed
from penstock.state.materialize import session_result
from penstock.state.stores import Stores
from penstock.windows import SessionWindows
from tests.state.environment import Environment, rows_kept_in_memory

MINUTE = 60_000


def session_store(
    environment: Environment | None = None, retention: int = 100, *, caching: bool = False, **serdes: Any
) -> Any:
    builder = Stores.session_store_builder(Stores.persistent_session_store("s", retention), **serdes)
    return (builder.with_caching_enabled() if caching else builder).build(environment or Environment())


def session(key: str, start: int, end: int) -> Windowed[str]:
    return Windowed(key, Window(start, end))


@pytest.mark.parametrize("caching", [False, True])
def test_public_operations(caching: bool) -> None:
    store = session_store(caching=caching)
    for key, start, end, value in [
        ("a", 0, 10, 1),
        ("a", 20, 30, 2),
        ("b", 5, 30, 3),
        ("a", 15, 30, 4),
        ("ab", 1, 1, 5),
    ]:
        store.put(session(key, start, end), value)
    of_a = [(session("a", 0, 10), 1), (session("a", 15, 30), 4), (session("a", 20, 30), 2)]
    assert [tuple(entry) for entry in store.fetch("a")] == of_a
    assert [tuple(entry) for entry in store.backward_fetch("a")] == of_a[::-1]
    assert [tuple(entry) for entry in store.find_sessions("a", 10, 15)] == of_a[:2]
    assert [tuple(entry) for entry in store.find_sessions("a", 11, 15)] == [of_a[1]]
    assert [tuple(entry) for entry in store.backward_find_sessions("a", 10, 20)] == of_a[::-1]
    assert store.find("a", 11, 15) == [(15, 30, 4)]
    assert store.fetch_session("a", 15, 30) == 4
    assert store.fetch_session("a", 16, 30) is None
    everything = [*of_a, (session("ab", 1, 1), 5), (session("b", 5, 30), 3)]
    assert [tuple(entry) for entry in store.all()] == everything
    assert [tuple(entry) for entry in store.fetch_range("a", "ab")] == everything[:4]
    assert [tuple(entry) for entry in store.backward_fetch_range("ab", None)] == everything[:2:-1]
    store.remove(session("a", 15, 30))
    store.put(session("a", 0, 10), None)
    assert [entry.key for entry in store.fetch("a")] == [session("a", 20, 30)]
    assert (store.name, store.kind, store.observed_time) == ("s", "session", 30)


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize(("end", "visible"), [(100, False), (101, True)])
def test_retention_goes_by_the_end(end: int, visible: bool, caching: bool) -> None:
    store = session_store(retention=100, caching=caching)
    store.put(session("a", 0, end), 1)
    store.put(session("b", 200, 200), 2)
    assert bool(store.find("a", 0, 999)) is visible
    assert (store.fetch_session("a", 0, end) == 1) is visible
    assert len(list(store.all())) == 1 + visible


@pytest.mark.parametrize("caching", [False, True])
def test_without_retention_nothing_is_ever_found(caching: bool) -> None:
    """A gap of 0 without grace: each record replaces the session of the one before it."""
    store = session_store(retention=0, caching=caching)
    forwarded: list[Any] = []
    if caching:
        store.set_flush_listener(lambda *update: forwarded.append(update[:2]), True)
    store.write("a", 5, 5, 1)
    store.write("a", 5, 5, 2)
    store.flush()
    assert store.find("a", 0, 99) == []
    assert forwarded == ([(session("a", 5, 5), 2)] if caching else [])


def test_old_segments_are_freed_and_store_time_survives() -> None:
    environment = Environment()
    store = session_store(environment, 2 * MINUTE)
    for minute in range(100):
        store.write("a", minute * MINUTE, minute * MINUTE + 1, minute)
    assert len(environment.stores["s"]) <= 5
    store.flush()
    again = session_store(environment.restarted(), 2 * MINUTE)
    again.write("a", 0, 0, 1)
    assert again.observed_time == 99 * MINUTE + 1
    assert environment.dropped == {"expired session": 1}


def test_changelog_keys_have_end_before_start() -> None:
    changes: list[Any] = []
    store = session_store()
    store.on_change = lambda *change: changes.append(change)
    store.write("k", 1, 2, 7)
    assert changes == [(b"k" + (2).to_bytes(8, "big") + (1).to_bytes(8, "big"), (7).to_bytes(8, "big"), 0)]


def test_a_session_that_keeps_its_window_is_one_update() -> None:
    environment = Environment()
    store = session_store(environment, caching=True)
    forwarded: list[Any] = []
    store.set_flush_listener(lambda *update: forwarded.append(update), True)
    environment.record.headers = Headers([("h", b"1")])
    store.write("a", 0, 5, 1)
    store.flush()
    store.remove(session("a", 0, 5))
    store.write("a", 0, 5, 2)
    store.write("a", 7, 7, 1)
    store.remove(session("a", 7, 7))
    store.flush()
    store.remove(session("a", 0, 5))
    store.write("a", 0, 9, 3)
    store.flush()
    headers = Headers([("h", b"1")])
    assert forwarded == [
        (session("a", 0, 5), 1, None, 5, headers),
        (session("a", 0, 5), 2, 1, 5, headers),
        (session("a", 0, 5), None, 2, 5, headers),
        (session("a", 0, 9), 3, None, 9, headers),
    ]


def test_no_mutable_object_is_shared_with_the_cache() -> None:
    store = session_store(caching=True, value_serde="json")
    mine = [1]
    store.write("a", 0, 1, mine)
    mine.append(2)
    store.find("a", 0, 9)[0][2].append(3)
    assert store.find("a", 0, 9) == [(0, 1, [1])]


@pytest.mark.parametrize("caching", [False, True])
def test_closed_sessions_come_by_end_start_and_key_and_are_freed_afterwards(caching: bool) -> None:
    environment = Environment()
    builder = session_result("s", SessionWindows(10), on_close=True, caching=caching)
    assert not builder.caching
    store: Any = builder.build(environment)
    for key, start, end in [
        ("b", 1, 5),
        ("a", 1, 5),
        ("c", 0, 5),
        ("a", 0, 3),
        ("d", 2, 2),
    ]:
        store.write(key, start, end, 1)
    store.remove(session("d", 2, 2))
    store.write("e", 9 * MINUTE, 9 * MINUTE, 1)
    closed = [key for key, _ in store.find_closed(0, 99)]
    assert closed == [session("a", 0, 3), session("c", 0, 5), session("a", 1, 5), session("b", 1, 5)]
    store.write("e", 20 * MINUTE, 20 * MINUTE, 1)
    store.flush()
    assert [key.key for key, _ in store.find_closed(0, 99 * MINUTE)] == ["e", "e"]
    assert len(environment.stores["s"]) <= 5


def test_a_session_that_is_not_shown_but_still_to_be_emitted_is_kept() -> None:
    store: Any = session_result("s", SessionWindows(10, grace=5), on_close=True).build(Environment())
    store.write("b", 100, 100, 1)
    store.write("a", 85, 85, 1)  # the aggregation accepts it: 85 is not before 100 - 10 - 5
    assert store.find("a", 0, 999) == []
    assert [key.key for key, _ in store.find_closed(0, 85)] == ["a"]
    store.write("a", 85, 85, 2)  # emitted: nobody waits for it any more
    assert list(store.find_closed(0, 85)) == []


steps = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "write", "remove", "flush", "restart", "all"]),
        st.sampled_from(["a", "ab"]),
        st.integers(0, 150_000),
        st.integers(0, 100_000),
    ),
    max_size=25,
)


@given(
    steps,
    st.sampled_from(["long", "json"]),
    st.sampled_from(["string", "json"]),
    st.sampled_from([0, 5, 90_000]),
    st.sampled_from([0, 50_000]),
)
def test_cache_on_and_off_and_a_model_agree(
    steps: list[Any], value_serde: str, key_serde: str, retention: int, limit: int
) -> None:
    with rows_kept_in_memory(limit):
        environments = {caching: Environment() for caching in (True, False)}

        def build(caching: bool) -> Any:
            return session_store(
                environments[caching], retention, caching=caching, key_serde=key_serde, value_serde=value_serde
            )

        stores = {caching: build(caching) for caching in (True, False)}
        rows: dict[tuple[str, int, int], int] = {}
        time = -1
        for number, (name, key, start, length) in enumerate(steps):
            end = start + length
            if name in ("write", "remove"):
                for store in stores.values():
                    store.write(key, start, end, number if name == "write" else None)
                time = max(time, end)
                if end >= time - retention + 1:
                    if name == "write":
                        rows[key, end, start] = number
                    else:
                        rows.pop((key, end, start), None)
            elif name in ("flush", "restart"):
                for store in stores.values():
                    store.flush()
                if name == "restart":
                    environments = {caching: environment.restarted() for caching, environment in environments.items()}
                    stores = {caching: build(caching) for caching in (True, False)}
            shown = {at: value for at, value in rows.items() if at[1] >= time - retention + 1}
            for store in stores.values():
                assert store.observed_time == time
                assert store.fetch_session(key, start, end) == shown.get((key, end, start))
                assert store.find(key, start, end) == sorted(
                    ((s, e, value) for (k, e, s), value in shown.items() if k == key and e >= start and s <= end),
                    key=lambda found: (found[1], found[0]),
                )
                if name == "all" and key_serde == "string":
                    assert [(e.key.key, e.key.window.end, e.key.window.start) for e in store.all()] == sorted(shown)
        assert environments[True].dropped == environments[False].dropped
