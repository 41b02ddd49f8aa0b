"""A running application under measurement: started, listened to, and ended with all its processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from typing_extensions import Self

from bench.output import BenchmarkFailed
from bench.processes import MARK, Meter
from bench.systems import Program
from penstock.jars.cache import cache_folder

_ROOT = Path(__file__).parent.parent
CLOSE_SECONDS = 90.0


def _environment() -> dict[str, str]:
    """The environment of measured programs: Python keeps compiled modules, as it does by default."""
    found = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**found, "PYTHONPYCACHEPREFIX": str(cache_folder() / "bench" / "pycache")}


class Application:
    """A program of a measured system, from its start to its end.

    Attributes:
        marks: When it first reached what it tells about, by name.
        batches: Figures of its batches, if it has such.
    """

    def __init__(self, run: str, program: Program) -> None:
        self._run = run
        self.marks: dict[str, float] = {}
        self.batches: list[Mapping[str, Any]] = []
        self._log = tempfile.TemporaryFile("w+", prefix="penstock-bench-")  # noqa: SIM115 - closed by close()
        self._changed = threading.Condition()
        self.started = time.time()
        self._process = subprocess.Popen(
            program.command,
            cwd=_ROOT,
            env={**_environment(), **program.environment, MARK: run},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, name=f"listen-{run}", daemon=True)
        self._listener.start()
        self.meter = Meter(run)
        self.meter.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = json.loads(line) if line.startswith("{") else None
            except ValueError:
                message = None
            with self._changed:
                if message is None:
                    self._log.write(line)
                elif "mark" in message:
                    self.marks.setdefault(message["mark"], message["at"])
                elif "batch" in message:
                    self.batches.append(message["batch"])
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def alive(self) -> bool:
        return self._process.poll() is None and "ERROR" not in self.marks

    def wait_for(self, name: str, timeout: float) -> float:
        """Wait for a mark; its time."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while name not in self.marks:
                if not self._listener.is_alive() or not self.alive():
                    raise BenchmarkFailed(f"the application ended before '{name}': {self._tail()}")
                if not self._changed.wait(min(1.0, max(0.0, deadline - time.monotonic()))) and (
                    time.monotonic() > deadline
                ):
                    raise BenchmarkFailed(f"no '{name}' after {timeout:g} s: {self._tail()}")
            return self.marks[name]

    def said(self) -> str:
        """The end of what it wrote to its log."""
        with self._changed:
            return self._tail()

    def _tail(self) -> str:
        self._log.flush()
        self._log.seek(0)
        text = self._log.read().strip()
        return text[-3000:] or "it wrote nothing"

    def close(self) -> float:
        """End it in the way its users would; how many seconds that took."""
        begin = time.monotonic()
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            pass  # ended below
        taken = time.monotonic() - begin
        self.meter.stop()
        self._end_what_is_left()
        self._listener.join()
        self._log.close()
        return taken

    def _end_what_is_left(self) -> None:
        """End processes that outlived the application; the mark in their environment tells that they are this run's."""
        deadline = time.monotonic() + 5
        while self.meter.processes() and time.monotonic() < deadline:
            time.sleep(0.1)
        for process in self.meter.processes():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it ended by itself
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
