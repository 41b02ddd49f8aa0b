from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.broker import BrokerError, background
from penstock.broker.ports import free_port, is_free

PENSTOCK = Path(sys.executable).parent / "penstock"


def penstock(*arguments: object) -> tuple[int, str, str]:
    """Run the command as a user does: exit code, stdout, stderr."""
    done = subprocess.run([PENSTOCK, *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.broker
@pytest.mark.slow
def test_a_broker_in_the_background(tmp_path: Path) -> None:
    port, other_port = free_port(), free_port()
    data = tmp_path / "data"
    try:
        code, out, _ = penstock("broker", "start", "--port", port, "--data", data)
        pid = json.loads((data / "broker.json").read_text())["pid"]
        answers = f"Kafka answers at 127.0.0.1:{port} (process {pid}, data in {data})\n"
        assert (code, out) == (0, answers)

        assert penstock("broker", "status", "--data", data) == (0, answers, "")

        code, out, err = penstock("broker", "start", "--port", other_port, "--data", data)
        assert (code, out) == (1, "")
        assert err == (
            "Starting Kafka ...\n"
            f"penstock: a broker is already running at 127.0.0.1:{port} (process {pid}). "
            "Use it, or end it first with `penstock broker stop`\n"
        )

        code, out, err = penstock("broker", "start", "--port", port, "--data", tmp_path / "other")
        assert (code, out) == (1, "")
        assert err == (
            "Starting Kafka ...\n"
            f"penstock: port {port} is in use by another process. "
            "Stop that process, or choose another port: penstock broker start --port N\n"
        )

        os.kill(pid, signal.SIGSTOP)
        code, out, err = penstock("broker", "status", "--data", data, "--timeout", 1)
        os.kill(pid, signal.SIGCONT)
        assert (code, out) == (1, "")
        assert err == (
            f"penstock: no Kafka broker answers at 127.0.0.1:{port} (waited 1 s). "
            "Start one with `penstock broker start`, or check the address\n"
        )
    finally:
        stopped = penstock("broker", "stop", "--data", data)
    assert stopped == (0, f"Kafka at 127.0.0.1:{port} stopped, data in {data} kept\n", "")
    assert is_free(port)
    assert penstock("broker", "stop", "--data", data) == (1, "", _not_running(data))


@pytest.mark.broker
@pytest.mark.slow
def test_a_broker_that_hangs_is_stopped_all_the_same(tmp_path: Path) -> None:
    port = free_port()
    assert penstock("broker", "start", "--port", port, "--data", tmp_path)[0] == 0
    running = background.find(tmp_path)
    assert running is not None
    os.kill(running.pid, signal.SIGSTOP)
    background.stop(tmp_path, delete=True, timeout=0.5)
    assert is_free(port)
    assert not tmp_path.exists()


def test_status_of_no_broker(tmp_path: Path) -> None:
    assert penstock("broker", "status", "--data", tmp_path) == (1, "", _not_running(tmp_path))


def test_a_stranger_with_the_brokers_old_process_id_is_left_alone(tmp_path: Path) -> None:
    state = {"pid": os.getpid(), "port": 9092, "folder": str(tmp_path)}
    (tmp_path / "broker.json").write_text(json.dumps(state))
    with pytest.raises(BrokerError, match="no broker is running"):
        background.stop(tmp_path)


def test_a_damaged_state_file_means_not_running(tmp_path: Path) -> None:
    (tmp_path / "broker.json").write_text("{")
    assert background.find(tmp_path) is None


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    code, out, err = penstock("broker", "start", "--port", free_port(), "--data", tmp_path / "data")
    assert (code, out) == (1, "")
    assert err == (
        "Starting Kafka ...\n"
        f"penstock: no Java found (JAVA_HOME={tmp_path} has no bin/java). "
        "Install Java 17 or newer, or point JAVA_HOME at one\n"
    )


def test_where_the_data_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert str(background.default_folder()) == "/home/me/.local/share/penstock/broker"
    monkeypatch.setenv("XDG_DATA_HOME", "/xdg")
    assert str(background.default_folder()) == "/xdg/penstock/broker"


def _not_running(data: Path) -> str:
    return f"penstock: no broker is running with data folder {data}. Start it with `penstock broker start`\n"
