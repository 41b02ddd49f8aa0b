"""Where the demo is shown: a page that renews itself in a terminal, or lines anywhere else."""

from __future__ import annotations

import time
from dataclasses import replace
from types import TracebackType

from rich.console import Console, RenderableType
from rich.live import Live
from typing_extensions import Self

from penstock.demo.page import page, plain_line, step_line
from penstock.demo.stats import DemoStats


class TerminalPage:
    """A page in a terminal, renewed several times a second so that the clock runs while Spark starts."""

    def __init__(self, console: Console, begin: float) -> None:
        self._console = console
        self._begin = begin
        self._stats = DemoStats()
        self._live = Live(console=console, get_renderable=self._render, refresh_per_second=5, transient=False)

    def _render(self) -> RenderableType:
        now = replace(self._stats, seconds=time.monotonic() - self._begin)
        return page(now, height=self._console.height)

    def show(self, stats: DemoStats) -> None:
        self._stats = stats

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()


class PlainLines:
    """A line for each new step, and then one every two seconds."""

    def __init__(self, every: float = 2.0) -> None:
        self._every = every
        self._step = ""
        self._next = 0.0

    def show(self, stats: DemoStats) -> None:
        if stats.step != self._step:
            self._step = stats.step
            self._print(step_line(stats))
        elif stats.counts and stats.seconds >= self._next:
            self._next = stats.seconds + self._every
            self._print(plain_line(stats))

    def _print(self, line: str) -> None:
        print(line, flush=True)  # noqa: T201 - it is what this class is for

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass
