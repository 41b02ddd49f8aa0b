"""A slot's own process, which lives as long as the application.

Spark hands each batch to any of its Python workers. A task that lands in another process each time would lose what makes
it fast and what users expect to stay: open producers (taking a transactional id over costs 60 ms), the decoded record
cache, the LMDB pages to write, compiled code, and whatever a processor keeps in its attributes. So each slot has one
process on its node, and the worker that Spark chose hands the batch over a local socket and waits.

Nothing depends on it for safety: if it dies, Spark runs the task again and a new one starts from the checkpoint.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from penstock.spark.job import Job, decode
from penstock.spark.resident import STOP, STOPPED, accept, end_with, is_alive, listening
from penstock.spark.rows import Row
from penstock.spark.tasks.garbage import Garbage
from penstock.spark.tasks.host import close_all
from penstock.spark.tasks.slot import SlotPlan, run_slot
from penstock.state.disk.cleanup import LocalCleanup

log = logging.getLogger("penstock.slot")

IDLE_SECONDS = 300.0
CLOSE_SECONDS = 8.0  # less than whoever stops us waits for the answer
_LOOK_SECONDS = 0.5
_CLEANUP_MS = 600_000


class SlotServer:
    """Serves batches of one slot, one after the other."""

    def __init__(self) -> None:
        # The last answer of each level: a worker that died while it waited asks again, and the batch is done already.
        self._answers: dict[int, tuple[SlotPlan, list[Row]]] = {}
        self._garbage = Garbage()
        self._cleanup = LocalCleanup()
        self._delay_ms = _CLEANUP_MS

    def answer(self, encoded: str, plan: SlotPlan, rows: list[Row], *, again: bool) -> list[Row]:
        """Run a batch, or give its rows again."""
        job: Job = decode(encoded)
        known = self._answers.get(plan.level)
        if known is not None and known[0] == plan:
            return known[1]
        self._answers.pop(plan.level, None)
        found = list(run_slot(job, plan, rows, again=again))
        self._cleanup.uses(job.local_folder(f"{s}_{p}") for s, p, _ in plan.tasks)
        self._delay_ms = job.config.app_configs.get("state.cleanup.delay.ms", _CLEANUP_MS)
        self._answers[plan.level] = (plan, found)
        return found

    def rest(self) -> None:
        """What is better done after the answer."""
        self._garbage.set_aside()
        self._cleanup.look(self._delay_ms)


def serve(path: Path, parent: int) -> None:
    """Accept requests until the parent is gone, a request says stop, or nobody asks for long."""
    server, last = SlotServer(), time.monotonic()
    end_with(parent, _LOOK_SECONDS)
    with listening(path, _LOOK_SECONDS) as listener:
        while is_alive(parent) and time.monotonic() - last < IDLE_SECONDS:
            connection = accept(listener)
            if connection is None:
                continue
            with connection:
                try:
                    request = connection.recv()
                    if request == STOP:
                        close_tasks()
                        connection.send(STOPPED)
                        return
                    connection.send(_reply(server, request))
                    server.rest()
                except (EOFError, OSError) as error:
                    log.info("a worker went away: %s", error)
            last = time.monotonic()
    close_tasks()


def close_tasks(seconds: float = CLOSE_SECONDS) -> None:
    """Close processors and stores. In this thread, where they were made; one that does not return ends the process."""
    limit = threading.Timer(seconds, _give_up, (seconds,))
    limit.daemon = True
    limit.start()
    close_all()
    limit.cancel()


def _give_up(seconds: float) -> None:
    log.warning("processors were not closed within %g seconds; the process ends without them", seconds)
    _exit()


def _exit() -> None:
    sys.stdout.flush()  # what processors printed last
    os._exit(0)  # producers' threads need no farewell: everything is flushed


def _reply(server: SlotServer, request: Any) -> tuple[str, Any]:
    encoded, plan, rows, again, search_path = request
    sys.path.extend(entry for entry in search_path if entry not in sys.path)
    try:
        return "rows", server.answer(encoded, plan, rows, again=again)
    except Exception as error:  # noqa: BLE001 - it travels to the worker, which raises it
        text = traceback.format_exc()
        try:
            return "error", (pickle.dumps(error), text)
        except Exception:  # noqa: BLE001 - an exception that cannot be pickled
            return "error", (None, text)


def main() -> None:
    """`python -m penstock.spark.tasks.server SOCKET PARENT`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the application, which stops us in its own time
    serve(Path(sys.argv[1]), int(sys.argv[2]))
    _exit()


if __name__ == "__main__":
    main()
