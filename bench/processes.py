"""Memory and processor time of all processes of an application, however it starts them."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

MARK = "PENSTOCK_BENCH_RUN"
"""Environment variable that every process of a run inherits. A process tree would lose those whose parent has ended."""

_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
# What the program or module of a Python process is called, and what such processes are.
_PYTHON_KINDS = {
    "penstock.spark.tasks.server": "slots",
    "penstock.spark.worker_daemon": "workers",
    "pyspark.daemon": "workers",
}


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes in memory.

    Attributes:
        resident: All that is in memory, pages of mapped files included: the system takes those back when it needs them.
        own: Without mapped files and shared memory.
    """

    resident: int = 0
    own: int = 0

    def __add__(self, other: Memory) -> Memory:
        return Memory(self.resident + other.resident, self.own + other.own)


@dataclass(slots=True)
class Usage:
    """What the processes of a run use."""

    memory: Memory = field(default_factory=Memory)
    by_kind: Mapping[str, Memory] = field(default_factory=lambda: MappingProxyType({}))
    processes: int = 0


class Meter(threading.Thread):
    """Watches the processes of a run.

    Args:
        run: The value of MARK in their environment.
        interval: Seconds between two looks.
    """

    def __init__(self, run: str, interval: float = 0.5) -> None:
        super().__init__(name=f"meter-{run}", daemon=True)
        self._mark = f"{MARK}={run}".encode()
        self._interval = interval
        self._known: dict[int, str | None] = {}  # process id -> kind; None for those of others
        self._cpu: dict[int, float] = {}
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self.peak = Memory()
        self.peaks: dict[str, Memory] = {}

    def run(self) -> None:
        while not self._ended.wait(self._interval):
            self.look()

    def stop(self) -> None:
        self._ended.set()
        self.join()

    def look(self) -> Usage:
        """What the run uses now."""
        with self._lock:
            usage = self._usage()
        for kind, memory in usage.by_kind.items():
            self.peaks[kind] = _larger(self.peaks.get(kind, Memory()), memory)
        self.peak = _larger(self.peak, usage.memory)
        return usage

    def cpu_seconds(self) -> float:
        """Processor time of all processes so far, those that have ended included."""
        self.look()
        return sum(self._cpu.values())

    def processes(self) -> list[int]:
        """The processes of the run that are alive."""
        return [process for process, kind in self._kinds().items() if kind is not None]

    def _usage(self) -> Usage:
        kinds: defaultdict[str, Memory] = defaultdict(Memory)
        count = 0
        for process, kind in self._kinds().items():
            if kind is None:
                continue
            try:
                kinds[kind] += _memory(process)
                self._cpu[process] = _cpu(process)
                count += 1
            except (OSError, KeyError):  # it has just ended
                continue
        return Usage(sum(kinds.values(), Memory()), dict(kinds), count)

    def _kinds(self) -> dict[int, str | None]:
        alive = {int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()}
        self._known = {process: self._known.get(process, "") for process in alive}
        for process, kind in self._known.items():
            # A fork has the command line of its parent until it becomes something else: look again at new ones.
            if kind in {"", "driver"}:
                self._known[process] = self._kind(process)
        return self._known

    def _kind(self, process: int) -> str | None:
        try:
            if self._mark not in (_PROC / str(process) / "environ").read_bytes().split(b"\0"):
                return None
            command = (_PROC / str(process) / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            return None
        if Path(command[0]).name == "java":
            return "jvm"
        return next((kind for name, kind in _PYTHON_KINDS.items() if name in command[:4]), "driver")


def _larger(left: Memory, right: Memory) -> Memory:
    return Memory(max(left.resident, right.resident), max(left.own, right.own))


def _memory(process: int) -> Memory:
    lines = (_PROC / str(process) / "status").read_text().splitlines()
    sizes = {
        name: int(text.split()[0]) * 1024
        for name, _, text in (line.partition(":") for line in lines)
        if "Rss" in name or name == "VmRSS"
    }
    return Memory(sizes["VmRSS"], sizes["RssAnon"])


def _cpu(process: int) -> float:
    text = (_PROC / str(process) / "stat").read_text()
    parts = text[text.rindex(")") + 2 :].split()  # the name before it may have blanks
    return (int(parts[11]) + int(parts[12])) / _TICKS


def process_cpu(process: int) -> float:
    """Processor time of one process, in seconds."""
    return _cpu(process)


def machine_cpu() -> tuple[float, float]:
    """Seconds that all processors were busy, and that the host took from them: tells a run that was disturbed."""
    user, nice, system, _idle, _wait, irq, soft, stolen = (
        int(text) / _TICKS for text in (_PROC / "stat").read_text().splitlines()[0].split()[1:9]
    )
    return user + nice + system + irq + soft, stolen


def folder_size(folder: Path) -> tuple[int, int]:
    """Number of files under a folder, and the bytes they take on disk."""
    files = size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                size += Path(place, name).stat().st_blocks * 512
                files += 1
            except FileNotFoundError:  # removed meanwhile
                continue
    return files, size
