"""Who runs an application: a small file in its checkpoint, kept fresh while it runs.

Two programs on one checkpoint would destroy it, and a reset under a running application would, too.
"""

from __future__ import annotations

import json
import os
import socket
import time
from dataclasses import asdict, dataclass

import pyarrow.fs as pafs

from penstock.errors import StreamsError
from penstock.state.disk.segments import filesystem

STALE_SECONDS = 60.0
_FILE = "running.json"


@dataclass(frozen=True, slots=True)
class Owner:
    """The program that runs an application.

    Attributes:
        seen: When it was last known to run, in seconds since the epoch.
    """

    host: str
    pid: int
    started: float
    seen: float

    @property
    def is_alive(self) -> bool:
        """Whether it runs, as far as can be known from here."""
        if time.time() - self.seen > STALE_SECONDS:
            return False
        return self.host != socket.gethostname() or _is_process(self.pid)

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

    def claim(self) -> None:
        """Say that the application runs here.

        Raises:
            StreamsError: It runs elsewhere.
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
        self.renew()

    def renew(self) -> None:
        """Say that it still runs."""
        if self._started is None:
            return
        fs, root = filesystem(self._checkpoint)
        fs.create_dir(root, recursive=True)
        me = Owner(socket.gethostname(), os.getpid(), self._started, time.time())
        with fs.open_output_stream(f"{root}/{_FILE}.part") as file:
            file.write(json.dumps(asdict(me)).encode())
        fs.move(f"{root}/{_FILE}.part", f"{root}/{_FILE}")

    def release(self) -> None:
        """Say that it no longer runs here."""
        if self._started is None:
            return
        self._started = None
        fs, root = filesystem(self._checkpoint)
        try:
            fs.delete_file(f"{root}/{_FILE}")
        except OSError:
            pass  # somebody removed the checkpoint


def _is_process(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
