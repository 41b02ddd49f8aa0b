from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from penstock.connect.rest.app import Services
from tests.connect.rest.serving import Serving
from tests.connect.worker.in_process import SINK, SOURCE, parts

CONFIG = {"connector.class": SOURCE, "name": "c", "topic": "lines"}


def test_plugins_are_sinks_sources_and_others(client: httpx.Client) -> None:
    connectors = client.get("/connector-plugins").json()
    assert connectors == [
        {"class": SINK, "type": "sink", "version": "1.0"},
        {"class": SOURCE, "type": "source", "version": "1.0"},
    ]
    everything = client.get("/connector-plugins?connectorsOnly=false").json()
    assert everything[:2] == connectors
    assert {one["type"] for one in everything} == {
        "sink", "source", "transformation", "predicate", "converter", "header_converter"
    }  # fmt: skip
    assert "org.apache.kafka.connect.transforms.Cast$Value" in {one["class"] for one in everything}


@pytest.mark.parametrize(
    ("plugin", "name"),
    [
        (SOURCE, "topic"),
        ("FileStreamSource", "tasks.max"),
        ("FileStreamSink", "topics.regex"),
        ("Cast$Value", "spec"),
        ("HasHeaderKey", "name"),
        ("JsonConverter", "schemas.enable"),
    ],
)
def test_settings_of_a_plugin(client: httpx.Client, plugin: str, name: str) -> None:
    keys = client.get(f"/connector-plugins/{plugin}/config?version=1").json()
    key = next(key for key in keys if key["name"] == name)
    assert set(key) == {
        "name", "type", "required", "default_value", "importance", "documentation", "group", "order_in_group", "width",
        "display_name", "dependents",
    }  # fmt: skip


@pytest.mark.parametrize("plugin", [SOURCE, "FileStreamSourceConnector", "FileStreamSource"])
def test_a_valid_configuration(client: httpx.Client, plugin: str) -> None:
    infos = client.put(f"/connector-plugins/{plugin}/config/validate", json=CONFIG).json()
    assert (infos["name"], infos["error_count"]) == (SOURCE, 0)
    assert "Common" in infos["groups"]


def test_an_invalid_configuration_is_answered_with_200(client: httpx.Client) -> None:
    bad = {**CONFIG, "topic": "", "producer.override.sasl.jaas.config": "s3cret", "secret": "s3cret"}
    answer = client.put("/connector-plugins/FileStreamSource/config/validate", json=bad)
    assert answer.status_code == 200
    infos = answer.json()
    assert infos["error_count"] == 1
    by_name = {one["value"]["name"]: one for one in infos["configs"]}
    errors = by_name["topic"]["value"]["errors"]
    assert errors == ["Invalid value  for configuration topic: String must be non-empty"]
    assert by_name["producer.override.sasl.jaas.config"]["definition"] is None
    assert by_name["secret"]["value"]["value"] == "[hidden]"
    assert "s3cret" not in answer.text


@pytest.mark.parametrize(
    ("plugin", "config", "message"),
    [
        ("FileStreamSource", {}, "Connector config contains no connector type"),
        (
            "FileStreamSink",
            CONFIG,
            f"Included connector type {SOURCE} does not match request type FileStreamSink",
        ),
        ("Nope", {"connector.class": "Nope"}, "Failed to find any class that implements Connector"),
    ],
)
def test_requests_that_cannot_be_validated(
    client: httpx.Client, plugin: str, config: dict[str, str], message: str
) -> None:
    answer = client.put(f"/connector-plugins/{plugin}/config/validate", json=config)
    assert answer.status_code == 400
    assert message in answer.json()["message"]


@pytest.mark.parametrize(
    ("policy", "allowed"),
    [
        ("All", ["linger.ms", "sasl.mechanism"]),
        ("None", []),
        ("org.apache.kafka.connect.connector.policy.PrincipalConnectorClientConfigOverridePolicy", ["sasl.mechanism"]),
        ("Allowlist", ["linger.ms"]),
    ],
)
def test_the_policy_decides_about_client_settings(serving: Serving, policy: str, allowed: list[str]) -> None:
    settings = {
        "connector.client.config.override.policy": policy,
        "connector.client.config.override.allowlist": "linger.ms",
    }
    overrides = {"producer.override.linger.ms": "5", "producer.override.sasl.mechanism": "PLAIN"}
    with serving(Services(herder=parts(settings).herder)) as client:
        infos = client.put(f"/connector-plugins/{SOURCE}/config/validate", json={**CONFIG, **overrides}).json()
    values = {one["value"]["name"]: one["value"]["errors"] for one in infos["configs"]}
    assert [name for name in ("linger.ms", "sasl.mechanism") if not values[f"producer.override.{name}"]] == allowed


def test_secrets_of_config_providers_are_never_shown(serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "secrets.properties").write_text("password=s3cret-word\ntasks=zero\n")
    worker = parts({"config.providers": "file", "config.providers.file.class": "FileConfigProvider"})
    reference = f"${{file:{tmp_path}/secrets.properties:password}}"
    with serving(Services(herder=worker.herder)) as client:
        config = {**CONFIG, "secret": reference, "file": f"{reference}!"}
        created = client.post("/connectors", json={"name": "c", "config": config})
        assert worker.runner.running["c"].config["secret"] == "s3cret-word"
        worker.runner.fail("c", "cannot log in with s3cret-word")
        wrong = {**config, "tasks.max": f"${{file:{tmp_path}/secrets.properties:password}}"}
        answers = [
            created,
            client.get("/connectors/c"),
            client.get("/connectors/c/config"),
            client.get("/connectors/c/tasks"),
            client.get("/connectors/c/status"),
            client.get("/connectors?expand=info&expand=status"),
            client.put(f"/connector-plugins/{SOURCE}/config/validate", json=wrong),
            client.put("/connectors/c/config", json=wrong),
        ]
    assert all("s3cret-word" not in answer.text for answer in answers)
    assert answers[3].json()[0]["config"]["secret"] == reference
    assert answers[3].json()[0]["config"]["file"] == f"{reference}!"
    assert answers[4].json()["tasks"][0]["trace"] == "cannot log in with [hidden]"
    assert answers[-1].status_code == 400
