"""Aggregation by sliding windows `[start, start + difference]`, both ends included.

A window exists only where its content differs from its neighbours'. Each record at t has a left window, which ends at t;
its right window, which starts at t + 1, exists as soon as a later-stamped record falls into it. So a record updates
the windows of its key that contain t, and may create up to three: the right window of the record before it (which now
has content), its own left window, and its own right window (content that was there already, without the record).

The timestamp stored with a window is that of its last record; the scan below relies on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.interpreter.aggregate import step
from penstock.interpreter.compiler import NodeContext, builds
from penstock.interpreter.window_close import Closed, close_emitter
from penstock.records import Window, Windowed
from penstock.topology.operators import SlidingAggregate

Row = tuple[Any, int] | None  # aggregate and timestamp of a window, or no window


@builds(SlidingAggregate)
def sliding_aggregate(operator: SlidingAggregate, node: NodeContext) -> Callable[..., None]:
    """Scan the key's windows around the record, update those that contain it, create those that are missing."""
    store, windows = node.store(operator.store), operator.windows
    difference, grace = windows.difference, windows.grace
    emit_closed = _emit_closed(node, store, difference) if operator.emit_on_close else None
    drop_null, drop_late = node.drop("null key or value in a sliding window"), node.drop("late for its window")
    sliding = _Sliding(operator, node, store, drop_late)
    early, normal = sliding.early, sliding.normal
    observed = -1

    def process(key: Any, value: Any, timestamp: int) -> None:
        nonlocal observed
        if key is None or value is None:
            drop_null()
            return
        if timestamp > observed:
            observed = timestamp
        close_time = observed - grace
        if timestamp + difference < close_time:
            drop_late()
        elif timestamp < difference:
            # As in Kafka Streams, such a record changes state but does not look for closed windows.
            early(key, value, timestamp, close_time)
        else:
            if emit_closed is not None:
                emit_closed(close_time)
            normal(key, value, timestamp, close_time)

    return process


def _emit_closed(node: NodeContext, store: Any, difference: int) -> Callable[[int], None]:
    find_closed = store.find_closed

    def closed(last: int, close_time: int) -> Closed:
        rows = find_closed(max(0, last - difference), close_time - difference - 1)
        return ((key, row[0], row[1]) for key, row in rows)

    return close_emitter(node, closed)


