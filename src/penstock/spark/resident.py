"""Processes that stay beside Spark's Python workers: how a worker finds one, starts it once, and how it ends.

Spark hands each batch to any of its workers, which come and go. What has to stay from batch to batch (producers, open
files, caches) lives in a process of its own on the node. Its socket stands in a folder of the run; a lock beside it sees to
it that two workers do not start two of them.
"""

from __future__ import annotations

import fcntl
import gc
import os
import re
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path

STOP, STOPPED = "stop", "stopped"
_STOP_SECONDS = 10.0
_FAREWELL_SECONDS = 10.0
_LEFT_SECONDS = 3600.0
_Connection = Connection  # generic only for type checkers


# ------------------------------------------------------------------ in Spark's worker


@cache
def set_aside_once() -> None:
    """Spark's worker collects garbage after every task, through all modules it has: 45 ms for a batch of a few records."""
    gc.freeze()


def socket_path(kind: str, run: str, number: int) -> Path:
    """Where a process of a run listens on this node."""
    return run_folder(kind, run) / f"{number}.sock"


def run_folder(kind: str, run: str) -> Path:
    """What the processes of a run have on this node: their sockets and locks."""
    return Path(tempfile.gettempdir()) / f"{kind}-{run[:12]}"


def connect(path: Path, start: Callable[[Path], _Connection]) -> _Connection:
    """A connection to the process that listens there; `start` is called if there is none, by one worker at a time."""
    connection = try_connect(path)
    if connection is not None:
        return connection
    sweep(path.parent)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return try_connect(path) or start(path)


def sweep(folder: Path) -> None:
    """Remove the folders of runs whose driver was killed long ago: nothing but locks is left in them.

    Args:
        folder: A run's own folder, which stays; the others stand beside it.
    """
    kind = folder.name.rpartition("-")[0]
    name = re.compile(re.escape(kind) + "-[0-9a-f]{12}")
    for other in folder.parent.glob(f"{kind}-*"):
        if other == folder or not name.fullmatch(other.name):
            continue
        try:
            files = list(other.iterdir())
            newest = max(file.stat().st_mtime for file in [other, *files])
            if time.time() - newest > _LEFT_SECONDS and all(file.suffix == ".lock" for file in files):
                shutil.rmtree(other)
        except OSError:
            continue  # it is another user's, or another process was faster


def wait_for(path: Path, seconds: float, has_ended: Callable[[], bool] = lambda: False) -> _Connection | None:
    """A connection to a process that was just started; None if it ended, or does not listen in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        connection = try_connect(path)
        if connection is not None or has_ended():
            return connection
        time.sleep(0.005)
    return None


def try_connect(path: Path) -> _Connection | None:
    """A connection to whoever listens there; None if nobody does."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(path))
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    return Connection(connection.detach())


def stop_all(kind: str, run: str) -> None:
    """End the processes of a run on this node; those on other nodes end by themselves."""
    folder = run_folder(kind, run)
    deadline = time.monotonic() + _STOP_SECONDS
    with ExitStack() as stack:
        asked = [c for path in sorted(folder.glob("*.sock")) if (c := try_connect(path)) is not None]
        for connection in asked:
            stack.enter_context(connection)
            with suppress(OSError):
                connection.send(STOP)
        for connection in asked:  # all of them are closing meanwhile
            with suppress(EOFError, OSError):
                connection.poll(max(0.0, deadline - time.monotonic()))
    shutil.rmtree(folder, ignore_errors=True)


# ------------------------------------------------------------------ in the process


@contextmanager
def listening(path: Path, look_seconds: float) -> Iterator[socket.socket]:
    """A socket that workers find; `accept` gives up after a while, so that the process can look around."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        listener.listen(4)
        listener.settimeout(look_seconds)
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


def accept(listener: socket.socket) -> _Connection | None:
    """The next worker that asks; None if none did for a while."""
    try:
        accepted, _ = listener.accept()
    except TimeoutError:
        return None
    accepted.setblocking(True)
    return Connection(accepted.detach())


def end_with(parent: int, look_seconds: float) -> None:
    """End this process when its parent is gone, also while it waits for an answer that never comes."""

    def watch() -> None:
        while is_alive(parent):
            time.sleep(look_seconds)
        time.sleep(_FAREWELL_SECONDS)  # for whoever notices by himself and has something to close
        os._exit(1)

    threading.Thread(target=watch, name="penstock-parent", daemon=True).start()


def is_alive(process: int) -> bool:
    """Whether a process still runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True  # not Linux
    return state != "Z"  # in a container often nobody waits for the children of a dead executor
