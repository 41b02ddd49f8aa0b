from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers.fixtures import (
    OwnDatabase,
    mariadb_database,
    mariadb_server,
    postgres_database,
    postgres_server,
)
from tests.servers.sqlite import SqliteFile

__all__ = ["mariadb_database", "mariadb_server", "postgres_database", "postgres_server"]


_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Most of these tests start servers, whichever fixture they get them from."""
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.database)


@pytest.fixture
def sqlite_database(tmp_path: Path) -> OwnDatabase:
    """A database in a file."""
    return OwnDatabase(SqliteFile(tmp_path / "test.db"), "test")


@pytest.fixture(params=["postgres", "mariadb", "sqlite"])
def database(request: pytest.FixtureRequest) -> OwnDatabase:
    """Each kind of database in turn."""
    found: OwnDatabase = request.getfixturevalue(f"{request.param}_database")
    return found
