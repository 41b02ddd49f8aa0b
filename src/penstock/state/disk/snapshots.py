"""Snapshots: from time to time a copy of a task's whole LMDB in the checkpoint, which makes the segments before it needless."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path

import lmdb

from penstock.state.disk.environments import META, environment
from penstock.state.disk.segments import SegmentFolder

log = logging.getLogger("penstock.state")

# A snapshot is taken when the segments since the last one outweigh it: each byte of state is then written about twice. `make chaos`
# makes it happen all the time.
SNAPSHOT_BYTES = 64 << 20
SNAPSHOT_SEGMENTS = int(os.environ.get("PENSTOCK_SNAPSHOT_SEGMENTS", "2000"))


class Snapshots:
    """Takes the snapshots of one task.

    Args:
        local: Folder of the task's LMDB.
        folder: Its segments and snapshots in the checkpoint.
    """

    def __init__(self, local: Path, folder: SegmentFolder) -> None:
        self._local = local
        self._folder = folder
        self._count, self._bytes = 0, 0
        self._thread: threading.Thread | None = None

    def found(self, sizes: Sequence[int]) -> None:
        """How large the segments since the last snapshot are, whoever wrote them."""
        self._count, self._bytes = len(sizes), sum(sizes)

    def add(self, size: int) -> None:
        """A segment more."""
        self._count += 1
        self._bytes += size

    def take_if_due(self, version: int) -> None:
        """Take one in the background if the segments outweigh it.

        Args:
            version: What LMDB holds at least.
        """
        if (self._bytes < SNAPSHOT_BYTES and self._count < SNAPSHOT_SEGMENTS) or (
            self._thread is not None and self._thread.is_alive()
        ):
            return
        env = environment(self._local)
        state_bytes = env.info()["last_pgno"] * env.stat()["psize"]
        if self._bytes < state_bytes and self._count < SNAPSHOT_SEGMENTS:
            return
        self.found([])
        # The copy runs in C without the interpreter's lock, from a read transaction: batches go on beside it.
        self._thread = threading.Thread(target=self.take, args=(env, version), daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait for the one that is on its way."""
        if self._thread is not None:
            self._thread.join()

    def take(self, env: lmdb.Environment, at_least: int) -> None:
        """Take one now."""
        folder = self._local.with_name(f"{self._local.name}.snapshot")
        # Whoever had the task before may be at it, too.
        scratch = folder / f"{os.getpid()}-{uuid.uuid4().hex}"
        try:
            for left in folder.glob("*"):
                if not _is_alive(left.name.partition("-")[0]):
                    shutil.rmtree(left, ignore_errors=True)
            scratch.mkdir(parents=True)
            env.copy(str(scratch), compact=True)
            with lmdb.open(str(scratch), max_dbs=2, readonly=True, lock=False) as copy, copy.begin() as txn:
                meta = copy.open_db(META, txn=txn, create=False)
                version, begun = (int(txn.get(name, b"-1", db=meta)) for name in (b"version", b"begun"))
            if version >= at_least and begun <= version:  # else the next segment was on its way already
                self._folder.store_snapshot(version, str(scratch / "data.mdb"))
                self._folder.remove_before(version)
        except Exception:
            # The truth is in the segments, which stay; the next snapshot tries again.
            log.exception("state %s: the snapshot failed", self._local.name)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (ValueError, OSError):
        return False
    return True
