"""Suppress: holds the updates of a table back and lets only the last one of each key through.

An entry's time is set when its key is first buffered and is not renewed by later updates: the record's timestamp, or
the end of the window. After each input, entries whose time is at least `wait` behind stream time go on, by (time, key
bytes), with timestamp and headers of their last update. Stream time is that of the records that came here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.durations import MAX_LONG
from penstock.errors import BufferFullError
from penstock.interpreter.compiler import NodeContext, builds
from penstock.state.suppress_buffer import SuppressBuffer, Suppressed
from penstock.topology.operators import Suppress


@builds(Suppress)
def suppress(operator: Suppress, node: NodeContext) -> Callable[..., None]:
    """Buffer the update, then emit what is due and what no longer fits."""
    buffer, wait, until_window_closes = node.store(operator.store), operator.wait, operator.until_window_closes
    put, pop_until, context = buffer.put, buffer.pop_until, node.context
    emit = _emit(operator, node)
    keep_within_limits = _keep_within_limits(operator, node, buffer, emit)
    observed = -1

    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        nonlocal observed
        if timestamp > observed:
            observed = timestamp
        put(key.window.end if until_window_closes else timestamp, key, new, old, timestamp, context.headers)
        for entry in pop_until(observed - wait):
            emit(entry)
        if keep_within_limits is not None:
            keep_within_limits()

    return process


def _emit(operator: Suppress, node: NodeContext) -> Callable[[Suppressed], None]:
    """A function that forwards what left the buffer, with the headers of its own last update."""
    forward, context = node.forward, node.context
    swallow_tombstones, send_old = operator.until_window_closes, operator.send_old

    def emit(entry: Suppressed) -> None:
        if entry.new is None and swallow_tombstones:
            return
        before = context.headers
        context.headers = entry.headers
        forward(entry.key, entry.new, entry.old if send_old else None, entry.timestamp, True)
        context.headers = before

    return emit


def _keep_within_limits(
    operator: Suppress, node: NodeContext, buffer: SuppressBuffer, emit: Callable[[Suppressed], None]
) -> Callable[[], None] | None:
    """A function that emits the oldest entries, or fails, while the buffer is too full; None if it has no limits."""
    if operator.max_records is None and operator.max_bytes is None:
        return None
    max_records = MAX_LONG if operator.max_records is None else operator.max_records
    max_bytes = MAX_LONG if operator.max_bytes is None else operator.max_bytes

    def fail_if_full() -> None:
        if buffer.num_records > max_records or buffer.buffer_size > max_bytes:
            raise BufferFullError(
                f"the buffer of {node.name} is full: {buffer.num_records} of {max_records} records, "
                f"{buffer.buffer_size} of {max_bytes} bytes",
                hint="Raise its limits, take BufferConfig.unbounded(), or let it emit early when it is full.",
            )

    def emit_early() -> None:
        while buffer.num_records > max_records or buffer.buffer_size > max_bytes:
            entry = buffer.pop_oldest()
            if entry is None:
                return
            emit(entry)

    return fail_if_full if operator.strict else emit_early
