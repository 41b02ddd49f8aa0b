"""How many records a batch may have, learned from the time that batches take."""

from __future__ import annotations

from math import sqrt

_FIRST = 10_000  # small enough that first results come soon, large enough to say something about the next
_LEAST = 100
_QUICK, _STEADY = 5, 2  # growth of a batch over the one before: until the target was reached once, and after that
_ON_TARGET = (0.75, 1.25)
_LARGEST_STEP_DOWN = 2
# Where more waits, a batch may take up to four times the target: its records wait anyway, and a long batch spends less on
# planning and commits, and merges more updates of a key (count of 50,000 keys: a task takes a third less time for a record
# in batches of 480,000 than in batches of 120,000). So four times as many records take less than four times as long; how many
# do is learned from the long ones themselves.
_LONGEST = 4


class Pace:
    """The number of records of a batch, aimed at a time.

    A batch takes a fixed time (planning, scheduling, commit) and a time for each record. The fixed part is estimated from
    small batches and from neighbours of different sizes: where it alone is near the target, smaller batches would not be
    faster, they would only do less; so the target is never less than twice the fixed part.

    Args:
        target_ms: Time a batch should take.
        largest: Most records of a batch.
        interval_ms: Time between the starts of two batches, if they are done in time; it may be longer than the target.
    """

    def __init__(self, target_ms: int, largest: int, interval_ms: int = 0) -> None:
        self.records = min(_FIRST, largest)
        self._target_ms = max(target_ms, interval_ms)
        self._interval_ms = interval_ms
        self._largest = largest
        self._long: int | None = None
        self._fixed_ms: float | None = None
        self._last: tuple[int, float] | None = None
        self._warm = False
        self._quick = True

    def allowed(self, backlog: int) -> int:
        """Most records of the next batch, while so many wait."""
        if self._quick:
            return self.records
        return min(self._largest, max(self.records, min(backlog, self._longest)))

    @property
    def _longest(self) -> int:
        return self._long or self.records * _LONGEST

    def adapt(self, records: int, elapsed_ms: float) -> None:
        """Learn from a batch."""
        if records <= 0 or elapsed_ms <= 0:
            return
        if not self._warm:
            self._warm = True  # the first batch loads code and starts workers: it says nothing about others
            return
        # The next batch is asked for when this one is done, but not before its turn: then how long it took is not known.
        waited = elapsed_ms <= 1.05 * self._interval_ms + 5
        if not waited:
            self._estimate_fixed(records, elapsed_ms)
        if 2 * records < self.records:
            return  # there was no more to read: nothing is learned about batches of the size in question
        fixed = self._fixed_ms or 0.0
        is_long = records > self.records
        if is_long:  # what would the usual one have taken, at least?
            self._adapt_long(records, elapsed_ms)
            elapsed_ms = fixed + (elapsed_ms - fixed) * self.records / records
            records = self.records
        goal = max(self._target_ms, 2 * fixed)
        each = max(elapsed_ms - fixed, elapsed_ms / 20) / records
        wanted = (goal - fixed) / each
        if waited:
            wanted = float(self._largest)
        elif _ON_TARGET[0] * goal <= elapsed_ms <= _ON_TARGET[1] * goal:
            self._quick = False
            return
        if wanted > self.records:
            if is_long:
                return  # the usual one may take more than its share
            self.records = min(self._largest, int(wanted), self.records * (_QUICK if self._quick else _STEADY))
        else:
            self._quick = False
            self.records = max(_LEAST, self.records // _LARGEST_STEP_DOWN, int(sqrt(wanted * self.records)))

    def _adapt_long(self, records: int, elapsed_ms: float) -> None:
        fixed = self._fixed_ms or 0.0
        each = max(elapsed_ms - fixed, elapsed_ms / 20) / records
        wanted = (max(_LONGEST * self._target_ms, 2 * fixed) - fixed) / each
        if wanted < records or 4 * records > 3 * min(self._largest, self._longest):  # else there was no more to read
            self._long = int(min(max(wanted, records / _LARGEST_STEP_DOWN), records * _STEADY))

    def _estimate_fixed(self, records: int, elapsed_ms: float) -> None:
        last, self._last = self._last, (records, elapsed_ms)
        if 10 * records < self.records:
            found = elapsed_ms
        elif last is not None and (2 * records >= 3 * last[0] or 3 * records <= 2 * last[0]):
            each = (elapsed_ms - last[1]) / (records - last[0])
            found = min(max(elapsed_ms - each * records, 0.0), elapsed_ms, last[1])
        else:
            return
        self._fixed_ms = found if self._fixed_ms is None else (self._fixed_ms + found) / 2
