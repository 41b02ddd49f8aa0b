"""What `penstock run` shows: one line that changes in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TextIO

from penstock.cli.tables import count

PLAIN_SECONDS = 10.0


class Application(Protocol):
    """What a status line is made of."""

    @property
    def metrics(self) -> Mapping[str, Any]: ...


class Display:
    """Writes plain lines: each step of the start, then a status every few seconds if anything happened."""

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._clock = clock
        self._shown_at = float("-inf")
        self._shown_batches = -1

    def line(self, text: str) -> None:
        """A line that stays."""
        print(text, file=self._out, flush=True)

    def progress(self, text: str) -> None:
        """A step of the start."""
        self.line(f"{text} ...")

    def status(self, application: Application) -> None:
        """Called about once a second."""
        metrics, now = application.metrics, self._clock()
        if metrics["batches-total"] != self._shown_batches and now - self._shown_at >= PLAIN_SECONDS:
            self._shown_at, self._shown_batches = now, metrics["batches-total"]
            self.line(status_text(metrics, None))


class LiveDisplay(Display):
    """One line with a spinner, at the bottom of the terminal."""

    def __init__(self, out: TextIO) -> None:
        from rich.console import Console
        from rich.status import Status

        super().__init__(out)
        self._console = Console(file=out, highlight=False)
        self._status = Status("", console=self._console)
        self._rate = Rate()

    def line(self, text: str) -> None:
        self._console.print(text, markup=False)

    def progress(self, text: str) -> None:
        self._show(f"{text} ...")

    def status(self, application: Application) -> None:
        metrics = application.metrics
        rate = self._rate.update(self._clock(), metrics["records-in-total"])
        self._show(f"{status_text(metrics, rate)}  (Ctrl-C stops)")

    def _show(self, text: str) -> None:
        from rich.text import Text

        self._status.update(Text(text, no_wrap=True, overflow="ellipsis"))
        self._status.start()

    def close(self) -> None:
        """Take the line away."""
        self._status.stop()


class Rate:
    """Records a second over the last seconds."""

    WINDOW = 5.0

    def __init__(self) -> None:
        self._seen: list[tuple[float, int]] = []

    def update(self, now: float, total: int) -> float:
        """Take the total so far; the rate."""
        self._seen = [(at, count) for at, count in self._seen if now - at <= self.WINDOW] + [(now, total)]
        (first, before), (last, after) = self._seen[0], self._seen[-1]
        return 0.0 if last == first else (after - before) / (last - first)


def status_text(metrics: Mapping[str, Any], rate: float | None) -> str:
    """How it goes, in a line.

    >>> status_text({"state": "RUNNING", "records-in-total": 1200, "records-out-total": 30, "records-lag": 5}, 240.0)
    'running  1,200 in (240/s)  30 out  5 waiting'
    """
    parts = [
        "paused" if metrics.get("paused") else metrics["state"].lower(),
        f"{metrics['records-in-total']:,} in" + ("" if rate is None else f" ({rate:,.0f}/s)"),
        f"{metrics['records-out-total']:,} out",
        f"{metrics['records-lag']:,} waiting",
    ]
    if metrics.get("dropped-records-total"):
        parts.append(f"{metrics['dropped-records-total']:,} dropped")
    if "batch-duration-ms" in metrics:
        parts.append(f"batch {metrics['batch']} took {metrics['batch-duration-ms']:,} ms")
    if metrics.get("restarts-total"):
        parts.append(count(metrics["restarts-total"], "restart"))
    return "  ".join(parts)


@contextmanager
def display(out: TextIO) -> Iterator[Display]:
    """The display for a stream: live in a terminal."""
    if not out.isatty():
        yield Display(out)
        return
    live = LiveDisplay(out)
    try:
        yield live
    finally:
        live.close()
