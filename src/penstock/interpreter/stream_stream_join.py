"""Windowed joins of two streams: inner, left and outer.

One record does, in this order: emit unmatched records whose time has passed, emit its own matches, wait for a match or
go out without one, and (in the window node above) enter its side's store. So a record never meets itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.durations import MAX_LONG
from penstock.interpreter.compiler import NodeContext, Process, builds
from penstock.topology.operators import StreamJoinWindow, StreamStreamJoin

_NOT_KNOWN = -(1 << 63)  # the buffer came back from a restart: look into it at once


@builds(StreamJoinWindow)
def stream_join_window(operator: StreamJoinWindow, node: NodeContext) -> Process:
    """Forward first, keep afterwards."""
    write, forward = node.store(operator.store).write, node.forward

    def process(key: Any, value: Any, timestamp: int) -> None:
        forward(key, value, timestamp)
        if key is not None and value is not None:
            write(key, timestamp, value, timestamp)

    return process


class JoinClock:
    """What the two sides of a left or outer join share.

    Attributes:
        time: Largest timestamp of both sides, of dropped records too.
        earliest: Below this no unmatched record is looked for. It often lies too high, because a scan leaves the
            timestamp of the last row it looked at: rows come out later than they could, exactly as in Kafka Streams.
        next_scan: Wall clock before which no scan runs.
    """

    __slots__ = ("earliest", "next_scan", "time")

    def __init__(self, earliest: int) -> None:
        self.time = -1
        self.earliest = earliest
        self.next_scan = 0


@builds(StreamStreamJoin)
def stream_stream_join(operator: StreamStreamJoin, node: NodeContext) -> Process:
    """One side of the join."""
    windows, left = operator.windows, operator.side == "left"
    before, after = (windows.before_ms, windows.after_ms) if left else (windows.after_ms, windows.before_ms)
    # Takes (key, value of this side, value of the other side).
    join = operator.joiner.bind("key", "left", "right") if left else operator.joiner.bind("key", "right", "left")
    if operator.outer_store is None:
        return _inner(operator, node, before, after, join)
    return _unmatched_too(operator, node, before, after, join, node.store(operator.outer_store))


def _inner(
    operator: StreamStreamJoin, node: NodeContext, before: int, after: int, join: Callable[[Any, Any, Any], Any]
) -> Process:
    find, forward = node.store(operator.other_store).find, node.forward
    drop_key, drop_value = _droppers(node)

    def process(key: Any, value: Any, timestamp: int) -> None:
        if key is None or value is None:
            (drop_value if value is None else drop_key)()
            return
        start, end = timestamp - before, timestamp + after
        for other_time, other in find(key, start if start > 0 else 0, end if end > 0 else 0):
            forward(key, join(key, value, other), timestamp if timestamp > other_time else other_time)

    return process


def _unmatched_too(
    operator: StreamStreamJoin,
    node: NodeContext,
    before: int,
    after: int,
    join: Callable[[Any, Any, Any], Any],
    waiting: Any,
) -> Process:
    find, forward = node.store(operator.other_store).find, node.forward
    clock = node.shared(operator.tracker, lambda: JoinClock(_NOT_KNOWN if any(waiting.walk()) else MAX_LONG))
    scan = _scanner(operator, node, waiting, clock)
    left, closes_after = operator.side == "left", after + operator.windows.grace
    keeps = left or operator.kind == "outer"  # this side's records also come out unmatched
    frees = not left or operator.kind == "outer"  # the other side's do
    put, remove, other_side = waiting.put, waiting.remove, not left
    drop_key, drop_value = _droppers(node)

    def process(key: Any, value: Any, timestamp: int) -> None:
        if timestamp > clock.time:
            clock.time = timestamp
        if value is None:
            drop_value()
            return
        if key is None:
            if keeps:
                forward(key, join(key, value, None), timestamp)
            else:
                drop_key()
            return
        if timestamp == clock.time and clock.earliest + closes_after < timestamp:
            scan(timestamp)
        start, end = timestamp - before, timestamp + after
        if end < 0:
            end = 0
        matched = False
        for other_time, other in find(key, start if start > 0 else 0, end):
            matched = True
            if frees:
                remove(other_time, other_side, key)
            forward(key, join(key, value, other), timestamp if timestamp > other_time else other_time)
        if matched or not keeps:
            return
        if end < clock.time:  # out of order: no partner can be on time, and grace is not waited for
            forward(key, join(key, value, None), timestamp)
            return
        if timestamp < clock.earliest:
            clock.earliest = timestamp
        put(timestamp, left, key, value)

    return process


def _scanner(operator: StreamStreamJoin, node: NodeContext, waiting: Any, clock: JoinClock) -> Callable[[int], None]:
    """A function of join time that emits the waiting records whose window and grace are over.

    Rows lie in the order of time, right before left, key bytes, arrival. The walk ends at the first row after an open
    one was seen on each side: all that follow are open too.
    """
    windows, forward = operator.windows, node.forward
    left_waits, right_waits = windows.after_ms + windows.grace, windows.before_ms + windows.grace
    join = operator.joiner.bind("key", "left", "right")
    walk, remove, system_time = waiting.walk, waiting.remove, node.context.system_time
    interval = node.config.emit_interval_ms

    def scan(join_time: int) -> None:
        if interval:
            now = system_time()
            if now < clock.next_scan:
                return
            clock.next_scan = now + interval
        clock.earliest = MAX_LONG
        left_open = right_open = False
        for timestamp, is_left, key, values in walk():
            clock.earliest = timestamp
            if left_open and right_open:
                return
            if timestamp + (left_waits if is_left else right_waits) >= join_time:
                left_open |= is_left
                right_open |= not is_left
                continue
            remove(timestamp, is_left, key)
            for value in values:
                forward(key, join(key, value, None) if is_left else join(key, None, value), timestamp)

    return scan


def _droppers(node: NodeContext) -> tuple[Callable[[], None], Callable[[], None]]:
    return node.drop("null key in a stream-stream join"), node.drop("null value in a stream-stream join")
