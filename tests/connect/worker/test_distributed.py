"""Workers of one group on a real broker: one leads, the others hand over, and take over when it goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import orjson
import pytest

from penstock.broker import LocalBroker
from penstock.connect.connect_worker import ConnectWorker
from penstock.connect.errors import ConfigError
from penstock.connect.worker.backend import Backend
from penstock.connect.worker.compacted_log import LARGEST_RECORD
from penstock.connect.worker.worker_config import Mode, WorkerConfig
from penstock.kafka.admin import Admin
from penstock.kafka.clients import open_consumer
from tests.conftest import TopicFactory
from tests.connect.worker.in_process import SOURCE, WORKER, InProcessRunner, Types

pytestmark = pytest.mark.broker

CONFIG = {"connector.class": SOURCE, "topic": "lines", "tasks.max": "2"}


def settings(broker: LocalBroker, name: str, **more: str) -> dict[str, str]:
    return {
        **WORKER,
        "bootstrap.servers": broker.bootstrap_servers,
        "listeners": "http://127.0.0.1:0",
        "group.id": f"{name}-group",
        "config.storage.topic": f"{name}-configs",
        "offset.storage.topic": f"{name}-offsets",
        "status.storage.topic": f"{name}-status",
        "offset.storage.replication.factor": "1",
        "config.storage.replication.factor": "1",
        "status.storage.replication.factor": "1",
        "offset.storage.partitions": "2",
        "status.storage.partitions": "2",
        "session.timeout.ms": "6000",
        "heartbeat.interval.ms": "500",
        **{key.replace("_", "."): value for key, value in more.items()},
    }


class Node:
    """A worker of the group, with its runner."""

    def __init__(self, given: dict[str, str]) -> None:
        self.runner = InProcessRunner()

        def make(config: WorkerConfig, backend: Backend) -> InProcessRunner:
            self.publish, self.stored = backend.offsets.save, backend.offsets.load
            return self.runner

        self.worker = ConnectWorker(WorkerConfig.parse(given, Mode.DISTRIBUTED), runner=make, types=Types())
        self.worker.start()
        self.http = httpx.Client(base_url=self.worker.url, timeout=60, trust_env=False)
        self.open = True

    def close(self) -> None:
        if self.open:
            self.open = False
            self.http.close()
            self.worker.close()


@pytest.fixture
def nodes(broker: LocalBroker, request: pytest.FixtureRequest) -> Iterator[Any]:
    name = request.node.name.replace("_", "-")[:60]
    with ExitStack() as stack:

        def start(**more: str) -> Node:
            node = Node(settings(broker, name, **more))
            stack.callback(node.close)
            return node

        start.name = name  # type: ignore[attr-defined]
        yield start


def eventually(check: Any) -> Any:
    """What a check gives, as soon as it gives something; the test's own time limit ends it otherwise."""
    while True:
        try:
            found = check()
        except (KeyError, AssertionError):
            found = None
        if found:
            return found
        time.sleep(0.05)


def state(node: Node, name: str = "c") -> str | None:
    answer = node.http.get(f"/connectors/{name}/status").json()
    return answer["connector"]["state"] if "connector" in answer else None


def test_requests_go_to_the_worker_that_leads_and_the_next_one_takes_over(nodes: Any) -> None:
    first = nodes()
    created = first.http.post("/connectors", json={"name": "c", "config": CONFIG})
    # Whether its tasks are there already is a matter of who is faster.
    assert (created.status_code, created.json()["config"]) == (201, {**CONFIG, "name": "c"})
    second = nodes()
    other = second.http.put("/connectors/d d/config", json={**CONFIG, "file": "x"})
    assert other.status_code == 201
    assert other.headers["content-type"] == "application/json"
    assert second.http.get("/connectors").json() == ["c", "d d"]
    assert set(first.runner.running) == {"c", "d d"} or eventually(lambda: set(first.runner.running) == {"c", "d d"})
    assert second.runner.running == {}
    eventually(lambda: state(second) == "RUNNING")
    eventually(lambda: len(second.http.get("/connectors/c").json()["tasks"]) == 2)
    assert second.http.put("/connectors/d d/pause").status_code == 202
    eventually(lambda: state(second, "d d") == "PAUSED")
    refused = second.http.post("/connectors", json={"name": "c", "config": CONFIG})
    assert refused.json() == {"error_code": 409, "message": "Connector c already exists"}
    assert second.http.get("/connectors/x/offsets").status_code == 404

    first.close()
    eventually(lambda: set(second.runner.running) == {"c", "d d"})
    eventually(lambda: second.http.get("/connectors/c/status").json()["connector"]["worker_id"] in second.worker.url)
    assert second.runner.running["d d"].paused
    assert second.http.delete("/connectors/c").status_code == 204
    assert second.http.get("/connectors").json() == ["d d"]
    third = nodes()
    assert third.http.get("/connectors").json() == ["d d"]
    assert third.runner.running == {}


