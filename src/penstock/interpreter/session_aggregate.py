"""Aggregation by session: records of a key at most `gap` apart form one window that grows and merges.

A record merges with every session it touches. If that changes the window, the merged sessions are removed and a
tombstone goes on for each, before the new session. The test for lateness is made on the merged window, so a late
record can still extend a session that is open. Null values are aggregated; a null aggregate is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.interpreter.compiler import NodeContext, builds
from penstock.interpreter.window_close import Closed, close_emitter
from penstock.records import Window, Windowed
from penstock.topology.operators import Aggregation, SessionAggregate

Sessions = list[tuple[int, int, Any]]  # start, end, aggregate


@builds(SessionAggregate)
def session_aggregate(operator: SessionAggregate, node: NodeContext) -> Callable[..., None]:
    """Find the sessions the record touches, merge them, replace them by one."""
    store, windows = node.store(operator.store), operator.windows
    gap, grace = windows.gap, windows.grace
    emit_closed = _emit_closed(node, store) if operator.emit_on_close else None
    forward_result = _nothing if operator.emit_on_close else node.table_forwarder(store, operator.send_old)
    find, write = store.find, store.write
    next_aggregate = _next_aggregate(operator.aggregation)
    drop_key, drop_late = node.drop("null key in an aggregation"), node.drop("late for its window")
    reread = operator.send_old and operator.aggregation.mutates and store.value_serde.mutable and not store.cached
    observed = -1

    def process(key: Any, value: Any, timestamp: int) -> None:
        nonlocal observed
        if key is None:
            drop_key()
            return
        if timestamp > observed:
            observed = timestamp
        close_time = observed - grace - gap
        if emit_closed is not None:
            emit_closed(close_time)
        merged: Sessions = find(key, timestamp - gap, timestamp + gap)
        start = end = timestamp
        for session_start, session_end, _ in merged:
            start, end = min(start, session_start), max(end, session_end)
        if end < close_time:
            drop_late()
            return
        # What goes on as old must not be an object that the merger or the aggregator may change.
        olds: Sessions = find(key, timestamp - gap, timestamp + gap) if reread and merged else merged
        old = None
        if start == end:
            # Only a session at exactly this timestamp can have merged: it is replaced, without a tombstone.
            old = olds[0][2] if olds else None
        else:
            for session_start, session_end, aggregate in olds:
                write(key, session_start, session_end, None)
                window = Windowed(key, Window(session_start, session_end))
                forward_result(window, None, aggregate, session_end, True)
        new = next_aggregate(key, value, timestamp, merged)
        write(key, start, end, new)
        forward_result(Windowed(key, Window(start, end)), new, old, end, True)

    return process


def _next_aggregate(aggregation: Aggregation) -> Callable[[Any, Any, int, Sessions], Any]:
    """The aggregate of merged sessions, in (end, start) order, and one more value."""
    initialize, merger = aggregation.initializer, aggregation.merger
    aggregate_value = aggregation.aggregator.bind("key", "value", "timestamp", "aggregate")
    if initialize is None:

        def reduced(key: Any, value: Any, timestamp: int, merged: Sessions) -> Any:
            aggregate = None
            for _, _, other in merged:
                aggregate = other if aggregate is None else aggregate_value(key, other, timestamp, aggregate)
            return value if aggregate is None else aggregate_value(key, value, timestamp, aggregate)

        return reduced
    if merger is None:
        raise TypeError("a session aggregation without a merger")
    merge = merger.bind("key", "left", "right")

    def aggregated(key: Any, value: Any, timestamp: int, merged: Sessions) -> Any:
        aggregate = initialize()
        for _, _, other in merged:
            aggregate = merge(key, aggregate, other)
        return aggregate_value(key, value, timestamp, aggregate)

    return aggregated


def _emit_closed(node: NodeContext, store: Any) -> Callable[[int], None]:
    find_closed = store.find_closed

    def closed(last: int, close_time: int) -> Closed:
        return _with_end(find_closed(max(0, last), close_time - 1))

    return close_emitter(node, closed)


def _with_end(sessions: Iterator[tuple[Windowed[Any], Any]]) -> Closed:
    return ((session, aggregate, session.window.end) for session, aggregate in sessions)


def _nothing(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
    pass
