from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.connect.search.sink_driver import Sink
from tests.servers.opensearch import OpenSearchServer

_HERE = Path(__file__).parent
_numbers = itertools.count(1)

SinkFactory = Callable[..., Sink]
"""`sink()` or `sink(key_ignore="true")`: a started task that writes to the server."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that use the server are marked by that."""
    for item in items:
        if _HERE in item.path.parents and "server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.search)


@pytest.fixture(scope="session")
def server() -> Iterator[OpenSearchServer]:
    """One OpenSearch for the whole session; tests stay apart by the names of their topics.

    It takes one write at a time and few in the queue, so that it refuses more with 429 when a test wants that; and requests of 4 MB at most.
    """
    settings = {"thread_pool.write.size": 1, "thread_pool.write.queue_size": 8, "http.max_content_length": "4mb"}
    with OpenSearchServer(settings) as running:
        yield running


@pytest.fixture
def topic() -> str:
    """A name no other test uses."""
    return f"topic-{next(_numbers)}"


@pytest.fixture
def sink(server: OpenSearchServer) -> Iterator[SinkFactory]:
    """Makes sinks, and stops them after the test."""
    made: list[Sink] = []

    def make(**settings: str) -> Sink:
        made.append(Sink({"connection.url": server.url, "read.timeout.ms": "30000", **settings}))
        return made[-1]

    yield make
    for one in made:
        one.stop()
