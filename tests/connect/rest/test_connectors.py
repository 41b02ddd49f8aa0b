from __future__ import annotations

import json
import threading
from typing import Any

import httpx
import pytest

from penstock.connect.errors import ConnectError
from penstock.connect.rest.answering import Caller
from penstock.connect.rest.app import Readiness, RestOptions, Services
from penstock.connect.worker.connector_check import ConnectorCheck
from tests.connect.rest.serving import Serving
from tests.connect.worker.in_process import SINK, SOURCE, Parts, parts

CONFIG = {"connector.class": SOURCE, "file": "/tmp/a", "topic": "lines", "tasks.max": "2"}


def create(client: httpx.Client, name: str = "c", config: dict[str, Any] | None = None, **more: Any) -> Any:
    return client.post("/connectors", json={"name": name, "config": config or CONFIG, **more})


def test_the_root_tells_the_version_clients_look_at(client: httpx.Client) -> None:
    answer = client.get("/").json()
    assert answer["version"] == "4.3.1"
    assert answer["kafka_cluster_id"] == "cluster"
    assert set(answer) == {"version", "commit", "kafka_cluster_id"}


def test_health_tells_whether_the_worker_has_started(worker: Parts, serving: Serving) -> None:
    readiness = Readiness(ready=False)
    with serving(Services(herder=worker.herder, readiness=readiness)) as client:
        starting = client.get("/health")
        assert (starting.status_code, starting.json()["status"]) == (503, "starting")
        readiness.ready = True
        assert client.get("/health").json() == {
            "status": "healthy",
            "message": "Worker has completed startup and is ready to handle requests.",
        }


def test_health_tells_whether_requests_would_fail(worker: Parts, serving: Serving) -> None:
    def no_leader() -> None:
        raise ConnectError("No worker of the group leads")

    unhealthy = "Worker was unable to handle this request and may be unable to handle other requests."
    with serving(Services(herder=worker.herder, probe=no_leader)) as client:
        answer = client.get("/health")
        assert answer.status_code == 500
        assert answer.json() == {"status": "unhealthy", "message": f"{unhealthy} No worker of the group leads"}
    hanging = threading.Event()

    def hang() -> None:
        hanging.wait(30)

    with serving(Services(herder=worker.herder, probe=hang, call_probe=Caller(0.1))) as client:
        answer = client.get("/health")
        hanging.set()
        assert answer.status_code == 500
        assert answer.json()["message"].startswith(f"{unhealthy} Request timed out.")


def test_a_connector_is_created_read_and_deleted(client: httpx.Client, worker: Parts) -> None:
    created = create(client)
    assert created.status_code == 201
    assert created.headers["location"] == str(client.base_url.join("/connectors/c"))
    assert created.headers["content-type"] == "application/json"
    info = {
        "name": "c",
        "config": {**CONFIG, "name": "c"},
        "tasks": [{"connector": "c", "task": 0}, {"connector": "c", "task": 1}],
        "type": "source",
    }
    assert created.json() == info
    assert client.get("/connectors").json() == ["c"]
    assert client.get("/connectors/c").json() == info
    assert client.get("/connectors/c/config").json() == info["config"]
    assert client.get("/connectors/c/tasks").json()[1]["id"] == {"connector": "c", "task": 1}
    status = {"state": "RUNNING", "worker_id": "host:8083", "version": "1.0"}
    assert client.get("/connectors/c/status").json() == {
        "name": "c",
        "connector": status,
        "tasks": [{"id": 0, **status}, {"id": 1, **status}],
        "type": "source",
    }
    assert client.get("/connectors/c/tasks/1/status").json() == {"id": 1, **status}
    deleted = client.delete("/connectors/c")
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert client.get("/connectors").json() == []
    worker.settle()
    assert worker.runner.running == {}
    assert worker.statuses.connector("c") is None


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/connectors/x", "Connector x not found"),
        ("/connectors/x/config", "Connector x not found"),
        ("/connectors/x/status", "No status found for connector x"),
        ("/connectors/x/tasks", "Connector x not found"),
        ("/connectors/x/offsets", "Connector x not found"),
        ("/connectors/x/tasks/0/status", "No status found for task x-0"),
        ("/connectors/x/tasks/a/status", "HTTP 404 Not Found"),
        ("/connectors/x/tasks-config", "HTTP 404 Not Found"),
        ("/connector-plugins/x/config", "Unknown plugin x."),
        ("/admin/loggers/no.such", "Logger no.such not found."),
        ("/nowhere", "HTTP 404 Not Found"),
    ],
)
def test_what_is_not_there_is_404(client: httpx.Client, path: str, message: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json() == {"error_code": 404, "message": message}


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        ("PUT", "/connectors/x/pause", "Unknown connector x"),
        ("PUT", "/connectors/x/resume", "Unknown connector x"),
        ("PUT", "/connectors/x/stop", "Unknown connector x"),
        ("POST", "/connectors/x/restart", "Unknown connector: x"),
        ("POST", "/connectors/x/restart?includeTasks=true", "Unknown connector: x"),
        ("POST", "/connectors/x/tasks/0/restart", "Unknown connector: x"),
        ("DELETE", "/connectors/x", "Connector x not found"),
        ("DELETE", "/connectors/x/offsets", "Connector x not found"),
    ],
)
def test_changes_of_what_is_not_there_are_404(client: httpx.Client, method: str, path: str, message: str) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.json()["message"]) == (404, message)


