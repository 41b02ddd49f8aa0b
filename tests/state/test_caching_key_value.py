from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.records import Headers
from penstock.state.cells import HEADERS, SEQUENCE, TIMESTAMP, VALUE
from penstock.state.stores import Stores
from tests.state.environment import Environment, rows_kept_in_memory

SUPPLIER = Stores.persistent_timestamped_key_value_store("rows")
BUILDER = Stores.timestamped_key_value_store_builder(SUPPLIER).with_caching_enabled()


def cached(environment: Environment | None = None, **serdes: Any) -> tuple[Any, list[Any]]:
    store: Any = (
        Stores.timestamped_key_value_store_builder(SUPPLIER, **serdes)
        .with_caching_enabled()
        .build(environment or Environment())
    )
    forwarded: list[Any] = []
    store.set_flush_listener(lambda *update: forwarded.append(update), True)
    return store, forwarded


def test_one_update_a_key_in_the_order_of_the_last_changes() -> None:
    environment = Environment()
    store, forwarded = cached(environment)
    for headers, key, value, timestamp in [("1", "a", 1, 10), ("2", "b", 2, 11), ("3", "a", 3, 5)]:
        environment.record.headers = Headers([(headers, b"")])
        store.write(key, value, timestamp)
    assert forwarded == []
    store.flush()
    assert forwarded == [("b", 2, None, 11, Headers([("2", b"")])), ("a", 3, None, 5, Headers([("3", b"")]))]
    forwarded.clear()
    store.write("a", None, 20)
    store.flush()
    assert [update[:4] for update in forwarded] == [("a", None, 3, 20)]


def test_what_was_absent_before_and_is_absent_now_gives_nothing() -> None:
    store, forwarded = cached()
    changes: list[Any] = []
    store.on_change = lambda *change: changes.append(change)
    store.write("a", 1, 1)
    assert list(store.all())  # a scan brings the row to the bytes store before it is deleted
    store.write("a", None, 2)
    store.write("b", None, 3)
    store.flush()
    assert forwarded == []
    assert changes == []
    assert store.approximate_num_entries == 0


def test_without_send_old_there_is_no_old_value() -> None:
    store, forwarded = cached()
    store.set_flush_listener(lambda *update: forwarded.append(update), False)
    for value in (1, 2):
        store.write("a", value, value)
        store.flush()
    assert [update[1:3] for update in forwarded] == [(1, None), (2, None)]


def test_an_environment_without_caching_wins() -> None:
    store: Any = BUILDER.build(Environment(caching=False))
    assert not store.cached


def test_what_a_flush_forwards_may_change_the_store_again() -> None:
    store, forwarded = cached()

    def listener(key: str, new: Any, old: Any, timestamp: int, headers: Any) -> None:
        forwarded.append((key, new, old))
        assert store.get("b") is not None  # all rows are written before the first is forwarded
        if key == "a" and new < 3:
            store.write("b", 10 + new, timestamp)

    store.set_flush_listener(listener, True)
    store.write("a", 1, 1)
    store.write("b", 2, 2)
    store.flush()
    assert forwarded == [("a", 1, None), ("b", 2, None), ("b", 11, 2)]


@pytest.mark.parametrize("key_serde", ["string", "json"])
def test_cells_give_an_aggregation_its_rows_without_a_call(key_serde: str) -> None:
    environment = Environment()
    store, forwarded = cached(environment, key_serde=key_serde)
    cells, load, tick = store.use_cells(), store.load, store.tick
    for timestamp, key in enumerate(["a", "b", "a", "a"]):
        cell = cells.get(key if store.key_identity else store.raw_key(key)) or load(key)
        cell[VALUE] = 1 if cell[VALUE] is None else cell[VALUE] + 1
        cell[TIMESTAMP] = timestamp
        cell[SEQUENCE] = tick()
        cell[HEADERS] = environment.record.headers
    assert store.get("a") == (3, 3)
    assert [tuple(entry) for entry in store.all()] == [("a", (3, 3)), ("b", (1, 1))]
    store.flush()
    assert [update[:4] for update in forwarded] == [("b", 1, None, 1), ("a", 3, None, 3)]
    load("a")  # read, but never changed: as when the aggregator failed
    store.flush()
    assert len(forwarded) == 2


