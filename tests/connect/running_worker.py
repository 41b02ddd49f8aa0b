"""A Connect worker as a user runs it: the command, a properties file, a process of its own."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import httpx
from typing_extensions import Self

from penstock.broker.process import Watchdog

PENSTOCK = Path(sys.executable).parent / "penstock"
STRING = "org.apache.kafka.connect.storage.StringConverter"
_PATIENCE_SECONDS = 240
_URL = re.compile(r"answers at (http://\S+);")


class RunningWorker:
    """A worker in a process of its own, for the length of a `with` block.

    Args:
        folder: Where its files are.
        settings: Settings of the worker.
        mode: standalone or distributed.
        connectors: Files of connectors to start with.
    """

    def __init__(
        self, folder: Path, settings: Mapping[str, str], *, mode: str = "standalone", connectors: Iterable[Path] = ()
    ) -> None:
        self._folder = folder
        given = {
            "listeners": "http://127.0.0.1:0",
            "key.converter": STRING,
            "value.converter": STRING,
            "offset.storage.file.filename": str(folder / "connect.offsets"),
            "state.dir": str(folder / "state"),
            **settings,
        }
        file = folder / f"{mode}-{time.time_ns()}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in given.items()))
        self.command = [str(PENSTOCK), "connect", mode, str(file), *map(str, connectors)]
        self.log = file.with_suffix(".log")

    def __enter__(self) -> Self:
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        self._watchdog = Watchdog(self.process.pid, delete=None)
        found: list[str] = eventually(self._url)
        self.url = found[0]
        self.http = httpx.Client(base_url=self.url, timeout=120, trust_env=False)
        return self

    def _url(self) -> list[str] | None:
        if self.process.poll() is not None:
            raise RuntimeError(f"The worker ended with {self.process.returncode}:\n{self.log.read_text()}")
        return _URL.findall(self.log.read_text()) or None

    def __exit__(self, *_: object) -> None:
        self.http.close()
        try:
            self.stop(signal.SIGTERM)
        finally:
            self._watchdog.dismiss()

    def stop(self, how: signal.Signals) -> int:
        """Ends the process; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(180)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    def state(self, name: str) -> str:
        """The state of a connector, or of its first task that does not run."""
        status = self.http.get(f"/connectors/{name}/status").json()
        states = [status["connector"]["state"], *(task["state"] for task in status["tasks"])]
        return next((state for state in states if state != "RUNNING"), "RUNNING")


def eventually(check: Callable[[], Any], seconds: float = _PATIENCE_SECONDS) -> Any:
    """What a check gives, as soon as it gives something; a test that hangs ends while it can still clean up."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = check()
        if found:
            return found
        time.sleep(0.1)
    raise TimeoutError(f"Not so after {seconds} seconds: {check()!r}")