def test_other_methods_and_other_bodies(client: httpx.Client) -> None:
    assert client.post("/").json() == {"error_code": 405, "message": "HTTP 405 Method Not Allowed"}
    plain = client.post("/connectors", content=b"{}", headers={"content-type": "text/plain"})
    assert plain.json() == {"error_code": 415, "message": "HTTP 415 Unsupported Media Type"}
    without = client.post("/connectors", content=json.dumps({"name": "c", "config": CONFIG}))
    assert without.status_code == 201


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "Cannot deserialize value"),
        (b"", "Cannot deserialize value"),
        (b"\xff\xfe", "Cannot deserialize value"),
        (b"[]", "Cannot deserialize value of type `Object` from Array value"),
        (b'{"name": "c", "config": {}, "x": 1}', 'Unrecognized field "x"'),
        (b'{"name": "c", "config": {"a": {}}}', "Cannot deserialize value of type `String` from Object value"),
        (b'{"name": "c", "config": {"a": [1]}}', "Cannot deserialize value of type `String` from Array value"),
        (b'{"name": "c", "config": {}, "initial_state": "ASLEEP"}', "Cannot construct instance"),
    ],
)
def test_a_malformed_body_is_500(client: httpx.Client, body: bytes, message: str) -> None:
    answer = client.post("/connectors", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 500
    assert message in answer.json()["message"]


def test_an_invalid_configuration_is_refused_with_every_error(client: httpx.Client) -> None:
    answer = create(client, config={"connector.class": SOURCE, "tasks.max": "0", "transforms": "a,a"})
    assert answer.status_code == 400
    lines = answer.json()["message"].split("\n")
    assert lines[0] == "Connector configuration is invalid and contains the following 4 error(s):"
    assert 'Missing required configuration "topic" which has no default value.' in lines
    assert "Invalid value 0 for configuration tasks.max: Value must be at least 1" in lines
    assert lines[-1].endswith("`/connector-plugins/{connectorType}/config/validate`")
    assert client.get("/connectors").json() == []


def test_the_class_itself_may_refuse(client: httpx.Client) -> None:
    answer = create(client, config={**CONFIG, "file": "/"})
    assert "The root folder is no file" in answer.json()["message"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "Connector config contains no connector type"),
        ({"connector.class": "Nope"}, f"available connectors are: {SINK}, {SOURCE}"),
        ({**CONFIG, "name": "d"}, "doesn't match connector name"),
        ({**CONFIG, "name": None, "file": None}, "Null value can not be supplied as the configuration value."),
    ],
)
def test_configurations_that_cannot_be(client: httpx.Client, config: dict[str, Any], message: str) -> None:
    answer = client.post("/connectors", json={"name": "c", "config": config})
    assert answer.status_code == 400
    assert message in answer.json()["message"]


def test_a_name_is_taken_once(client: httpx.Client) -> None:
    create(client)
    again = create(client)
    assert again.json() == {"error_code": 409, "message": "Connector c already exists"}


@pytest.mark.parametrize("name", ["a b", "a/b", "ä€", "50%", "a+b?c#d", "a;b"])
def test_names_may_have_any_character(client: httpx.Client, name: str) -> None:
    created = create(client, name)
    assert created.status_code == 201
    path = created.headers["location"].removeprefix(str(client.base_url).rstrip("/"))
    assert client.get(path).json()["name"] == name
    assert client.get(f"{path}/status").json()["connector"]["state"] == "RUNNING"
    assert client.delete(path).status_code == 204


def test_trailing_slashes_are_left_aside(client: httpx.Client) -> None:
    assert client.get("/connectors/").json() == []
    client.put("/connectors/c/config/", json=CONFIG)
    assert client.get("/connectors/c/").json()["name"] == "c"
    assert client.post("/connectors/c/restart/").status_code == 204


