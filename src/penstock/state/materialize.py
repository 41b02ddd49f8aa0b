"""Builders for the results and the inner stores of DSL operators: retention and caching follow from the windows."""

from __future__ import annotations

from typing import Any

from penstock.durations import MAX_LONG
from penstock.errors import TopologyError
from penstock.state.builders import SessionStoreBuilder, TimestampedWindowStoreBuilder, WindowStoreBuilder
from penstock.windows import JoinWindows, SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows


def window_size(windows: TimeWindows | SlidingWindows | UnlimitedWindows) -> int:
    """End minus start of each window."""
    if isinstance(windows, TimeWindows):
        return windows.size
    return windows.difference if isinstance(windows, SlidingWindows) else MAX_LONG


def minimum_retention(windows: TimeWindows | SlidingWindows | SessionWindows | UnlimitedWindows) -> int:
    """The retention that a store of these windows must have at least, and has by default."""
    if isinstance(windows, TimeWindows):
        return windows.size + windows.grace
    if isinstance(windows, SlidingWindows):
        return 2 * windows.difference + windows.grace
    return windows.gap + windows.grace if isinstance(windows, SessionWindows) else MAX_LONG


def window_result(
    name: str,
    windows: TimeWindows | SlidingWindows | UnlimitedWindows,
    *,
    retention: int | None = None,
    on_close: bool = False,
    caching: bool = True,
    **options: Any,
) -> TimestampedWindowStoreBuilder:
    """The store of a windowed aggregation. Sliding windows that are emitted on close are not cached."""
    return TimestampedWindowStoreBuilder(
        name=name,
        window_size=window_size(windows),
        retention=_retention(name, windows, retention),
        on_close=on_close,
        caching=caching and not (on_close and isinstance(windows, SlidingWindows)),
        **options,
    )


def session_result(
    name: str,
    windows: SessionWindows,
    *,
    retention: int | None = None,
    on_close: bool = False,
    caching: bool = True,
    **options: Any,
) -> SessionStoreBuilder:
    """The store of a session aggregation. Sessions that are emitted on close are not cached."""
    return SessionStoreBuilder(
        name=name,
        retention=_retention(name, windows, retention),
        on_close=on_close,
        caching=caching and not on_close,
        **options,
    )


def join_window(name: str, windows: JoinWindows, **options: Any) -> WindowStoreBuilder:
    """The store of one side of a stream-stream join."""
    return WindowStoreBuilder(
        name=name,
        window_size=windows.size,
        retention=windows.size + windows.grace,
        retain_duplicates=True,
        caching=False,
        **options,
    )


def _retention(
    name: str, windows: TimeWindows | SlidingWindows | SessionWindows | UnlimitedWindows, asked: int | None
) -> int:
    least = minimum_retention(windows)
    if asked is not None and asked < least:
        raise TopologyError(
            f"the retention of the store {name} is {asked} ms, but its windows need {least} ms",
            hint="Give at least the window size plus the grace period (sliding windows: twice the difference).",
        )
    return least if asked is None else asked
