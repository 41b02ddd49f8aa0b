"""`penstock connectors` against a REST API that answers; what runs behind it is the in-process runner."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from penstock.cli.main import main
from penstock.connect.rest.app import RestOptions, Services
from penstock.connect.rest.basic_auth import Credentials
from tests.connect.rest.serving import Serving, server
from tests.connect.worker.in_process import SOURCE, Parts, parts


class Done(NamedTuple):
    code: int
    out: str
    err: str


Connectors = Callable[..., Done]


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with server() as running:
        yield running


@pytest.fixture
def worker() -> Parts:
    return parts()


@pytest.fixture
def connectors(
    worker: Parts, serving: Serving, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Connectors]:
    """`connectors("list")` runs the command and gives what it printed."""
    with serving(Services(herder=worker.herder)) as client:
        monkeypatch.setenv("PENSTOCK_CONNECT_URL", str(client.base_url))

        def run(*arguments: object) -> Done:
            monkeypatch.setattr(sys, "argv", ["penstock", "connectors", *map(str, arguments)])
            try:
                main()
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
            worker.settle()
            out, err = capsys.readouterr()
            return Done(code, out, err)

        yield run


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "source.properties"
    file.write_text(f"name=lines\nconnector.class={SOURCE}\ntopic=lines\ntasks.max=2\n")
    return file


def test_a_connector_from_creation_to_deletion(connectors: Connectors, source: Path) -> None:
    assert connectors("list") == Done(0, "", "No connectors. `penstock connectors create FILE` makes one.\n")
    assert connectors("create", source) == Done(0, "Created connector lines.\n", "")
    listed = connectors("list").out
    assert listed == "lines\tsource\tRUNNING\t2 RUNNING\tFileStreamSourceConnector\thost:8083\n"
    assert connectors("pause", "lines").out == "Pausing 1 connector: lines.\n"
    assert connectors("status", "lines").out == (
        "connector\tPAUSED\thost:8083\ntask 0\tPAUSED\thost:8083\ntask 1\tPAUSED\thost:8083\n"
    )
    assert connectors("resume", "lines").code == 0
    assert json.loads(connectors("status", "lines", "--json").out)["connector"]["state"] == "RUNNING"
    assert json.loads(connectors("config", "lines").out)["topic"] == "lines"
    assert connectors("restart", "lines").out == "Restarting 1 connector: lines.\n"
    assert connectors("stop", "lines").code == 0
    assert json.loads(connectors("list", "--json").out)["lines"]["status"]["connector"]["state"] == "STOPPED"
    assert connectors("delete", "lines").out == "Deleted 1 connector: lines.\n"


def test_a_connector_is_changed_by_its_file(connectors: Connectors, source: Path) -> None:
    connectors("create", source)
    again = connectors("create", source)
    assert (again.code, again.err) == (1, "penstock: Connector lines already exists\n")
    source.write_text(source.read_text().replace("topic=lines", "topic=other"))
    assert connectors("create", source, "--replace").out == "Configured connector lines.\n"
    assert json.loads(connectors("config", "lines").out)["topic"] == "other"


def test_a_slip_of_the_pen_is_noticed(connectors: Connectors, source: Path) -> None:
    with source.open("a") as file:
        file.write("task.max=3\n")
    created = connectors("create", source)
    assert created.code == 0
    assert created.err == "warning: the setting task.max is not known and has no effect; did you mean tasks.max?\n"


def test_a_failed_task_shows_why(connectors: Connectors, source: Path, worker: Parts) -> None:
    connectors("create", source)
    worker.runner.fail("lines", "it broke")
    shown = connectors("status", "lines")
    assert "task 0\tFAILED\thost:8083" in shown.out
    assert shown.err == "\ntask 0: it broke\n"
    connectors("restart", "lines", "--only-failed")
    assert "FAILED" not in connectors("status", "lines").out


def test_skipped_records_are_shown(connectors: Connectors, source: Path, worker: Parts) -> None:
    connectors("create", source)
    metrics = {"records": 5, "skipped": {"KEY_CONVERTER DataException": 2}, "last_error": "not a number"}
    worker.runner.running["lines"].listener.task_metrics("lines", 0, metrics)
    shown = connectors("status", "lines")
    assert "\ntask 0 skipped 2 records (KEY_CONVERTER DataException: 2)\nthe last one: not a number\n" in shown.err
    worker.runner.fail("lines", "it broke")
    assert "task 0 skipped 2 records" in connectors("status", "lines").err


def test_validation(connectors: Connectors, source: Path) -> None:
    good = connectors("validate", source)
    assert (good.code, good.out) == (0, "")
    source.write_text(source.read_text().replace("tasks.max=2", "tasks.max=none"))
    bad = connectors("validate", source)
    assert bad.code == 1
    assert bad.out == "tasks.max\tInvalid value none for configuration tasks.max: Not a number of type INT\n"
    assert json.loads(connectors("validate", source, "--json").out)["error_count"] == 1
    refused = connectors("create", source)
    assert "Not a number of type INT" in refused.err
    source.write_text("name=lines\n")
    assert "Connector config contains no connector type" in connectors("validate", source).err


def test_offsets(connectors: Connectors, source: Path, tmp_path: Path) -> None:
    connectors("create", source)
    wanted = {"offsets": [{"partition": {"filename": "/a"}, "offset": {"position": 5}}]}
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps(wanted))
    running = connectors("offsets", "lines", "--alter", file)
    assert (running.code, "must be in the STOPPED state" in running.err) == (1, True)
    connectors("stop", "lines")
    assert connectors("offsets", "lines", "--alter", file).out.endswith("have been altered successfully\n")
    assert connectors("offsets", "lines").out == "filename=/a\tposition=5\n"
    assert json.loads(connectors("offsets", "lines", "--json").out) == wanted
    assert connectors("offsets", "lines", "--reset").out.endswith("have been reset successfully\n")
    file.write_text("{")
    assert "offsets.json is not JSON" in connectors("offsets", "lines", "--alter", file).err
    assert "cannot be read: No such file" in connectors("offsets", "lines", "--alter", tmp_path / "x").err


def test_plugins(connectors: Connectors) -> None:
    assert connectors("plugins").out.splitlines()[1] == f"{SOURCE}\tsource\t1.0"
    assert "Cast$Value\ttransformation" in connectors("plugins", "--all").out


def test_unknown_connectors_and_missing_workers(connectors: Connectors, monkeypatch: pytest.MonkeyPatch) -> None:
    assert connectors("pause", "a/b").err == "penstock: Unknown connector a/b\n"
    monkeypatch.setenv("PENSTOCK_CONNECT_URL", "127.0.0.1:1")
    nobody = connectors("list")
    assert nobody.code == 1
    assert nobody.err == (
        "penstock: No Connect worker answers at http://127.0.0.1:1: Connection refused. Start one with "
        "`penstock connect standalone WORKER.PROPERTIES`, or say where it is with --url.\n"
    )


def test_workers_that_ask_for_a_password(
    connectors: Connectors, worker: Parts, serving: Serving, tmp_path: Path
) -> None:
    file = tmp_path / "users"
    file.write_text("ann=secret\n")
    with serving(Services(herder=worker.herder), RestOptions(credentials=Credentials(file))):
        refused = connectors("list")
        assert refused.err == "penstock: User cannot access the resource. Give name and password with --user.\n"
        assert connectors("list", "--user", "ann:secret").code == 0


def test_a_missing_extra_is_named_with_the_command(connectors: Connectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.cli.connect.find_spec", lambda name: None if name == "uvicorn" else name)
    missing = connectors("list")
    assert missing.code == 1
    assert missing.err == (
        "penstock: Kafka Connect needs uvicorn, which is not installed. Run: pip install 'penstock[connect]'\n"
    )


def test_resetting_and_altering_at_once_is_refused(
    connectors: Connectors, source: Path, worker: Parts, tmp_path: Path
) -> None:
    connectors("create", source)
    connectors("stop", "lines")
    kept = [{"partition": {"filename": "f"}, "offset": {"position": 9}}]
    worker.runner.kept["lines"] = kept
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps({"offsets": kept}))
    done = connectors("offsets", "lines", "--reset", "--alter", file)
    assert done == Done(1, "", "penstock: --reset and --alter exclude each other. Give one of them.\n")
    assert worker.runner.kept["lines"] == kept


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<html>hi</html>", "its answer is no JSON: '<html>hi</html>'"),
        (b"[]", "/connectors is no JSON object"),
        (b'"x"', "/connectors is no JSON object"),
    ],
)
def test_what_is_no_worker(
    connectors: Connectors, monkeypatch: pytest.MonkeyPatch, content: bytes, reason: str
) -> None:
    monkeypatch.setattr(httpx, "request", lambda *_, **__: httpx.Response(200, content=content))
    done = connectors("list", "--url", "http://other")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"penstock: What answers at http://other is no Connect worker that is known here: {reason}. "
        "Say where the worker is with --url.\n"
    )


@pytest.mark.parametrize(
    ("typo", "near"),
    [
        ("errors.tolerence", "errors.tolerance"),
        ("topic.creation.defualt.partitions", "topic.creation.default.partitions"),
    ],
)
def test_slips_of_the_pen_below_prefixes(connectors: Connectors, source: Path, typo: str, near: str) -> None:
    sizes = "topic.creation.default.partitions=1\ntopic.creation.default.replication.factor=1\n"
    fine = f"topic.creation.groups=g\ntopic.creation.g.include=x\ntopic.creation.g.cleanup.policy=compact\n{sizes}"
    source.write_text(f"{source.read_text()}{fine}{typo}=1\n")
    warning = f"warning: the setting {typo} is not known and has no effect; did you mean {near}?\n"
    assert connectors("create", source) == Done(0, "Created connector lines.\n", warning)


def test_replacing_with_a_state_to_begin_in(connectors: Connectors, tmp_path: Path) -> None:
    file = tmp_path / "stopped.json"
    config = {"connector.class": SOURCE, "topic": "t"}
    file.write_text(json.dumps({"name": "s", "config": config, "initial_state": "STOPPED"}))
    assert connectors("create", file, "--replace") == Done(0, "Configured connector s.\n", "")
    assert "connector\tSTOPPED" in connectors("status", "s").out
    connectors("resume", "s")
    told = "s is there already: initial_state is not for it, it keeps its state.\n"
    assert connectors("create", file, "--replace") == Done(0, "Configured connector s.\n", told)
    assert "connector\tRUNNING" in connectors("status", "s").out


def test_what_was_done_before_a_failure_is_told(connectors: Connectors, source: Path) -> None:
    connectors("create", source)
    assert connectors("pause", "lines", "missing", "other") == Done(
        1, "Pausing 1 connector: lines.\n", "penstock: Unknown connector missing\n"
    )


def test_names_that_are_no_path(connectors: Connectors, tmp_path: Path) -> None:
    assert connectors("delete", "").err.startswith("penstock: The name of a connector is empty.")
    assert connectors("restart", "..").err == "penstock: Unknown connector: ..\n"
    file = tmp_path / "odd.json"
    file.write_text(json.dumps({"name": "odd", "config": {"connector.class": "a b/c:D?x", "topic": "t"}}))
    assert "which name matches a b/c:D?x," in connectors("validate", file).err
