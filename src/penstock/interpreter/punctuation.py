"""Punctuation: functions that run when stream time or the wall clock reaches their due time."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from enum import Enum
from operator import itemgetter
from typing import Any

from penstock.durations import Duration, Instant, duration_ms, instant_ms
from penstock.errors import TopologyError

NEVER = 1 << 63


class PunctuationType(Enum):
    """Which clock a punctuator follows."""

    STREAM_TIME = "stream"
    WALL_CLOCK_TIME = "wall"


class Cancellable:
    """A scheduled punctuator; `cancel()` ends it, also from inside the punctuator."""

    __slots__ = ("callback", "cancelled", "interval", "name", "node")

    def __init__(self, node: str, interval: int, callback: Callable[[int], Any]) -> None:
        self.node = node
        self.interval = interval
        self.callback = callback
        self.cancelled = False
        self.name = ""  # what it is called again in a task that is built again; only if it is scheduled in `init`

    def cancel(self) -> None:
        """Run no more."""
        self.cancelled = True


class Schedule:
    """The punctuators of a task that follow one clock.

    Attributes:
        next_due: When the first is due; larger than any time if there is none.
    """

    __slots__ = ("_heap", "_in_init", "_named", "_order", "next_due", "run")

    def __init__(self, run: Callable[[Cancellable, int], None]) -> None:
        self.run = run
        self.next_due = NEVER
        self._heap: list[tuple[int, int, Cancellable]] = []
        self._order = 0
        self._named = 0
        self._in_init = True

    def name_no_more(self) -> None:
        """All `init` have run: what is scheduled from now on is not scheduled again in a task that is built again."""
        self._in_init = False

    def add(self, due: int, entry: Cancellable) -> None:
        """Run a new entry at a time, then again and again."""
        if self._in_init:
            self._named += 1
            entry.name = f"{self._named} {entry.interval} {entry.node}"
        self._push(due, entry)

    def _push(self, due: int, entry: Cancellable) -> None:
        """Equal times: who was scheduled longer ago runs first."""
        self._order += 1
        heapq.heappush(self._heap, (due, self._order, entry))
        self.next_due = self._heap[0][0]

    def due_times(self, *, at_least: int = 0) -> dict[str, int]:
        """When each is due that has a name and a long enough interval."""
        return {e.name: due for due, _, e in self._heap if e.name and e.interval >= at_least and not e.cancelled}

    def go_on(self, due_times: Mapping[str, int]) -> None:
        """Go on with the due times of a schedule before this one, by name."""
        entries, self._heap = self._heap, []
        for due, _, entry in sorted(entries, key=itemgetter(1)):
            self._push(due_times.get(entry.name, due), entry)

    def intervals(self) -> list[int]:
        """The intervals of all that is scheduled."""
        return [entry.interval for _, _, entry in self._heap if not entry.cancelled]

    def fire(self, now: int) -> bool:
        """Run all that is due at `now`, once each however many intervals were missed; alignment is kept."""
        fired = False
        while self._heap and self._heap[0][0] <= now:
            due, _, entry = heapq.heappop(self._heap)
            if entry.cancelled:
                continue
            following = due + entry.interval
            if now >= following:
                following = due + ((now - due) // entry.interval + 1) * entry.interval
            self._push(following, entry)  # before it runs, so that it may cancel itself
            fired = True
            self.run(entry, now)
        while self._heap and self._heap[0][2].cancelled:
            heapq.heappop(self._heap)
        self.next_due = self._heap[0][0] if self._heap else NEVER
        return fired


def first_due(kind: PunctuationType, interval: int, now: int, start: Instant | None) -> int:
    """When a new punctuator runs first."""
    if start is not None:
        due = instant_ms(start, "start of the punctuation")
        return due if due >= now else due + ((now - due) // interval + 1) * interval
    return 0 if kind is PunctuationType.STREAM_TIME else now + interval


def punctuation_type(given: PunctuationType | str) -> PunctuationType:
    """The type from an enum member, its name, or "stream" / "wall"."""
    if isinstance(given, PunctuationType):
        return given
    for kind in PunctuationType:
        if given in (kind.value, kind.name):
            return kind
    raise TopologyError(f"punctuation type {given!r}", hint='Use "stream" or "wall".')


def interval_ms(interval: Duration) -> int:
    """The interval of a punctuator, at least 1 ms."""
    millis = duration_ms(interval, "punctuation interval")
    if millis < 1:
        raise TopologyError(f"the punctuation interval is {millis} ms", hint="Give at least 1 ms.")
    return millis
