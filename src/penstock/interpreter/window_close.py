"""Emission of final results: each window once, when stream time has passed its end and its grace (ON_WINDOW_CLOSE).

The store keeps windows until they were emitted, also when the record that closes them moves time beyond their retention,
so that no closed window is lost. Whether the check comes before or after that record is stored makes no difference: a
record never changes a window that its own timestamp closes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.interpreter.compiler import NodeContext
from penstock.records import Windowed

Closed = Iterable[tuple[Windowed[Any], Any, int]]  # window, value, timestamp


def close_emitter(node: NodeContext, closed: Callable[[int, int], Closed]) -> Callable[[int], None]:
    """A function of the close time (stream time less grace) that forwards what closed since the last emission.

    Args:
        node: The aggregation.
        closed: The windows that were open at the first close time (-1: none yet) and are not at the second one, in
            the order they are to be emitted.
    """
    forward, system_time = node.forward, node.context.system_time
    interval = node.config.emit_interval_ms
    last = node.saved(-1)
    next_emission = -1

    def emit_closed(close_time: int) -> None:
        nonlocal next_emission
        previous = last.value
        if close_time <= previous:
            return
        if interval:
            now = system_time()
            if now < next_emission:
                return
            next_emission = now + interval
        for key, value, timestamp in closed(previous, close_time):
            forward(key, value, None, timestamp, True)
        last.value = close_time

    return emit_closed
