"""Secrets of connectors, whether they run or not, are in no answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.connect.errors import ConnectError
from penstock.connect.rest.app import Services
from tests.connect.rest.serving import Serving
from tests.connect.worker.in_process import SOURCE, Parts, Types, parts

OFFSETS = {"offsets": [{"partition": {"x": 1}, "offset": {"y": 1}}]}


@pytest.fixture
def secretive(tmp_path: Path) -> tuple[Parts, dict[str, str]]:
    (tmp_path / "secrets.properties").write_text("pw=hunter2secret\n")
    worker = parts({"config.providers": "file", "config.providers.file.class": "FileConfigProvider"})
    reference = f"${{file:{tmp_path}/secrets.properties:pw}}"
    config = {"connector.class": SOURCE, "topic": "t", "file": f"db://u:{reference}@h", "secret": "literal-pw"}
    return worker, config


def refuse(name: str, config: dict[str, str], offsets: object = None) -> Any:
    raise ConnectError(f"no answer from {config['file']}", hint=f"Is {config['secret']} right?")


def test_failures_of_offsets(serving: Serving, secretive: tuple[Parts, dict[str, str]]) -> None:
    worker, config = secretive
    worker.runner.offsets = worker.runner.alter_offsets = worker.runner.reset_offsets = refuse  # type: ignore[method-assign, assignment]
    with serving(Services(herder=worker.herder)) as client:
        client.post("/connectors", json={"name": "a", "config": config, "initial_state": "STOPPED"})
        worker.settle()
        path = "/connectors/a/offsets"
        answers = [client.get(path), client.patch(path, json=OFFSETS), client.delete(path)]
        answers.append(client.delete("/connectors/a?offsets=true"))
    for answer in answers:
        assert answer.status_code == 500
        assert "no answer from db://u:[hidden]@h. Is [hidden] right?" in answer.json()["message"]


def test_failures_of_validation(
    serving: Serving, secretive: tuple[Parts, dict[str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    worker, config = secretive
    types = worker.herder.check.types
    assert isinstance(types, Types)

    def validate(given: Any) -> Any:
        raise RuntimeError(f"driver refused {given['file']} {given['secret']}")

    types._known[0] = replace(types._known[0], validate=validate)
    with serving(Services(herder=worker.herder)) as client:
        answer = client.put(f"/connector-plugins/{SOURCE}/config/validate", json=config)
    assert answer.json()["message"] == "RuntimeError: driver refused db://u:[hidden]@h [hidden]"
    assert "driver refused db://u:[hidden]@h [hidden]" in caplog.text
    assert "hunter2secret" not in caplog.text


def test_names_that_come_from_providers(serving: Serving, secretive: tuple[Parts, dict[str, str]]) -> None:
    worker, config = secretive
    reference = config["file"].removeprefix("db://u:").removesuffix("@h")
    with serving(Services(herder=worker.herder)) as client:
        given = {**config, "transforms": reference, "predicates": reference}
        answer = client.put(f"/connector-plugins/{SOURCE}/config/validate", json=given)
    assert "hunter2secret" not in answer.text
    names = [one["value"]["name"] for one in answer.json()["configs"]]
    assert {"transforms.[hidden].type", "predicates.[hidden].type", "secret", "topic"} < set(names)


def test_a_password_that_is_a_word_of_the_api(serving: Serving) -> None:
    with serving(Services(herder=parts().herder)) as client:
        config = {"connector.class": SOURCE, "topic": "t", "secret": "topic"}
        infos = client.put(f"/connector-plugins/{SOURCE}/config/validate", json=config).json()
    assert {"topic", "secret", "topic.creation.groups"} < {one["value"]["name"] for one in infos["configs"]}


def test_traces_of_literal_passwords(secretive: tuple[Parts, dict[str, str]], serving: Serving) -> None:
    worker, config = secretive
    with serving(Services(herder=worker.herder)) as client:
        client.post("/connectors", json={"name": "a", "config": config})
        worker.runner.fail("a", "login with literal-pw and hunter2secret failed")
        answer = client.get("/connectors/a/status").json()
    assert answer["tasks"][0]["trace"] == "login with [hidden] and [hidden] failed"


def test_a_deleted_connector_whose_offsets_stay(serving: Serving, caplog: pytest.LogCaptureFixture) -> None:
    worker = parts()

    def refuse_reset(name: str, config: object) -> None:
        raise ConnectError("The group is not empty")

    worker.runner.reset_offsets = refuse_reset  # type: ignore[method-assign]
    with serving(Services(herder=worker.herder)) as client:
        client.post("/connectors", json={"name": "a", "config": {"connector.class": SOURCE, "topic": "t"}})
        answer = client.delete("/connectors/a?offsets=true")
        assert answer.status_code == 500
        assert answer.json()["message"] == (
            "Connector a is deleted, but its offsets are still there: The group is not empty. "
            "Create a again with initial_state STOPPED, and reset its offsets."
        )
        assert "Connector a is deleted, but not all it left behind: The group is not empty" in caplog.text
        assert client.get("/connectors/a/status").status_code == 404
    assert worker.statuses.connector("a") is None
    assert worker.statuses.tasks("a") == {}
