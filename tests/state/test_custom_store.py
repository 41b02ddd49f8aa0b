from __future__ import annotations

import pickle
from typing import Any

import pytest

from penstock.errors import TopologyError
from penstock.state.store import StateStore
from penstock.state.stores import Stores
from tests.state.environment import Environment


class Total(StateStore):
    """A store of a user's own."""

    persistent = False

    def __init__(self) -> None:
        super().__init__("total")
        self.sum = 0
        self.context: Any = None

    def init(self, context: Any, root: StateStore) -> None:
        assert root is self
        self.context = context


def test_every_task_gets_its_own_store_ready_to_use() -> None:
    environment = Environment()
    builder = Stores.custom_store_builder("total", Total)
    store, other = builder.build(environment), builder.build(environment)
    assert isinstance(store, Total)
    assert store is not other
    assert store.context is environment.record
    assert (store.kind, store.cached, store.persistent, store.is_open) == ("custom", False, False, True)
    store.flush()
    store.close()
    assert not store.is_open


def test_a_store_with_another_name_is_refused() -> None:
    with pytest.raises(TopologyError, match="the factory of the store sum made one called 'total'"):
        Stores.custom_store_builder("sum", Total).build(Environment())
    with pytest.raises(TopologyError, match="factory of the store total is"):
        Stores.custom_store_builder("total", Total())  # type: ignore[arg-type]


def test_builders_travel_to_the_tasks() -> None:
    for builder in (
        Stores.custom_store_builder("total", Total),
        Stores.key_value_store_builder(Stores.lru_map("lru", 3), "string", "long").with_caching_enabled(),
        Stores.session_store_builder(Stores.in_memory_session_store("s", "5m"), "string", "json"),
    ):
        assert pickle.loads(pickle.dumps(builder)) == builder
