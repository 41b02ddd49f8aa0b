"""In Spark's worker: hand a slot's batch to the slot's own process."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import pyarrow.fs as pafs
from pyspark import TaskContext

from penstock.errors import ProcessorStateError, StreamsError
from penstock.spark.job import Job
from penstock.spark.resident import connect, set_aside_once, socket_path, stop_all, wait_for
from penstock.spark.rows import Row
from penstock.spark.tasks.slot import SlotPlan
from penstock.state.disk.segments import filesystem

_KIND = "penstock"
_START_SECONDS = 60.0
# It has no log of its own: it writes where the worker does.
_WORDS = "in the stderr of Spark's executor, or on the program's own with a local master"
_Connection = Connection  # generic only for type checkers


def run_in_slot(job: Job, encoded: str, plan: SlotPlan, rows: Sequence[Row] = ()) -> list[Row]:
    """Run a batch in its slot's process, starting it if needed.

    Raises:
        StreamsError: The process died; Spark runs the task again.
        Exception: Whatever the batch raised.
    """
    set_aside_once()
    context = TaskContext.get()
    again = context is not None and context.attemptNumber() > 0
    path = socket_path(_KIND, job.run, plan.slot)
    with connect(path, lambda path: _start(job, path)) as connection:
        try:
            connection.send((encoded, plan, list(rows), again, sys.path))
            kind, content = connection.recv()
        except (EOFError, OSError) as error:  # before its answer, or in the middle of it
            raise StreamsError(f"the process of slot {plan.slot} died in batch {plan.batch}") from error
    if kind == "rows":
        return content  # type: ignore[no-any-return]
    pickled, text = content
    failure = StreamsError(text) if pickled is None else pickle.loads(pickled)
    raise failure from _Remote(text)


class _Remote(Exception):
    """The traceback in the slot's process."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _start(job: Job, path: Path) -> _Connection:
    require_checkpoint(job.checkpoint)
    # Not a child of this worker for good: Spark may end idle workers. It watches the daemon that made the worker.
    command = [sys.executable, "-m", "penstock.spark.tasks.server", str(path), str(os.getppid())]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=sys.stderr, env=environment, start_new_session=True
    )
    connection = wait_for(path, _START_SECONDS, lambda: process.poll() is not None)
    if connection is not None:
        return connection
    if process.returncode is not None:
        raise StreamsError(
            f"the process of a slot ended at once on {socket.gethostname()} with status {process.returncode}",
            hint=f"Its last words are {_WORDS}. A negative status is the signal that killed it, such as -9 for want of memory.",
        )
    process.kill()
    raise StreamsError(
        f"the process of a slot did not start within {_START_SECONDS:g} seconds on {socket.gethostname()}",
        hint=f"The node may have too much to do: set penstock.slots to fewer. What the process said is {_WORDS}.",
    )


def require_checkpoint(checkpoint: str) -> None:
    """Refuse a node that does not see the driver's checkpoint: its tasks would start with empty state.

    Raises:
        ProcessorStateError: Spark's log of the query, which the driver writes before the first task, is not there.
    """
    fs, root = filesystem(checkpoint)
    if fs.get_file_info(f"{root}/query").type == pafs.FileType.NotFound:
        raise ProcessorStateError(
            f"the node {socket.gethostname()} does not see the checkpoint {checkpoint}",
            hint="Set penstock.checkpoint to a folder that the driver and all nodes reach.",
        )


def stop_slots(run: str) -> None:
    """End the slots' processes of a run on this node; those on other nodes end by themselves."""
    stop_all(_KIND, run)
