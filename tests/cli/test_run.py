from __future__ import annotations

import io
import logging
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from penstock.broker import LocalBroker
from penstock.cli.run import _ToStderr, application_settings
from penstock.cli.run_display import PLAIN_SECONDS, Display, Rate, display, status_text
from penstock.errors import ConfigError
from tests.cli.conftest import PENSTOCK, Penstock
from tests.conftest import TopicFactory

METRICS = {
    "state": "RUNNING",
    "paused": False,
    "batches-total": 3,
    "records-in-total": 1200,
    "records-out-total": 30,
    "records-lag": 5,
    "dropped-records-total": 0,
    "restarts-total": 0,
}


class Application:
    metrics: Mapping[str, Any] = METRICS


def test_options_win_over_the_file_and_the_file_over_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", "environment:1")
    config = tmp_path / "app.toml"
    config.write_text('application.id = "file"\ncommit.interval.ms = 5\n')
    assert application_settings(config, None, None, ["commit.interval.ms=7"]) == {
        "bootstrap.servers": "environment:1",
        "application.id": "file",
        "commit.interval.ms": "7",
    }
    config.write_text('bootstrap.servers = "file:1"\n')
    assert application_settings(config, "x", None, None)["bootstrap.servers"] == "file:1"
    assert application_settings(config, "x", "option:1", None)["bootstrap.servers"] == "option:1"
    monkeypatch.delenv("PENSTOCK_BOOTSTRAP_SERVERS")
    assert application_settings(None, None, None, None) == {"bootstrap.servers": "localhost:9092"}
    with pytest.raises(ConfigError):
        application_settings(tmp_path / "none.toml", None, None, None)


def test_plain_lines_come_now_and_then_and_only_if_something_happened() -> None:
    out, now = io.StringIO(), [0.0]
    shown = Display(out, clock=lambda: now[0])
    shown.progress("starting Spark")
    application = Application()
    for now[0] in (0, 1, PLAIN_SECONDS, PLAIN_SECONDS * 2):
        shown.status(application)
    application.metrics = {**METRICS, "batches-total": 4, "records-in-total": 1300}
    shown.status(application)
    assert out.getvalue().splitlines() == [
        "starting Spark ...",
        "running  1,200 in  30 out  5 waiting",
        "running  1,300 in  30 out  5 waiting",
    ]


def test_a_terminal_gets_one_line_that_changes() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    with display(out) as shown:
        shown.line("app: starting")
        shown.progress("starting Spark")
    with display(out) as shown:
        shown.status(Application())
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", out.getvalue())
    assert text.startswith("app: starting\n")
    assert "starting Spark ..." in text
    assert "running  1,200 in (0/s)  30 out  5 waiting  (Ctrl-C stops)" in text


def test_the_log_goes_to_what_stderr_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    # While the live line is shown that is its own: a log written past it would share its row.
    handler, shown = _ToStderr(), io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    handler.emit(logging.makeLogRecord({"msg": "the query starts again"}))
    assert shown.getvalue() == "the query starts again\n"


def test_the_status_says_what_matters() -> None:
    more = {"dropped-records-total": 2, "batch": 9, "batch-duration-ms": 1200, "restarts-total": 1, "paused": True}
    assert status_text({**METRICS, **more}, 12.4) == (
        "paused  1,200 in (12/s)  30 out  5 waiting  2 dropped  batch 9 took 1,200 ms  1 restart"
    )


def test_the_rate_is_that_of_the_last_seconds() -> None:
    rate = Rate()
    assert rate.update(0, 0) == 0
    assert rate.update(1, 100) == 100
    assert rate.update(6, 100) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["nowhere:topology"], "penstock: there is no module nowhere. "),
        (["nowhere:topology", "-X", "aplication.id=x"], "penstock: unknown setting 'aplication.id'. Did you mean"),
        (["nowhere:topology", "-c", "none.toml"], "penstock: the settings file none.toml cannot be read: No such file"),
        (["nowhere:topology", "-c", "latin.toml"], "penstock: the settings file latin.toml is not UTF-8. Save it as"),
        (
            ["nowhere:topology", "-X", "penstock.checkpoint=foo://b"],
            "penstock: the setting penstock.checkpoint is 'foo:",
        ),
    ],
)
def test_what_is_wrong_is_said_before_spark_starts(tmp_path: Path, arguments: list[str], error: str) -> None:
    (tmp_path / "latin.toml").write_bytes(b'application.id = "caf\xe9"')
    done = subprocess.run(
        [PENSTOCK, "run", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=180
    )
    assert done.returncode == 1
    assert done.stderr.startswith(error)
    assert done.stderr.count("\n") == 1


@pytest.mark.spark
@pytest.mark.broker
@pytest.mark.slow
def test_run_until_ctrl_c(
    penstock: Penstock, environment: dict[str, str], broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic("lines"), topic("shouted")
    (tmp_path / "shouting.py").write_text(
        "from penstock import StreamsBuilder\n"
        "def shout(value):\n    return value.upper()\n"
        "def topology():\n    builder = StreamsBuilder()\n"
        f"    builder.stream({source!r}).map_values(shout).to({target!r})\n    return builder\n"
    )
    (tmp_path / "app.toml").write_text(f'application.id = "shouting"\nstate.dir = "{tmp_path}"\n')
    penstock("produce", source, stdin="hello\nworld\n")
    command: list[str | Path] = [
        PENSTOCK,
        "run",
        "shouting:topology",
        "--config",
        "app.toml",
        "-X",
        "penstock.log.batches=json",
    ]
    running = subprocess.Popen(
        command, cwd=tmp_path, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    try:
        read = penstock("consume", target, "--follow", "--from-beginning", "-n", "2")
        assert read.out.splitlines() == ["HELLO", "WORLD"], read
        os.killpg(running.pid, signal.SIGINT)  # what a terminal does on Ctrl-C: every process of the group gets it
        out, err = running.communicate(timeout=180)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 0, err
    assert err.splitlines()[0] == f"shouting: starting, Kafka at {broker.bootstrap_servers}"
    assert err.splitlines()[-1] == "shouting: stopped"
    assert "Traceback" not in err
    assert '"records_in": 2' in out
    assert _processes(tmp_path) == []


def _processes(folder: Path) -> list[str]:
    """Processes that still run in a folder, after a moment to end."""
    found: list[str] = []
    for _ in range(100):
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if folder in (entry / "cwd").readlink().parents or (entry / "cwd").readlink() == folder:
                    found.append((entry / "cmdline").read_text())
            except OSError:
                continue
        if not found:
            break
        time.sleep(0.1)
    return found
