"""A Kafka broker that outlives the command that started it; found again by a small file in its folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from penstock.broker import errors, ports, probe, process, settings
from penstock.broker.launch import Launch
from penstock.jars.cache import exclusive

_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class RunningBroker:
    """A background broker: who it is and where it answers."""

    pid: int
    port: int
    folder: str

    @property
    def bootstrap_servers(self) -> str:
        return f"{settings.HOST}:{self.port}"


def default_folder() -> Path:
    """Where the background broker keeps its data: $XDG_DATA_HOME/penstock/broker, else in ~/.local/share."""
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "penstock" / "broker"


def start(folder: Path, *, port: int, heap: str = "512m", timeout: float = 60.0) -> RunningBroker:
    """Start a broker in the background and return when it answers.

    Raises:
        BrokerError: One is running already, the port is in use, or the broker cannot start.
        JavaError: There is no Java 17.
        JarError: Kafka's jars cannot be had.
    """
    folder = folder.absolute()
    _make(folder)
    with exclusive(folder / "start.lock"):
        found = find(folder)
        if found is not None:
            raise errors.already_running(found.bootstrap_servers, found.pid)
        launch = Launch(folder, port, heap)
        broker = launch.spawn()
        running = RunningBroker(broker.pid, port, str(folder))
        try:
            # Written before the wait: if this command is killed meanwhile, `stop` still finds the broker.
            _state_file(folder).write_text(json.dumps(asdict(running)))
            launch.wait(broker, timeout=timeout)
        except BaseException:
            process.kill(broker)
            _state_file(folder).unlink(missing_ok=True)
            raise
        return running


def find(folder: Path) -> RunningBroker | None:
    """The broker that runs with this data folder, if there is one."""
    try:
        found = RunningBroker(**json.loads(_state_file(folder).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    # After a reboot the process id may belong to anybody.
    return found if f"{found.folder}/server.properties" in process.command_line(found.pid) else None


def status(folder: Path, *, timeout: float = 5.0) -> RunningBroker:
    """The running broker, after it answered a request.

    Raises:
        BrokerError: None runs, or it does not answer within `timeout` seconds.
    """
    found = find(folder)
    if found is None:
        raise errors.not_running(folder)
    probe.require_broker(found.bootstrap_servers, timeout=timeout)
    return found


def stop(folder: Path, *, delete: bool = False, timeout: float = process.STOP_TIMEOUT) -> RunningBroker:
    """End the broker with SIGTERM, with SIGKILL after `timeout` seconds.

    Args:
        folder: Its data folder.
        delete: Delete the folder with all topics, too.
        timeout: Seconds to let it end in an orderly way.

    Raises:
        BrokerError: None runs with this folder.
    """
    found = find(folder)
    if found is None:
        raise errors.not_running(folder)
    process.send(found.pid, signal.SIGTERM)
    if not _ended(found, timeout):
        process.send(found.pid, signal.SIGKILL)
        _ended(found, timeout)
    _state_file(folder).unlink(missing_ok=True)
    if delete:
        shutil.rmtree(folder)
    return found


def _ended(broker: RunningBroker, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    # The system frees the port a moment after the process has lost its name.
    while find(Path(broker.folder)) is not None or not ports.is_free(broker.port):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errors.unusable_folder(folder, error.strerror or str(error)) from error


def _state_file(folder: Path) -> Path:
    return folder.absolute() / "broker.json"
