"""In Spark's worker: hand a batch to the connector task's own process."""

from __future__ import annotations

import os
from multiprocessing.connection import Connection
from pathlib import Path

from penstock.connect.errors import ConnectError
from penstock.connect.spark.reports import Plan, Report
from penstock.connect.spark.task_server import fork_server
from penstock.spark.resident import connect, socket_path, stop_all, wait_for

KIND = "penstock-connect"
_START_SECONDS = 30.0
_Connection = Connection  # generic only for type checkers


def run_in_task(run: str, encoded: str, plan: Plan) -> Report:
    """Run a batch in its task's process, starting it if needed.

    Raises:
        ConnectError: The process died; Spark tries again.
    """
    with connect(socket_path(KIND, run, plan["task"]), _start) as connection:
        try:
            connection.send((encoded, plan))
            report: Report = connection.recv()
        except (EOFError, OSError) as error:  # before its answer, or in the middle of it
            raise ConnectError(f"The process of task {plan['task']} died in batch {plan['batch']}") from error
    return report


def _start(path: Path) -> _Connection:
    # It watches the daemon that made this worker: Spark may end idle workers.
    fork_server(path, os.getppid())
    connection = wait_for(path, _START_SECONDS)
    if connection is None:
        raise ConnectError("The process of a task did not start in time")
    return connection


def stop_tasks(run: str) -> None:
    """End the processes of a run on this node; those on other nodes end by themselves."""
    stop_all(KIND, run)