def test_put_creates_and_replaces(client: httpx.Client, worker: Parts) -> None:
    created = client.put("/connectors/c/config", json={**CONFIG, "tasks.max": 1})
    assert (created.status_code, created.json()["config"]["tasks.max"]) == (201, "1")
    assert created.headers["location"].endswith("/connectors/c")
    replaced = client.put("/connectors/c/config", json={**CONFIG, "file": "/tmp/b"})
    assert (replaced.status_code, replaced.json()["config"]["file"]) == (200, "/tmp/b")
    assert worker.runner.running["c"].config["file"] == "/tmp/b"
    other = client.put("/connectors/c/config", json={**CONFIG, "name": "d"})
    assert other.status_code == 400
    assert "Connector name configuration (d) doesn't match connector name in the URL (c)" in other.json()["message"]


def test_the_same_configuration_again_disturbs_nothing(client: httpx.Client, worker: Parts) -> None:
    create(client)
    assert client.put("/connectors/c/config", json=CONFIG).status_code == 200
    assert worker.runner.calls == [("start", "c")]


def test_patch_changes_single_settings(client: httpx.Client, worker: Parts) -> None:
    create(client)
    patched = client.patch("/connectors/c/config", json={"file": None, "tasks.max": 1, "topic": "other"})
    assert patched.status_code == 200
    assert patched.json()["config"] == {"connector.class": SOURCE, "topic": "other", "tasks.max": "1", "name": "c"}
    assert worker.runner.running["c"].config["topic"] == "other"
    assert client.patch("/connectors/x/config", json={}).status_code == 404
    assert client.patch("/connectors/c/config", json={"topic": ""}).status_code == 400


