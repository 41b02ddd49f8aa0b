from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from penstock.connect.rest.app import Services
from tests.connect.rest.serving import Serving, server
from tests.connect.worker.in_process import Parts, parts


@pytest.fixture(scope="session")
def serving() -> Iterator[Serving]:
    with server() as running:
        yield running


@pytest.fixture
def worker() -> Parts:
    return parts()


@pytest.fixture
def client(worker: Parts, serving: Serving) -> Iterator[httpx.Client]:
    with serving(Services(herder=worker.herder)) as client:
        yield client
