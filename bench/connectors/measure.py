"""One measure: a connector's task and a plain loop, in turn, over the same rows."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(slots=True)
class Measure:
    """A comparison.

    Attributes:
        name: What is compared.
        rows: Rows of one run.
        ours: One run of the connector's task, converters included.
        plain: One run of the plain loop.
        before: What has to be done before each run; it is not counted.
        ours_rates: Rows a second, of each run.
        plain_rates: Likewise.
    """

    name: str
    rows: int
    ours: Callable[[], None]
    plain: Callable[[], None]
    before: Callable[[], None] = lambda: None
    ours_rates: list[float] = field(default_factory=list)
    plain_rates: list[float] = field(default_factory=list)

    def run(self) -> None:
        """One run of each."""
        for call, rates in ((self.plain, self.plain_rates), (self.ours, self.ours_rates)):
            self.before()
            gc.freeze()  # as the processes of tasks do; for the plain loop too
            begin = time.perf_counter()
            call()
            rates.append(self.rows / (time.perf_counter() - begin))

    @property
    def ratio(self) -> float:
        """The connector's rate as a part of the plain loop's; the median over runs that followed each other at once."""
        return statistics.median(ours / plain for ours, plain in zip(self.ours_rates, self.plain_rates, strict=True))

    def figures(self) -> dict[str, Any]:
        """What is kept of it."""
        return {
            "name": self.name,
            "rows": self.rows,
            "ours": self.ours_rates,
            "plain": self.plain_rates,
            "ratio": self.ratio,
        }


class Measures(Protocol):
    """A module with measures has this function."""

    def __call__(self, rows: int, resources: ExitStack) -> list[Measure]:
        """The measures of a module; servers and connections go to `resources`."""
        ...
