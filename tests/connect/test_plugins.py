from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.connect.converters import CONVERTERS
from penstock.connect.errors import ConfigError
from penstock.connect.rest.app import Services
from penstock.connect.worker.connector_check import ConnectorCheck
from penstock.connect.worker.connector_types import InstalledConnectors
from penstock.connect.worker.herder import Herder
from tests.connect.rest.serving import Serving, server
from tests.connect.worker.in_process import parts


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with server() as one:
        yield one


@pytest.mark.parametrize(
    "name", ["", ".", ":", ".foo.Bar", ":X", "..:x", "os..path:x", "json:", "\0.x", "a b.c", "venv.__main__:x"]
)
def test_names_that_cannot_be_classes(name: str) -> None:
    with pytest.raises(ConfigError, match=r"could not be found\."):
        CONVERTERS.find(name)


@pytest.mark.parametrize("line", ["raise SystemExit(2)", "raise RuntimeError('no')", "1 / 0", "def"])
def test_a_module_that_cannot_be_loaded(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "not_to_be_loaded.py").write_text(f"{line}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"could not be found\. Loading it as a Python class failed"):
        CONVERTERS.find("not_to_be_loaded:X")


def test_requests_that_name_programs_do_not_end_the_server(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ends_at_once.py").write_text("raise SystemExit(2)\n")
    monkeypatch.syspath_prepend(tmp_path)
    one = parts()
    check = ConnectorCheck(one.herder.check.worker, InstalledConnectors())
    herder = Herder(one.configs, one.statuses, one.supervisor, check, kafka_cluster_id="k")
    with serving(Services(herder=herder)) as client:
        for name in ("venv.__main__.x", "ends_at_once.x", ".foo.Bar", ":X"):
            assert client.get(f"/connector-plugins/{name}/config").status_code == 404
            config = {"connector.class": "FileStreamSource", "topic": "t", "file": "f", "value.converter": name}
            answer = client.post("/connectors", json={"name": "a", "config": config})
            assert answer.status_code == 400
            assert f"Class {name} could not be found." in answer.json()["message"]
            answer = client.post("/connectors", json={"name": "a", "config": {**config, "connector.class": name}})
            assert answer.status_code == 400
        assert client.get("/connectors").json() == []