class _Sliding:
    """The two algorithms: for records from `difference` on, and for early ones, whose left window would start below 0."""

    def __init__(
        self, operator: SlidingAggregate, node: NodeContext, store: Any, drop_late: Callable[[], None]
    ) -> None:
        self._difference = operator.windows.difference
        self._advance = step(operator.aggregation)
        self._forward = _nothing if operator.emit_on_close else node.table_forwarder(store, operator.send_old)
        self._fetch, self._find, self._write = store.fetch_window, store.find, store.write
        self._cached = store.cached
        self._drop_late = drop_late
        # An aggregator may change the object it gets: what is needed afterwards is read a second time.
        self._changes = operator.aggregation.mutates and store.value_serde.mutable
        self._send_old = operator.send_old and not store.cached
        self._reread_old = self._changes and self._send_old

    def normal(self, key: Any, value: Any, timestamp: int, close_time: int) -> None:
        """A record at or after `difference`: scan its neighbourhood, newest window first."""
        difference = self._difference
        containing: list[tuple[int, Row]] = []
        starts: set[int] = set()
        left: Any = None
        right: tuple[int, Any] | None = None
        previous: int | None = None
        left_exists = right_exists = False
        for start, row in self._find(key, max(0, timestamp - 2 * difference), timestamp + 1, reverse=True):
            starts.add(start)
            if start == timestamp + 1:
                right_exists = True
            elif start + difference >= timestamp:
                containing.append((start, row))
                if start + difference > timestamp:
                    right = right or (start, row)
                else:
                    left_exists, previous = True, row[1]
                    if previous >= timestamp:
                        break
            else:
                left, previous = row, row[1]
                break
        if left_exists and previous is not None and previous >= timestamp:
            # Another record of the key has this timestamp: all its windows are there.
            self._update_all(key, containing, value, timestamp, close_time)
            return
        right_row = None if right_exists else self._right_row(key, right, timestamp)
        self._update_all(key, containing, value, timestamp, close_time)
        if previous is not None and previous + 1 not in starts and previous + 1 + difference >= timestamp:
            self._update(key, previous + 1, None, None, value, timestamp, close_time)
        if not left_exists:
            base = left[0] if previous is not None and previous >= timestamp - difference else None
            # One millisecond after the previous record begins both its right window and this one: it is made twice.
            again = None
            if self._send_old and previous is not None and previous + 1 == timestamp - difference:
                again = self._fetch(key, timestamp - difference)
            self._update(key, timestamp - difference, None, base, value, timestamp, close_time, again)
        if right_row is not None:
            self._create_right(key, timestamp, right_row)

    def early(self, key: Any, value: Any, timestamp: int, close_time: int) -> None:
        """A record before `difference`: the window [0, difference] takes the place of all left windows."""
        containing: list[tuple[int, Row]] = []
        starts: set[int] = set()
        combined: Any = None
        right: tuple[int, Any] | None = None
        for start, row in self._find(key, 0, timestamp + 1):
            starts.add(start)
            if start == 0:
                combined = row
            elif start <= timestamp:
                right = (start, row)
                containing.append((start, row))
        if right is None and combined is not None:
            right = (0, combined)
        right_row = None if timestamp + 1 in starts else self._right_row(key, right, timestamp)
        self._update_all(key, containing, value, timestamp, close_time)
        if right_row is not None:
            self._create_right(key, timestamp, right_row)
        if combined is not None and combined[1] < timestamp and combined[1] + 1 not in starts:
            self._update(key, combined[1] + 1, None, None, value, timestamp, close_time)
        self._update(key, 0, combined, None, value, timestamp, close_time)

    def _right_row(self, key: Any, right: tuple[int, Any] | None, timestamp: int) -> Any:
        """Content of the record's right window, before the windows that contain the record are updated."""
        if right is None or right[1][1] <= timestamp:
            return None
        return self._fetch(key, right[0]) if self._changes else right[1]

    def _create_right(self, key: Any, timestamp: int, row: Any) -> None:
        """The right window: a copy without the record, and without a test for lateness."""
        start = timestamp + 1
        self._write(key, start, row[0], row[1])
        self._forward(Windowed(key, Window(start, start + self._difference)), row[0], None, row[1], True)

    def _update_all(
        self, key: Any, containing: list[tuple[int, Row]], value: Any, timestamp: int, close_time: int
    ) -> None:
        for start, row in containing:
            self._update(key, start, row, None, value, timestamp, close_time)

    def _update(
        self,
        key: Any,
        start: int,
        row: Any,
        base: Any,
        value: Any,
        timestamp: int,
        close_time: int,
        replaced: Any = None,
    ) -> None:
        """Add the value to a window that exists (`row`), or to a new one that starts from `base` or from nothing.

        A new window may replace one that this record has made already (`replaced`).
        """
        end = start + self._difference
        if end < close_time:
            self._drop_late()
            return
        old, changed_at = None if replaced is None else replaced[0], timestamp
        if row is not None:
            base = old = row[0]
            changed_at = max(timestamp, row[1])
        new = self._advance(key, value, timestamp, base)
        if row is not None and self._reread_old:
            old = self._fetch(key, start)[0]
        if new is None and self._cached:
            changed_at = timestamp  # a tombstone that comes out of a cache has the timestamp of its record
        self._write(key, start, new, changed_at)
        self._forward(Windowed(key, Window(start, end)), new, old, changed_at, True)


def _nothing(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
    pass
