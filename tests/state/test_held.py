"""How much a cache of windows holds: it is asked after every chunk of records, so it counts as it goes."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock.state.cells import SEQUENCE, VALUE
from penstock.state.stores import Stores
from tests.state.environment import Environment


class Unasked(dict[int, Any]):
    """Windows that nobody may go through."""

    def values(self) -> NoReturn:
        raise AssertionError("there may be as many windows as records")


def cached(retention: int = 100) -> Any:
    builder = Stores.window_store_builder(Stores.persistent_window_store("w", retention, 10))
    return builder.with_caching_enabled().build(Environment())


def counted(store: Any) -> int:
    windows = sum(map(len, dict.values(store.windows)))
    return windows + len(store._gone) + len(store._late)


def test_it_is_the_number_of_cells() -> None:
    store = cached()
    steps = [("a", 0), ("b", 0), ("a", 0), ("a", 90), ("c", 95), ("a", 130), ("b", 1), ("b", 1), ("d", 300), ("a", 299)]
    for i, (key, start) in enumerate(steps):
        store.put(key, i, start)
        assert store.held == counted(store)
    assert store.held == 8  # cells of windows that are gone wait for the flush, too
    store.flush()
    assert store.held == 0
    store.put("a", 1, 299)  # a row that was kept decoded
    store.put("a", 2, 310)
    assert store.held == counted(store) == 2
    store.fetch("a", 310)
    assert store.held == 2


def test_cells_that_are_changed_in_place_count() -> None:
    store = cached()
    windows = store.use_cells()
    for start in (0, 10, 20, 10, 500):
        cell = windows.get(start, {}).get("a") or store.load("a", start)
        cell[VALUE], cell[SEQUENCE] = 1, store.tick()
        assert store.held == counted(store)
    assert store.held == 4
    store.flush()
    assert store.held == counted(store) == 0


def test_more_windows_than_are_kept_open() -> None:
    store = cached(retention=10_000)
    for start in range(0, 3000, 10):
        store.put("a", 1, start)
    assert store.held == 300
    store.flush()
    store.put("a", 1, 0)
    assert store.held == counted(store) == 1


def test_windows_are_not_asked() -> None:
    store = cached()
    store.windows = Unasked()
    for start in range(50):
        store.put("a", 1, start)
    assert store.held == 50
