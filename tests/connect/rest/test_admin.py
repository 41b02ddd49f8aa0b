from __future__ import annotations

import logging
from collections.abc import Iterator

import httpx
import pytest

LOGGER = "org.example.connect"


@pytest.fixture(autouse=True)
def _levels() -> Iterator[None]:
    names = [LOGGER, f"{LOGGER}.file", f"{LOGGER}.json"]
    root = logging.getLogger().level
    for name in names:
        logging.getLogger(name).setLevel(logging.WARNING)
    yield
    for name in names:
        logging.getLogger(name).setLevel(logging.NOTSET)
    logging.getLogger().setLevel(root)


def test_levels_are_listed_and_changed(client: httpx.Client) -> None:
    listed = client.get("/admin/loggers").json()
    assert list(listed) == sorted(listed)
    assert listed[LOGGER] == {"level": "WARN", "last_modified": None}
    assert "root" in listed
    changed = client.put(f"/admin/loggers/{LOGGER}", json={"level": "debug"})
    assert changed.json() == [LOGGER, f"{LOGGER}.file", f"{LOGGER}.json"]
    assert logging.getLogger(f"{LOGGER}.file").level == logging.DEBUG
    again = client.put(f"/admin/loggers/{LOGGER}?scope=else", json={"level": "DEBUG"})
    assert again.json() == []
    one = client.get(f"/admin/loggers/{LOGGER}").json()
    assert one["level"] == "DEBUG"
    assert isinstance(one["last_modified"], int)


def test_all_workers_are_told(client: httpx.Client) -> None:
    answer = client.put(f"/admin/loggers/{LOGGER}?scope=cluster", json={"level": "TRACE"})
    assert (answer.status_code, answer.content) == (204, b"")
    assert client.get(f"/admin/loggers/{LOGGER}.json").json()["level"] == "TRACE"


def test_the_root_logger(client: httpx.Client) -> None:
    client.put("/admin/loggers/root", json={"level": "ERROR"})
    assert client.get("/admin/loggers/root").json()["level"] == "ERROR"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({}, 400, "Desired 'level' parameter was not specified in request."),
        ({"level": "LOUD"}, 404, "invalid log level 'LOUD'."),
        ({"level": 1}, 500, "Cannot deserialize value of type `String` from Integer value"),
        ([], 500, "Cannot deserialize value of type `Object` from Array value"),
    ],
)
def test_levels_that_cannot_be(client: httpx.Client, body: object, status: int, message: str) -> None:
    answer = client.put(f"/admin/loggers/{LOGGER}", json=body)
    assert answer.status_code == status
    assert message in answer.json()["message"]
