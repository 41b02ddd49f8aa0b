"""The broker's Java process: starting, watching and ending it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

# Reads until its parent closes the pipe, by calling close() or by dying in whatever way. Portable, unlike
# PR_SET_PDEATHSIG, which also fires when only the thread that started the process ends.
_WATCHDOG = 'read _; kill -9 "$1"; if [ -n "$2" ]; then sleep 0.2; rm -rf -- "$2"; fi'

STOP_TIMEOUT = 15.0

Ending = Callable[[subprocess.Popen[bytes]], None]
"""A way to end a process: `stop` or `kill`."""


def spawn(command: Sequence[str], *, log: Path, folder: Path) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, so that Ctrl-C in a terminal ends the program and not its broker."""
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


class Watchdog:
    """Ends a process when this one dies, even by SIGKILL.

    Args:
        pid: The process to end.
        delete: A folder to delete after that.
    """

    def __init__(self, pid: int, *, delete: Path | None) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _WATCHDOG, "penstock-watchdog", str(pid), str(delete or "")],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """Stop watching; to be called after the process has ended, before its id is used again."""
        self._process.kill()
        self._process.communicate()


def stop(process: subprocess.Popen[bytes], *, timeout: float = STOP_TIMEOUT) -> None:
    """End the process with SIGTERM, and with SIGKILL if it takes longer than `timeout`."""
    process.terminate()
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End the process with SIGKILL and wait for it."""
    process.kill()
    process.wait()


def send(pid: int, number: signal.Signals) -> bool:
    """Send a signal to a process that is not our child; False if there is no such process."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def command_line(pid: int) -> str:
    """The command of a process, empty if it does not run: tells a broker from a stranger that got its old id."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            return ""
    ps = ["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(ps, capture_output=True, text=True, check=False).stdout.strip()


def log_tail(log: Path, *, lines: int = 5) -> str:
    """The end of a log file on one line, errors first if there are any."""
    if not log.is_file():
        return ""
    text = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    telling = [line for line in text if "ERROR" in line or "FATAL" in line or "Exception" in line]
    return " | ".join((telling or text)[-lines:])
