"""What the demo shows at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class DemoStats:
    """One look at the running demo.

    Attributes:
        seconds: Since the command was called.
        step: What it is doing.
        lines: Lines processed so far.
        lines_per_second: Lines processed in the last second.
        behind: Lines produced, but not processed yet.
        counts: The words and how often they were seen.
        updates: Records in the output topic.
        batches: Batches so far.
        batch_ms: Time of the last batch.
        state_rows: Words in the store.
        state_bytes: Size of the store on disk.
    """

    seconds: float = 0.0
    step: str = ""
    lines: int = 0
    lines_per_second: float = 0.0
    behind: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    updates: int = 0
    batches: int = 0
    batch_ms: float = 0.0
    state_rows: int = 0
    state_bytes: int = 0

    def top(self, number: int) -> list[tuple[str, int]]:
        """The most frequent words, the most frequent first."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:number]


def processed(metrics: Mapping[str, Any], topic: str) -> int:
    """Records of a topic that an application has processed, of a topic that began with it.

    >>> processed({"offsets": {"lines": {"0": 3, "1": 4}}}, "lines")
    7
    """
    return sum(metrics.get("offsets", {}).get(topic, {}).values())


class Rate:
    """How fast a number grows, over about the last two seconds.

    >>> rate = Rate()
    >>> [rate.update(now, total) for now, total in [(0, 0), (1, 100), (2, 300), (3, 300)]]
    [0.0, 100.0, 150.0, 100.0]
    """

    def __init__(self, seconds: float = 2.0) -> None:
        self._seconds = seconds
        self._seen: list[tuple[float, int]] = []

    def update(self, now: float, total: int) -> float:
        """Note the number's value at a time."""
        self._seen.append((now, total))
        while len(self._seen) > 2 and self._seen[1][0] <= now - self._seconds:
            del self._seen[0]
        begin, before = self._seen[0]
        return (total - before) / (now - begin) if now > begin else 0.0