def test_of_two_changes_at_once_none_is_lost(
    client: httpx.Client, worker: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(client)
    require_valid, other = ConnectorCheck.require_valid, json.dumps({"file": "other"})
    changed: list[Any] = []

    def slow(self: ConnectorCheck, config: Any) -> None:
        require_valid(self, config)
        if not changed:  # meanwhile somebody else
            changed.append(1)
            changed.append(worker.herder.patch_config("c", other))

    monkeypatch.setattr(ConnectorCheck, "require_valid", slow)
    answer = client.patch("/connectors/c/config", json={"errors.retry.timeout": "7"})
    assert answer.status_code == 200
    found = client.get("/connectors/c/config").json()
    assert (found["file"], found["errors.retry.timeout"]) == ("other", "7")
    assert answer.json()["config"] == found


def test_expanded_lists(client: httpx.Client) -> None:
    create(client)
    both = client.get("/connectors?expand=status&expand=info&expand=else").json()
    assert both["c"]["status"]["connector"]["state"] == "RUNNING"
    assert both["c"]["info"]["type"] == "source"
    assert client.get("/connectors?expand=else").json() == {"c": {}}
    assert "info" in client.get("/connectors?expand[]=info").json()["c"]


def test_pause_resume_and_stop(client: httpx.Client, worker: Parts) -> None:
    create(client)

    def states() -> tuple[str, list[str]]:
        worker.settle()
        status = client.get("/connectors/c/status").json()
        return status["connector"]["state"], [task["state"] for task in status["tasks"]]

    for _ in range(2):
        paused = client.put("/connectors/c/pause")
        assert (paused.status_code, paused.content) == (202, b"")
    assert states() == ("PAUSED", ["PAUSED", "PAUSED"])
    assert client.put("/connectors/c/config", json={**CONFIG, "file": "/tmp/b"}).status_code == 200
    assert states() == ("PAUSED", ["PAUSED", "PAUSED"])
    for _ in range(2):
        assert client.put("/connectors/c/stop").status_code == 204
    assert states() == ("STOPPED", [])
    assert client.get("/connectors/c").json()["tasks"] == []
    assert client.put("/connectors/c/pause").status_code == 202
    assert states() == ("PAUSED", ["PAUSED", "PAUSED"])
    assert client.put("/connectors/c/resume").status_code == 202
    assert states() == ("RUNNING", ["RUNNING", "RUNNING"])


@pytest.mark.parametrize(("state", "shown"), [("stopped", "STOPPED"), ("Paused", "PAUSED"), ("RUNNING", "RUNNING")])
def test_a_connector_is_created_in_a_state(client: httpx.Client, state: str, shown: str) -> None:
    assert create(client, initial_state=state).status_code == 201
    assert client.get("/connectors/c/status").json()["connector"]["state"] == shown


def test_restarts(client: httpx.Client, worker: Parts) -> None:
    create(client)
    plain = client.post("/connectors/c/restart?includeTasks=False&onlyFailed=False")
    assert (plain.status_code, plain.content) == (204, b"")
    worker.settle()
    assert worker.runner.calls == [("start", "c"), ("stop", "c"), ("start", "c")]
    all_of_it = client.post("/connectors/c/restart?includeTasks=true")
    assert all_of_it.status_code == 202
    assert all_of_it.json()["connector"]["state"] == "RESTARTING"
    assert [task["state"] for task in all_of_it.json()["tasks"]] == ["RESTARTING", "RESTARTING"]
    worker.settle()
    assert client.get("/connectors/c/status").json()["tasks"][0]["state"] == "RUNNING"


def test_only_what_failed_is_restarted(client: httpx.Client, worker: Parts) -> None:
    create(client)
    calls = len(worker.runner.calls)
    nothing = client.post("/connectors/c/restart?includeTasks=true&onlyFailed=true")
    assert (nothing.status_code, nothing.json()["connector"]["state"]) == (202, "RUNNING")
    worker.settle()
    assert len(worker.runner.calls) == calls
    worker.runner.fail("c", "it broke")
    assert client.get("/connectors/c/status").json()["tasks"][0]["trace"] == "it broke"
    answer = client.post("/connectors/c/restart?includeTasks=true&onlyFailed=true").json()
    assert [task["state"] for task in answer["tasks"]] == ["RESTARTING", "RUNNING"]
    assert answer["connector"]["state"] == "RUNNING"
    worker.settle()
    assert "trace" not in client.get("/connectors/c/tasks/0/status").json()


def test_a_task_is_restarted(client: httpx.Client, worker: Parts) -> None:
    create(client)
    assert client.post("/connectors/c/tasks/1/restart").status_code == 204
    worker.settle()
    assert worker.runner.calls[-1] == ("start", "c")
    unknown = client.post("/connectors/c/tasks/9/restart")
    assert unknown.json() == {"error_code": 404, "message": "Task c-9 not found"}


def test_topics(client: httpx.Client) -> None:
    create(client)
    assert client.get("/connectors/c/topics").json() == {"c": {"topics": ["lines"]}}
    assert client.get("/connectors/x/topics").json() == {"x": {"topics": []}}
    assert client.put("/connectors/c/topics/reset").status_code == 202
    assert client.get("/connectors/c/topics").json() == {"c": {"topics": []}}


def test_topic_tracking_can_be_switched_off(serving: Serving) -> None:
    with serving(Services(herder=parts({"topic.tracking.enable": "false"}).herder)) as client:
        message = {"error_code": 403, "message": "Topic tracking is disabled."}
        assert client.get("/connectors/c/topics").json() == message
        assert client.put("/connectors/c/topics/reset").json() == message
    with serving(Services(herder=parts({"topic.tracking.allow.reset": "false"}).herder)) as client:
        assert client.get("/connectors/c/topics").status_code == 200
        assert client.put("/connectors/c/topics/reset").json()["message"] == "Topic tracking reset is disabled."


@pytest.mark.slow
def test_requests_do_not_wait_for_connector_code(worker: Parts, serving: Serving) -> None:
    worker.runner.hanging = threading.Event()
    with serving(Services(herder=worker.herder, call=Caller(3))) as client:
        late = create(client)
        assert late.status_code == 500
        assert late.json()["message"].startswith("Request timed out.")
        assert client.get("/connectors").json() == ["c"]
        assert client.put("/connectors/c/pause").status_code == 202
        assert client.get("/health").status_code == 200
        worker.runner.hanging.set()
        worker.settle()
        assert client.get("/connectors/c/status").json()["connector"]["state"] == "PAUSED"


def test_a_connector_that_cannot_start_has_failed(client: httpx.Client, worker: Parts) -> None:
    worker.runner.refusing = "no disk"
    assert create(client).status_code == 201
    status = client.get("/connectors/c/status").json()["connector"]
    assert status["state"] == "FAILED"
    assert status["trace"].startswith("org.apache.kafka.connect.errors.ConnectException: no disk\nTraceback")
    worker.runner.refusing = None
    assert client.post("/connectors/c/restart").status_code == 204
    worker.settle()
    assert client.get("/connectors/c/status").json()["connector"]["state"] == "RUNNING"


def test_options_limit_what_is_offered(worker: Parts, serving: Serving) -> None:
    with serving(Services(herder=worker.herder), RestOptions(admin=False)) as client:
        assert client.get("/admin/loggers").status_code == 404
        assert client.get("/connectors").status_code == 200
