"""Local state that is no longer used on a node: of tasks that moved to another one, and of earlier checkpoints.

It is a copy of what the checkpoint has, and nobody else would ever remove it: a node would fill up with the whole state of
each task that was there once. Whoever is wrong here costs a task a restore, never its state.

    state.dir/app-0123456789ab/0_0     used: its folder is touched now and then
                              /0_1     moved away: removed when nobody has touched it for the delay
    state.dir/app-ba9876543210/0_0     of an earlier checkpoint, or from before a reset: removed, too

"""

from __future__ import annotations

import fcntl
import logging
import math
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

log = logging.getLogger("penstock.state")

_GONE = ".removed"
_TASK = re.compile(r"\d+_\d+(\.removed)?")
_MARK = len("-0123456789ab")  # of the checkpoint, behind the application's id


class LocalCleanup:
    """Removes what other tasks of the application left on this node, while this process hosts some of them.

    Args:
        clock: The time, as files have it.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._own: set[Path] = set()
        self._looked: float | None = None

    def uses(self, folders: Iterable[Path]) -> None:
        """Say which folders of tasks are this process's own, whether there is something in them yet or not."""
        new = set(folders) - self._own
        if new:
            self._own |= new
            self._touch(new)

    def look(self, delay_ms: int) -> list[Path]:
        """Remove what nobody used for the delay. Does something once in that time, and not the first time.

        The first time other processes of a node that was down for long may not have said yet what they use. The same is
        why a folder has to be older than the look before this one, and not just older than now.

        Returns:
            The folders that were removed.
        """
        now, delay = self._clock(), delay_ms / 1000
        if not self._own or (self._looked is not None and now - self._looked < delay):
            return []
        before, self._looked = self._looked, now
        self._touch(self._own)
        if before is None:
            return []
        outlived = (f for f in self._task_folders() if f not in self._own and _last_use(f) < before - delay)
        return [folder for folder in outlived if _remove(folder)]

    def _touch(self, folders: Iterable[Path]) -> None:
        now = self._clock()
        for folder in folders:
            try:
                os.utime(folder, (now, now))
            except OSError:
                pass  # it has no state yet

    def _task_folders(self) -> list[Path]:
        """All folders of tasks of the application, of whatever checkpoint."""
        mine = next(iter(self._own)).parent
        own = re.compile(re.escape(mine.name[:-_MARK]) + r"-[0-9a-f]{12}")
        try:
            checkpoints = [folder for folder in mine.parent.iterdir() if own.fullmatch(folder.name)]
            return [task for folder in checkpoints for task in folder.iterdir() if _TASK.fullmatch(task.name)]
        except OSError:
            return []  # another process removes some of them right now


def _last_use(folder: Path) -> float:
    try:
        return max(path.stat().st_mtime for path in (folder, *folder.iterdir()))
    except OSError:
        return math.inf  # another process was faster


def _remove(folder: Path) -> bool:
    """Remove a task's folder, unless a process has it open."""
    with _nobody_has(folder) as free:
        if not free:
            return False
        # Out of the way first, at once: whoever opens it from now on begins with an empty one.
        gone = folder if folder.name.endswith(_GONE) else folder.with_name(f"{folder.name}{_GONE}")
        try:
            if gone != folder:
                shutil.rmtree(gone, ignore_errors=True)
                folder.rename(gone)
        except OSError:
            return False
    for left in (gone, folder.with_name(f"{folder.name}.snapshot")):  # a snapshot that its process did not live to end
        shutil.rmtree(left, ignore_errors=True)
    log.info("local state %s was not used for long and is removed", folder)
    return True


@contextmanager
def _nobody_has(folder: Path) -> Iterator[bool]:
    """Whether no other process has LMDB open there; if so, none can open it inside.

    LMDB holds a shared lock on the first byte of its lock file as long as an environment is open. A process does not see
    locks of its own, and loses them here: never ask for a folder that this one uses.
    """
    try:
        descriptor = os.open(folder / "lock.mdb", os.O_RDWR)
    except OSError:
        yield True  # LMDB never was there
        return
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
    except OSError:
        os.close(descriptor)
        yield False
        return
    try:
        yield True
    finally:
        os.close(descriptor)