def test_everything_is_in_the_topics_in_kafkas_layout(nodes: Any, broker: LocalBroker) -> None:
    node = nodes()
    request = {"name": "c", "config": CONFIG, "initial_state": "PAUSED"}
    assert node.http.post("/connectors", json=request).status_code == 201
    eventually(lambda: state(node) == "PAUSED")
    eventually(lambda: len(node.http.get("/connectors/c").json()["tasks"]) == 2)
    node.publish("c", [{"partition": {"filename": "x"}, "offset": {"position": 7}}])
    node.close()
    records = {kind: read_topic(broker, f"{nodes.name}-{kind}") for kind in ("configs", "status", "offsets")}
    keys = [key for key, _ in records["configs"]]
    assert keys == [
        "penstock-leader", "target-state-c", "connector-c", "task-c-0", "task-c-1", "commit-c"
    ]  # fmt: skip
    by_key = dict(records["configs"])
    assert by_key["connector-c"] == {"properties": {**CONFIG, "name": "c"}}
    assert by_key["commit-c"] == {"tasks": 2}
    status = dict(records["status"])["status-task-c-1"]
    assert status["state"] == "PAUSED"
    assert status["generation"] == 1
    assert records["offsets"] == [('["c",{"filename":"x"}]', {"position": 7})]
    for kind in ("configs", "status", "offsets"):
        assert Admin(node.worker.config.client("admin")).describe_topic(f"{nodes.name}-{kind}").configs == {
            "cleanup.policy": "compact",
            "max.message.bytes": str(LARGEST_RECORD),
        }


def read_topic(broker: LocalBroker, topic: str) -> list[tuple[str, Any]]:
    from confluent_kafka import TopicPartition

    admin = Admin({"bootstrap.servers": broker.bootstrap_servers})
    partitions = [(topic, number) for number in range(admin.topic(topic).partitions)]
    count = sum(admin.end_offsets(partitions).values())
    consumer = open_consumer({"bootstrap.servers": broker.bootstrap_servers, "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition(topic, number, 0) for _, number in partitions])
    found: list[tuple[str, Any]] = []
    while len(found) < count:
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            value = message.value()
            found.append(((message.key() or b"").decode(), None if value is None else orjson.loads(value)))
    consumer.close()
    return found


def test_offsets_of_sources_are_known_to_all_workers(nodes: Any) -> None:
    first, second = nodes(), nodes()
    offsets = [{"partition": {"filename": "x"}, "offset": {"position": 7}}]
    first.publish("c", offsets)
    first.close()
    assert second.stored("c") == offsets
    second.publish("c", [{**offsets[0], "offset": None}])
    eventually(lambda: second.stored("c") == [])


def test_loggers_of_all_workers_are_changed(nodes: Any) -> None:
    first, second = nodes(), nodes()
    answer = second.http.put("/admin/loggers/org.example.all?scope=cluster", json={"level": "ERROR"})
    assert answer.status_code == 204
    eventually(lambda: first.http.get("/admin/loggers").json()["org.example.all"]["level"] == "ERROR")


def test_a_configuration_of_megabytes_is_kept_and_a_larger_one_refused(
    nodes: Any, broker: LocalBroker, topic: TopicFactory
) -> None:
    first = nodes()
    eventually(lambda: first.http.get("/connectors").status_code == 200)
    large = {**CONFIG, "file": "x" * 2_000_000}
    eventually(lambda: first.http.put("/connectors/c/config", json=large).status_code in {200, 201})
    eventually(lambda: len(first.http.get("/connectors/c/tasks").json()) == 2)
    first.close()
    second = nodes()
    eventually(lambda: second.runner.running.get("c"))
    assert second.http.get("/connectors/c/config").json() == {**large, "name": "c"}
    answer = second.http.put("/connectors/c/config", json={**CONFIG, "file": "x" * 11_000_000})
    assert answer.status_code == 400
    assert "does not take a record of 11000" in answer.json()["message"]
    assert "Make the configuration shorter, or raise max.message.bytes of the topic" in answer.json()["message"]
    assert second.http.get("/connectors/c/config").json() == {**large, "name": "c"}
    # A topic that Kafka's own workers made has Kafka's limit.
    small = topic("configs", config={"cleanup.policy": "compact"})
    third = nodes(config_storage_topic=small, group_id=f"{small}-group")
    eventually(lambda: third.http.put("/connectors/d/config", json=CONFIG).status_code in {200, 201})
    assert third.http.put("/connectors/d/config", json=large).status_code == 400


def test_topics_that_are_not_compacted_are_refused(broker: LocalBroker, topic: TopicFactory) -> None:
    wrong = topic("wrong")
    many = topic("many", partitions=2, config={"cleanup.policy": "compact"})
    given = settings(broker, "refused")
    for changed, message in (
        ({"status.storage.topic": wrong}, "required to have 'cleanup.policy=compact'"),
        ({"config.storage.topic": many}, "required to have a single partition"),
        ({"config.storage.topic": "refused-offsets"}, "must be three different ones"),
        (
            {"config.storage.topic": "no-such", "internal.topics.automatic.creation.enable": "false"},
            "Topic 'no-such' of config.storage.topic does not exist",
        ),
    ):
        with pytest.raises(ConfigError, match=message):
            Node({**given, **changed})


def test_a_broker_that_does_not_answer_is_named() -> None:
    from penstock.kafka.errors import BrokerUnreachable

    given = {**WORKER, "bootstrap.servers": "127.0.0.1:1", "listeners": "http://127.0.0.1:0"}
    with pytest.raises(BrokerUnreachable, match=r"127\.0\.0\.1:1"):
        ConnectWorker(WorkerConfig.parse(given, Mode.STANDALONE), runner=lambda *_: InProcessRunner(), types=Types())
