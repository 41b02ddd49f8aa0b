"""A connector task's own process, which keeps the task from batch to batch.

Spark hands a batch to any of its Python workers, but a task has connections, open files and transactions that have to stay.
The process is forked from the worker that gets the task's first batch, so it is there at once; it ends when the connector
stops, when nobody asks for a while, or with Spark. Nothing depends on it: a new one begins where the offsets say.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from penstock.connect.config.redacted_log import RedactedLog
from penstock.connect.config.secrets import NO_SECRETS
from penstock.connect.failures import SystemClock
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.reports import Plan, Report, failure_report
from penstock.connect.spark.sink_host import SinkHost
from penstock.connect.spark.source_host import SourceHost
from penstock.connect.validation.connector_keys import ConnectorKind
from penstock.spark.resident import STOP, STOPPED, accept, end_with, is_alive, listening
from penstock.spark.tasks.garbage import Garbage

log = logging.getLogger("penstock.connect")

IDLE_SECONDS = 60.0
STOP_SECONDS = 5.0
_LOOK_SECONDS = 1.0
_Connection = Connection  # generic only for type checkers


class TaskServer:
    """Runs the batches of one task."""

    def __init__(self) -> None:
        self._host: SinkHost | SourceHost | None = None
        self._clock = SystemClock()
        self._garbage = Garbage()
        self._lock = threading.Lock()
        self._stopped = False
        self.secrets = NO_SECRETS
        self.last = time.monotonic()

    @property
    def busy(self) -> bool:
        """Whether a batch is running."""
        return self._lock.locked()

    def run(self, encoded: str, plan: Plan) -> Report:
        """Run a batch; what it raises is in the report. A task that failed is made anew for the next one."""
        with self._lock:
            try:
                if self._host is None:
                    job = ConnectJob.decode(encoded)
                    self.secrets = job.secrets
                    self._host = new_host(job, plan["task"], self._clock)
                return self._host.run(plan)
            except Exception as error:  # noqa: BLE001 - connector code
                report = failure_report(plan["task"], error)
                self._close()
                return report
            finally:
                self._garbage.set_aside()
                self.last = time.monotonic()

    def stop(self) -> None:
        """Let a batch end, not for long, and stop the task. Once: whoever was told that it stopped may start another."""
        if self._stopped:
            return
        self._stopped = True
        self._clock.stop()
        if self._lock.acquire(timeout=STOP_SECONDS):
            try:
                self._close()
            finally:
                self._lock.release()

    def _close(self) -> None:
        host, self._host = self._host, None
        if host is not None:
            try:
                host.close()
            except Exception:
                log.exception("A task did not stop well")


def new_host(job: ConnectJob, task: int, clock: SystemClock) -> SinkHost | SourceHost:
    """The host for a task of the connector."""
    return SinkHost(job, task, clock) if job.kind is ConnectorKind.SINK else SourceHost(job, task, clock)


def serve(path: Path, parent: int) -> None:
    """Accept requests until the parent is gone, a request says stop, or nobody asks for long."""
    server = TaskServer()
    # The worker's handlers are in another process; here Python's last resort writes what tasks and connectors log.
    for handler in (*logging.getLogger().handlers, logging.lastResort):
        if handler is not None:
            handler.addFilter(RedactedLog(lambda: server.secrets))
    end_with(parent, _LOOK_SECONDS)
    with listening(path, _LOOK_SECONDS) as listener:
        _accept_all(listener, server, parent)
    server.stop()


def _accept_all(listener: socket.socket, server: TaskServer, parent: int) -> None:
    while is_alive(parent) and (server.busy or time.monotonic() - server.last < IDLE_SECONDS):
        connection = accept(listener)
        if connection is None:
            continue
        try:
            request = connection.recv()
        except (EOFError, OSError):
            connection.close()
            continue
        if request == STOP:
            server.stop()
            _answer(connection, STOPPED)
            return
        # In a thread, so that a request to stop is heard while a batch waits for another system.
        threading.Thread(target=_reply, args=(connection, server, request), daemon=True).start()


def _reply(connection: _Connection, server: TaskServer, request: Any) -> None:
    encoded, plan = request
    _answer(connection, server.run(encoded, plan))


def _answer(connection: _Connection, answer: Any) -> None:
    with connection:
        try:
            connection.send(answer)
        except OSError as error:
            log.info("a worker went away: %s", error)


def fork_server(path: Path, parent: int) -> None:
    """Start the process of a task from this one, and leave it to itself."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the worker, which stops us in its own time
            _close_inherited()
            serve(path, parent)
    finally:
        os._exit(0)  # nothing of the worker that was forked is to be cleaned up here


def _close_inherited() -> None:
    """Keep nothing of the worker's but where its prints go; above all not its connection to Spark."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