def test_no_mutable_object_is_shared() -> None:
    store, forwarded = cached(value_serde="json")
    mine = {"n": [1]}
    store.write("a", mine, 1)
    mine["n"].append(2)
    store.get("a").value["n"].append(3)
    assert store.get("a").value == {"n": [1]}
    store.flush()
    forwarded[0][1]["n"].append(4)
    assert store.get("a").value == {"n": [1]}


def test_an_aggregation_works_on_the_live_object_and_readers_on_copies() -> None:
    store, forwarded = cached(value_serde="json")
    cells = store.use_cells()
    for number in (1, 2):
        cell = cells.get("a") or store.load("a")
        cell[VALUE] = cell[VALUE] if cell[VALUE] is not None else []
        cell[VALUE].append(number)
        cell[TIMESTAMP], cell[SEQUENCE] = number, store.tick()
        store.get("a").value.append("reader")
        assert store.get("a").value == list(range(1, number + 1))
    store.flush()
    forwarded[0][1].append("downstream")
    cell = store.load("a")
    assert cell[VALUE] == [1, 2]
    cell[VALUE].append(3)
    cell[SEQUENCE] = store.tick()
    store.flush()
    assert [(new, old) for _, new, old, *_ in forwarded] == [([1, 2, "downstream"], None), ([1, 2, 3], [1, 2])]


steps = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "write", "flush", "restart", "scan"]),
        st.sampled_from(["a", "ab", "b", "c"]),
        st.one_of(st.none(), st.integers(0, 5)),
        st.integers(0, 9),
    ),
    max_size=25,
)


@given(
    steps,
    st.booleans(),
    st.sampled_from(["long", "json"]),
    st.sampled_from(["string", "json"]),
    st.sampled_from([0, 50_000]),
)
def test_cache_on_and_off_and_a_model_agree(
    steps: list[Any], inline: bool, value_serde: str, key_serde: str, limit: int
) -> None:
    with rows_kept_in_memory(limit):
        environments = {caching: Environment(caching=caching) for caching in (True, False)}
        builder = Stores.timestamped_key_value_store_builder(SUPPLIER, key_serde, value_serde).with_caching_enabled()
        forwarded: list[Any] = []

        def build(caching: bool) -> Any:
            store: Any = builder.build(environments[caching])
            if caching:
                if inline:
                    store.use_cells()
                store.set_flush_listener(lambda *update: forwarded.append(update[:4]), True)
            return store

        stores = {caching: build(caching) for caching in (True, False)}
        rows: dict[str, Any] = {}
        flushed: dict[str, Any] = {}
        changed: dict[str, int] = {}  # key -> timestamp, in the order of the last change
        for name, key, value, timestamp in steps:
            if name == "write":
                for store in stores.values():
                    store.write(key, value, timestamp)
                rows[key] = None if value is None else (value, timestamp)
                changed.pop(key, None)
                changed[key] = timestamp
            elif name == "scan":
                expected = sorted((k, row) for k, row in rows.items() if row is not None and "a" <= k <= "b")
                if key_serde == "string":
                    for store in stores.values():
                        assert [tuple(entry) for entry in store.range("a", "b")] == expected
            else:
                for store in stores.values():
                    store.flush()
                assert forwarded == [
                    (k, rows[k] and rows[k][0], flushed.get(k) and flushed[k][0], changed[k])
                    for k in changed
                    if rows[k] is not None or flushed.get(k) is not None
                ]
                forwarded.clear()
                changed.clear()
                flushed = dict(rows)
                if name == "restart":
                    environments = {caching: environment.restarted() for caching, environment in environments.items()}
                    stores = {caching: build(caching) for caching in (True, False)}
            for store in stores.values():
                assert store.get(key) == rows.get(key)
        for store in stores.values():
            store.flush()
        content = [list(environment.stores["rows"].items()) for environment in environments.values()]
        assert content[0] == content[1]
