from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.connect.worker.in_process import SINK, SOURCE, Parts

FILE = {"partition": {"filename": "/tmp/a"}, "offset": {"position": 7}}
SINK_OFFSET = {"partition": {"kafka_topic": "t", "kafka_partition": 0}, "offset": {"kafka_offset": 5}}


def stopped(client: httpx.Client, worker: Parts, config: dict[str, str]) -> None:
    assert client.put("/connectors/c/config", json=config).status_code == 201
    assert client.put("/connectors/c/stop").status_code == 204
    worker.settle()


@pytest.fixture
def source(client: httpx.Client, worker: Parts) -> httpx.Client:
    stopped(client, worker, {"connector.class": SOURCE, "topic": "t"})
    return client


@pytest.fixture
def sink(client: httpx.Client, worker: Parts) -> httpx.Client:
    stopped(client, worker, {"connector.class": SINK, "topics": "t"})
    return client


def test_offsets_of_a_source_are_altered_read_and_reset(source: httpx.Client) -> None:
    assert source.get("/connectors/c/offsets").json() == {"offsets": []}
    altered = source.patch("/connectors/c/offsets", json={"offsets": [FILE]})
    assert altered.status_code == 200
    assert altered.json() == {"message": "The offsets for this connector have been altered successfully"}
    assert source.get("/connectors/c/offsets").json() == {"offsets": [FILE]}
    for _ in range(2):
        reset = source.delete("/connectors/c/offsets")
        assert reset.json() == {"message": "The offsets for this connector have been reset successfully"}
    assert source.get("/connectors/c/offsets").json() == {"offsets": []}


def test_offsets_of_a_sink_are_kafkas(sink: httpx.Client, worker: Parts) -> None:
    as_text = {"partition": {"kafka_topic": "t", "kafka_partition": "0"}, "offset": {"kafka_offset": "5"}}
    forgotten = {"partition": {"kafka_topic": "t", "kafka_partition": 1}, "offset": None}
    assert sink.patch("/connectors/c/offsets", json={"offsets": [as_text, forgotten]}).status_code == 200
    assert worker.runner.kept["c"] == [SINK_OFFSET]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"offsets": []}, 400, "Partitions / offsets need to be provided for an alter offsets request"),
        ({}, 400, "Partitions / offsets need to be provided for an alter offsets request"),
        ({"x": 1}, 500, 'Unrecognized field "x"'),
        ({"offsets": [{"partition": None}]}, 400, "cannot be null or missing"),
        ({"offsets": [{"partition": {}}]}, 400, "must contain the keys 'kafka_topic' and 'kafka_partition'"),
        (
            {"offsets": [{"partition": {"kafka_topic": "t", "kafka_partition": 0}, "offset": {}}]},
            400,
            "should either be null or contain the key 'kafka_offset'",
        ),
    ],
)
def test_offsets_that_cannot_be(sink: httpx.Client, body: dict[str, Any], status: int, message: str) -> None:
    answer = sink.patch("/connectors/c/offsets", json=body)
    assert answer.status_code == status
    assert message in answer.json()["message"]


@pytest.mark.parametrize("state", ["resume", "pause"])
def test_only_a_stopped_connector_has_its_offsets_changed(source: httpx.Client, worker: Parts, state: str) -> None:
    source.put(f"/connectors/c/{state}")
    message = "Connectors must be in the STOPPED state before their offsets can be modified."
    for answer in (
        source.patch("/connectors/c/offsets", json={"offsets": [FILE]}),
        source.delete("/connectors/c/offsets"),
    ):
        assert answer.status_code == 400
        assert answer.json()["message"].startswith(message)
    assert "c" not in worker.runner.kept


def test_offsets_outlive_their_connector_unless_told_otherwise(source: httpx.Client, worker: Parts) -> None:
    source.patch("/connectors/c/offsets", json={"offsets": [FILE]})
    source.delete("/connectors/c")
    worker.settle()
    assert worker.runner.kept == {"c": [FILE]}
    stopped(source, worker, {"connector.class": SOURCE, "topic": "t"})
    assert source.get("/connectors/c/offsets").json() == {"offsets": [FILE]}
    assert source.delete("/connectors/c?offsets=true").status_code == 204
    worker.settle()
    assert worker.runner.kept == {}
