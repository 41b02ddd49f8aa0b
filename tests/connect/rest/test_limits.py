"""Much of everything: large configurations, many connectors, many requests at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.connect.worker.in_process import SOURCE, Parts

CONFIG = {"connector.class": SOURCE, "topic": "t"}


def test_a_configuration_of_a_megabyte(client: httpx.Client, worker: Parts) -> None:
    large = {**CONFIG, "file": "x" * 1_000_000, **{f"setting.{i}": str(i) for i in range(1000)}}
    assert client.put("/connectors/c/config", json=large).status_code == 201
    assert client.get("/connectors/c/config").json() == {**large, "name": "c"}
    assert worker.runner.running["c"].config["file"] == large["file"]
    infos = client.put(f"/connector-plugins/{SOURCE}/config/validate", json={**large, "name": "c"}).json()
    assert infos["error_count"] == 0


def test_an_error_about_a_large_value_names_the_setting(client: httpx.Client) -> None:
    answer = client.put("/connectors/c/config", json={**CONFIG, "tasks.max": "9" * 100_000})
    assert answer.status_code == 400
    assert "for configuration tasks.max: Not a number of type INT" in answer.json()["message"]


@pytest.mark.slow
def test_a_thousand_connectors_are_created_and_deleted(client: httpx.Client, worker: Parts) -> None:
    threads = threading.active_count()
    for i in range(1000):
        assert client.put(f"/connectors/c{i}/config", json=CONFIG).status_code == 201
    listed = client.get("/connectors?expand=status").json()
    assert len(listed) == 1000
    assert {one["status"]["connector"]["state"] for one in listed.values()} == {"RUNNING"}
    for i in range(1000):
        assert client.delete(f"/connectors/c{i}").status_code == 204
    worker.settle()
    assert client.get("/connectors").json() == []
    assert worker.runner.running == {}
    assert worker.statuses.connector("c0") is None
    assert threading.active_count() <= threads + 2


def test_one_of_many_creates_a_connector(client: httpx.Client, worker: Parts) -> None:
    def create(number: int) -> int:
        body: dict[str, Any] = {"name": "c", "config": {**CONFIG, "file": str(number)}}
        return httpx.post(f"{client.base_url}/connectors", json=body, trust_env=False).status_code

    with ThreadPoolExecutor(8) as pool:
        codes = sorted(pool.map(create, range(8)))
    assert codes == [201, *[409] * 7]
    worker.settle()
    assert worker.runner.calls == [("start", "c")]
