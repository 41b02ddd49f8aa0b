"""Who runs an application: a small file in its checkpoint, kept fresh as long as its program lives.

Two programs on one checkpoint would destroy it, and a reset under a running application would, too. A thread of its own
keeps the file fresh: the query may be starting again, or restoring state, for much longer than a claim holds.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow.fs as pafs

from penstock.errors import StreamsError
from penstock.state.disk.environments import boot_id
from penstock.state.disk.segments import filesystem

log = logging.getLogger("penstock.application")

STALE_SECONDS = 60.0
RENEW_SECONDS = 5.0
_FILE = "running.json"


@dataclass(frozen=True, slots=True)
class Owner:
    """The program that runs an application.

    Attributes:
        seen: When it was last known to run, in seconds since the epoch.
        machine: Which start of which machine or container it belongs to; empty if that is not known.
        born: When its process began, as that machine counts: process numbers are used again, in a container at once.
    """

    host: str
    pid: int
    started: float
    seen: float
    machine: str = ""
    born: str = ""

    @property
    def is_alive(self) -> bool:
        """Whether it runs, as far as can be known from here."""
        fresh = time.time() - self.seen <= STALE_SECONDS
        if self.host != socket.gethostname() or self.machine != _machine():
            return fresh
        # Here the process itself is asked: it may have been stopped for long, and go on.
        born = _born(self.pid)
        if born and self.born:
            return born == self.born
        return fresh and born is not None

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def owner(checkpoint: str) -> Owner | None:
    """Who runs the application of a checkpoint; None if nobody does."""
    fs, root = filesystem(checkpoint)
    path = f"{root}/{_FILE}"
    if fs.get_file_info(path).type == pafs.FileType.NotFound:
        return None
    try:
        with fs.open_input_stream(path) as file:
            found = Owner(**json.loads(file.readall()))
    except (OSError, ValueError, TypeError):
        return None  # taken away, or written, this very moment
    return found if found.is_alive else None


class Presence:
    """This program's claim on a checkpoint."""

    def __init__(self, checkpoint: str, application_id: str) -> None:
        self._checkpoint = checkpoint
        self._application_id = application_id
        self._started: float | None = None
        self._released = threading.Event()
        self._lock = threading.Lock()  # a renewal never comes after the release

    def claim(self) -> None:
        """Say that the application runs here, until `release`.

        Raises:
            StreamsError: It runs elsewhere, or the checkpoint cannot be written.
        """
        if self._started is not None:
            return
        other = owner(self._checkpoint)
        if other is not None:
            raise StreamsError(
                f"the application {self._application_id} runs already ({other}, checkpoint {self._checkpoint})",
                hint="Stop that one first, or give this one another application.id. One that was killed on another "
                f"machine counts as running for {STALE_SECONDS:g} seconds.",
            )
        self._started = time.time()
        try:
            self.renew()
        except OSError as error:
            self._started = None
            raise StreamsError(
                f"the checkpoint {self._checkpoint} cannot be written: {error}",
                hint="penstock.checkpoint, or state.dir if that is not set, names a folder that this program may make and "
                "write.",
            ) from error
        self._released.clear()
        threading.Thread(
            target=self._keep_fresh, args=(self._started,), name=f"{self._application_id}-presence", daemon=True
        ).start()

    def _keep_fresh(self, claimed: float) -> None:
        while not self._released.wait(RENEW_SECONDS) and self._started == claimed:
            try:
                self.renew()
            except Exception as error:  # noqa: BLE001 - the next one may work, and the claim holds until then
                log.warning("%s: the claim on the checkpoint could not be renewed: %s", self._application_id, error)

    def renew(self) -> None:
        """Say that it still runs."""
        with self._lock:
            if self._started is None:
                return
            fs, root = filesystem(self._checkpoint)
            fs.create_dir(root, recursive=True)
            pid = os.getpid()
            me = Owner(socket.gethostname(), pid, self._started, time.time(), _machine(), _born(pid) or "")
            with fs.open_output_stream(f"{root}/{_FILE}.part") as file:
                file.write(json.dumps(asdict(me)).encode())
            fs.move(f"{root}/{_FILE}.part", f"{root}/{_FILE}")

    def release(self) -> None:
        """Say that it no longer runs here."""
        self._released.set()
        with self._lock:
            if self._started is None:
                return
            self._started = None
            fs, root = filesystem(self._checkpoint)
            try:
                fs.delete_file(f"{root}/{_FILE}")
            except OSError:
                pass  # somebody removed the checkpoint


def _machine() -> str:
    """This start of this machine, or of this container: where process numbers mean the same processes."""
    try:
        return f"{boot_id().decode('ascii', 'replace')} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""  # not Linux


def _born(pid: int) -> str | None:
    """When a process began; None if there is none, empty if that cannot be known."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "" if _is_process(pid) else None
    return None if fields[0] in "ZX" else fields[19]  # one that ended counts as gone, also if nobody waited for it


def _is_process(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
