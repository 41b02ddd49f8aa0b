from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.connect.postgres_cdc.following import Follower, config
from tests.servers.fixtures import OwnDatabase, postgres_server
from tests.servers.postgres import PostgresServer

__all__ = ["postgres_server"]

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Most of these tests start a server."""
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.database)


@pytest.fixture
def database(postgres_server: PostgresServer) -> Iterator[OwnDatabase]:
    """A database of the test's own, whose commits are seen at once; its slots go with it."""
    name = postgres_server.create_database()
    postgres_server.execute(f"ALTER DATABASE {name} SET synchronous_commit = on")
    yield OwnDatabase(postgres_server, name)
    slots = "SELECT slot_name, active_pid FROM pg_replication_slots WHERE database = "
    postgres_server.execute(
        f"SELECT pg_terminate_backend(active_pid, 10000) FROM ({slots} '{name}') s WHERE active_pid IS NOT NULL",
        f"SELECT pg_drop_replication_slot(slot_name) FROM ({slots} '{name}') s",
    )
    postgres_server.drop_database(name)


@pytest.fixture
def follow(database: OwnDatabase) -> Iterator[Callable[..., Follower]]:
    """Makes followers of the test's database, and ends them."""
    followers: list[Follower] = []

    def make(**settings: str) -> Follower:
        followers.append(Follower(config(database, **settings)))
        return followers[-1]

    yield make
    for follower in followers:
        follower.stop()
