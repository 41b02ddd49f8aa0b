"""Finding the processes below one that the test started, by what they run. Only those are ever killed."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

SPARK_HOME = Path(pyspark.__file__).parent

KINDS = {
    "slot": "penstock.spark.tasks.server",
    "worker": "pyspark.daemon|penstock.spark.worker_daemon|pyspark.worker",
    "jvm": "SparkSubmit",
    "executor": "CoarseGrainedExecutorBackend",
}


def below(root: int) -> dict[int, str]:
    """All processes below one, with their command lines."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents.setdefault(int(stat[stat.rindex(")") + 2 :].split()[1]), []).append(int(entry.name))
    found: dict[int, str] = {}
    todo = [root]
    while todo:
        for child in parents.get(todo.pop(), []):
            try:
                line = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            found[child] = line
            todo.append(child)
    return found


def find(root: int, kind: str) -> list[int]:
    """Processes of a kind below one."""
    marks = KINDS[kind].split("|")
    return [pid for pid, line in below(root).items() if any(mark in line for mark in marks)]


def kill(pid: int) -> None:
    """Kill -9; a process that is gone already is fine."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


@contextmanager
def no_executor_folders_left(master: str) -> Iterator[None]:
    """Remove what executors on local-cluster leave: their folders are in Spark's own one, also those of other tests."""
    if not master.startswith("local-cluster"):
        yield
        return
    work = SPARK_HOME / "work"
    before = set(work.glob("app-*"))
    try:
        yield
    finally:
        for left in set(work.glob("app-*")) - before:
            shutil.rmtree(left, ignore_errors=True)
        if work.is_dir() and not any(work.iterdir()):
            work.rmdir()
