"""Clients of Kafka Connect that others wrote create, read, pause, restart and delete connectors of our worker."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.connect.running_worker import RunningWorker, eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark]

Config = dict[str, str]
CLASS = "org.apache.kafka.connect.file.FileStreamSourceConnector"


def test_kafka_connect_py(running: RunningWorker, source: Config) -> None:
    from kafka_connect import KafkaConnect

    client = KafkaConnect(url=running.url)
    assert client.get_cluster_info()["version"].startswith("4.")
    assert CLASS in {plugin["class"] for plugin in client.list_connector_plugins()}
    assert client.validate_connector_config("FileStreamSource", {**source, "name": "py"})["error_count"] == 0
    assert client.create_connector({"name": "py", "config": source})["type"] == "source"

    def state() -> Any:
        return client.get_connector_status("py")["connector"]["state"]

    eventually(lambda: state() == "RUNNING")
    eventually(lambda: client.list_connector_topics("py") == {"py": {"topics": [source["topic"]]}})
    assert client.list_connectors(expand="status", pattern="p", state="RUNNING").keys() == {"py"}
    client.pause_connector("py")
    eventually(lambda: state() == "PAUSED")
    client.resume_connector("py")
    eventually(lambda: state() == "RUNNING")
    assert client.restart_connector("py") is None
    restarted = client.restart_connector("py", include_tasks=True)
    assert restarted["connector"]["state"] == "RESTARTING"
    eventually(lambda: client.get_connector_task_status("py", 0)["state"] == "RUNNING")
    client.restart_connector_task("py", 0)
    assert client.update_connector("py", {**source, "batch.size": 10})["config"]["batch.size"] == "10"
    client.reset_connector_topics("py")
    client.stop_connector("py")
    eventually(lambda: state() == "STOPPED")
    client.delete_connector("py")
    assert "py" not in client.list_connectors()


def test_kafka_connect_api(running: RunningWorker, source: Config) -> None:
    from kafka_connect_api.errors import GenericNotFound
    from kafka_connect_api.kafka_connect_api import Api, Cluster

    api = Api(url=running.url)
    cluster = Cluster(api)
    assert cluster.version.startswith("4.")
    assert cluster.kafka_cluster
    api.post("/connectors", json={"name": "api", "config": source})
    connector = cluster.connectors["api"]
    assert connector.exists()
    assert connector.connector_class == CLASS
    eventually(lambda: connector.state == "RUNNING")
    eventually(lambda: connector.tasks and connector.tasks[0].is_running())
    connector.pause()
    eventually(lambda: connector.state == "PAUSED")
    connector.resume()
    connector.restart()
    connector.restart_all_tasks()
    eventually(lambda: connector.tasks[0].state == "RUNNING")
    connector.config = {**connector.config, "batch.size": "7"}
    assert connector.config["batch.size"] == "7"
    connector.cycle_connector()
    eventually(lambda: connector.state == "RUNNING")
    cluster.set_logger_log_level("root", "INFO")
    assert cluster.root_logger["level"] == "INFO"
    connector.delete()
    with pytest.raises(GenericNotFound):
        connector.exists()


def test_kafkaconnect(running: RunningWorker, source: Config) -> None:
    module = pytest.importorskip("kafkaconnect.connect", reason="needs Python 3.11")
    client = module.Connect(running.url)
    assert json.loads(client.validate_and_create("lsst", json.dumps({**source, "name": "lsst"})))["name"] == "lsst"

    def state() -> Any:
        return json.loads(client.status("lsst"))["connector"]["state"]

    assert "lsst" in json.loads(client.list())
    eventually(lambda: state() == "RUNNING")
    assert json.loads(client.info("lsst"))["config"]["file"] == source["file"]
    assert json.loads(client.config("lsst"))["topic"] == source["topic"]
    eventually(lambda: json.loads(client.topics("lsst")) == {"lsst": {"topics": [source["topic"]]}})
    assert client.pause("lsst") == ""
    eventually(lambda: state() == "PAUSED")
    assert client.resume("lsst") == ""
    assert client.restart("lsst") == ""
    eventually(lambda: state() == "RUNNING")
    assert json.loads(client.tasks("lsst"))[0]["id"] == {"connector": "lsst", "task": 0}
    assert json.loads(client.plugins())
    assert client.remove("lsst") == ""
    assert client.status("lsst") == f"Resource {running.url}/connectors/lsst/status not found."
