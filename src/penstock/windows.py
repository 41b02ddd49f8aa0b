"""Definitions of windows: tumbling and hopping, sliding, session, unlimited, and the window of a join.

Grace is how long after its end a window still takes late records. Kafka gives it no default on purpose; the short
constructors here (`TimeWindows("5m")`) use 0: a window closes as soon as stream time reaches its end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from penstock.durations import MAX_LONG, Duration, Instant, duration_ms, instant_ms
from penstock.errors import TopologyError, UnsupportedOperation


def _removed(name: str, replacement: str) -> UnsupportedOperation:
    return UnsupportedOperation(f"{name} was removed from Kafka Streams", hint=f"Use {replacement}.")


@dataclass(frozen=True, slots=True, init=False)
class TimeWindows:
    """Windows of a fixed size: tumbling, or hopping if they advance by less than their size.

    >>> TimeWindows("5m", grace="30s").size
    300000
    """

    size: int
    advance: int
    grace: int

    def __init__(self, size: Duration, advance: Duration | None = None, grace: Duration = 0) -> None:
        size_ms = duration_ms(size, "window size")
        advance_ms = size_ms if advance is None else duration_ms(advance, "window advance")
        if size_ms <= 0:
            raise TopologyError(f"window size is {size_ms} ms", hint="Give a size of at least 1 ms.")
        if not 0 < advance_ms <= size_ms:
            raise TopologyError(
                f"window advance is {advance_ms} ms and the size is {size_ms} ms",
                hint="The advance must be more than 0 and at most the size.",
            )
        object.__setattr__(self, "size", size_ms)
        object.__setattr__(self, "advance", advance_ms)
        object.__setattr__(self, "grace", duration_ms(grace, "grace period"))

    @classmethod
    def of_size_with_no_grace(cls, size: Duration) -> TimeWindows:
        """Tumbling windows that take no late records."""
        return cls(size)

    @classmethod
    def of_size_and_grace(cls, size: Duration, grace: Duration) -> TimeWindows:
        """Tumbling windows that take late records for `grace` after their end."""
        return cls(size, grace=grace)

    @classmethod
    def of(cls, size: Duration) -> TimeWindows:
        """Removed from Kafka Streams, because its grace period of a day surprised everybody."""
        raise _removed("TimeWindows.of", "TimeWindows.of_size_and_grace(size, grace)")

    def advance_by(self, advance: Duration) -> TimeWindows:
        """Hopping windows: a new one starts every `advance`."""
        return TimeWindows(self.size, advance, self.grace)


@dataclass(frozen=True, slots=True, init=False)
class SlidingWindows:
    """Windows `[t - difference, t]`, both ends included, one for each distinct set of records."""

    difference: int
    grace: int

    def __init__(self, difference: Duration, grace: Duration = 0) -> None:
        millis = duration_ms(difference, "time difference")
        if millis <= 0:
            raise TopologyError(
                f"the time difference of a sliding window is {millis} ms", hint="Give a difference of at least 1 ms."
            )
        object.__setattr__(self, "difference", millis)
        object.__setattr__(self, "grace", duration_ms(grace, "grace period"))

    @classmethod
    def of_time_difference_with_no_grace(cls, difference: Duration) -> SlidingWindows:
        """Sliding windows that take no late records."""
        return cls(difference)

    @classmethod
    def of_time_difference_and_grace(cls, difference: Duration, grace: Duration) -> SlidingWindows:
        """Sliding windows that take late records for `grace`."""
        return cls(difference, grace)

    @classmethod
    def with_time_difference_and_grace(cls, difference: Duration, grace: Duration) -> SlidingWindows:
        """Removed from Kafka Streams, which gave it another name."""
        raise _removed(
            "SlidingWindows.with_time_difference_and_grace",
            "SlidingWindows.of_time_difference_and_grace(difference, grace)",
        )


@dataclass(frozen=True, slots=True, init=False)
class SessionWindows:
    """Sessions of activity: records of a key at most `gap` apart belong together."""

    gap: int
    grace: int

    def __init__(self, gap: Duration, grace: Duration = 0) -> None:
        object.__setattr__(self, "gap", duration_ms(gap, "inactivity gap"))
        object.__setattr__(self, "grace", duration_ms(grace, "grace period"))

    @classmethod
    def of_inactivity_gap_with_no_grace(cls, gap: Duration) -> SessionWindows:
        """Sessions that take no late records."""
        return cls(gap)

    @classmethod
    def of_inactivity_gap_and_grace(cls, gap: Duration, grace: Duration) -> SessionWindows:
        """Sessions that take late records for `grace`."""
        return cls(gap, grace)

    @classmethod
    def with_(cls, gap: Duration) -> SessionWindows:
        """Removed from Kafka Streams, because its grace period of a day surprised everybody."""
        raise _removed("SessionWindows.with_", "SessionWindows.of_inactivity_gap_and_grace(gap, grace)")


@dataclass(frozen=True, slots=True)
class UnlimitedWindows:
    """One window without end for each key."""

    start: int = 0

    @classmethod
    def of(cls) -> UnlimitedWindows:
        """The window that starts at the epoch."""
        return cls()

    def start_on(self, instant: Instant) -> UnlimitedWindows:
        """The window that starts at an instant; earlier records are ignored."""
        start = instant_ms(instant, "start of the unlimited window")
        if start < 0:
            raise TopologyError(f"the unlimited window starts at {start}", hint="Give an instant after 1970.")
        return UnlimitedWindows(start)

    @property
    def end(self) -> int:
        """The largest timestamp there is."""
        return MAX_LONG

    @property
    def grace(self) -> int:
        """Always 0: the window never closes."""
        return 0


@dataclass(frozen=True, slots=True, init=False)
class JoinWindows:
    """How far apart the records of a stream-stream join may be: `before` and `after` the left record, inclusive."""

    before_ms: int
    after_ms: int
    grace: int

    def __init__(self, before: Duration, after: Duration, grace: Duration = 0) -> None:
        before_ms = duration_ms(before, "before", negative=True)
        after_ms = duration_ms(after, "after", negative=True)
        if before_ms + after_ms < 0:
            raise TopologyError(
                f"the join window ends before it starts: before is {before_ms} ms, after is {after_ms} ms",
                hint="before + after must be 0 or more.",
            )
        object.__setattr__(self, "before_ms", before_ms)
        object.__setattr__(self, "after_ms", after_ms)
        object.__setattr__(self, "grace", duration_ms(grace, "grace period"))

    @classmethod
    def of_time_difference_with_no_grace(cls, difference: Duration) -> JoinWindows:
        """Both sides within `difference`; no grace for unmatched rows."""
        return cls(difference, difference)

    @classmethod
    def of_time_difference_and_grace(cls, difference: Duration, grace: Duration) -> JoinWindows:
        """Both sides within `difference`; unmatched rows wait for `grace` more."""
        return cls(difference, difference, grace)

    @classmethod
    def of(cls, difference: Duration) -> JoinWindows:
        """Removed from Kafka Streams: its left and outer joins emitted unmatched rows before a match could come."""
        raise _removed("JoinWindows.of", "JoinWindows.of_time_difference_and_grace(difference, grace)")

    def before(self, duration: Duration) -> JoinWindows:
        """The same window with another `before`."""
        return JoinWindows(duration, self.after_ms, self.grace)

    def after(self, duration: Duration) -> JoinWindows:
        """The same window with another `after`."""
        return JoinWindows(self.before_ms, duration, self.grace)

    @property
    def size(self) -> int:
        """Before + after."""
        return self.before_ms + self.after_ms


Windows = TimeWindows | SlidingWindows | SessionWindows | UnlimitedWindows


@dataclass(frozen=True, slots=True)
class EmitStrategy:
    """When a windowed aggregation forwards: with every update, or once when the window closes."""

    on_close: bool

    @classmethod
    def on_window_update(cls) -> EmitStrategy:
        """Forward every update (the default)."""
        return cls(on_close=False)

    @classmethod
    def on_window_close(cls) -> EmitStrategy:
        """Forward the final result only."""
        return cls(on_close=True)


@dataclass(frozen=True, slots=True)
class BufferConfig:
    """Limits of a suppress buffer, and what happens when they are reached."""

    record_limit: int | None = None
    byte_limit: int | None = None
    strict: bool = False
    logging: bool = True
    topic_config: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def unbounded(cls) -> BufferConfig:
        """No limit; strict, because it can never be full."""
        return cls(strict=True)

    @classmethod
    def max_records(cls, limit: int) -> BufferConfig:
        """At most that many keys; the oldest are emitted early when it is full."""
        return cls(record_limit=limit)

    @classmethod
    def max_bytes(cls, limit: int) -> BufferConfig:
        """At most that many bytes; the oldest are emitted early when it is full."""
        return cls(byte_limit=limit)

    def with_max_records(self, limit: int) -> BufferConfig:
        """The same with a limit of keys."""
        return replace(self, record_limit=limit)

    def with_max_bytes(self, limit: int) -> BufferConfig:
        """The same with a limit of bytes."""
        return replace(self, byte_limit=limit)

    def with_no_bound(self) -> BufferConfig:
        """The same without limits."""
        return replace(self, record_limit=None, byte_limit=None, strict=True)

    def shut_down_when_full(self) -> BufferConfig:
        """Fail instead of emitting early."""
        return replace(self, strict=True)

    def emit_early_when_full(self) -> BufferConfig:
        """Emit the oldest entries early instead of failing."""
        return replace(self, strict=False)

    def with_logging_enabled(self, config: dict[str, Any] | None = None) -> BufferConfig:
        """Keep the buffer in a changelog topic with these settings."""
        return replace(self, logging=True, topic_config=tuple(sorted((config or {}).items())))

    def with_logging_disabled(self) -> BufferConfig:
        """Keep the buffer out of the changelog; it is lost with the task."""
        return replace(self, logging=False, topic_config=())


@dataclass(frozen=True, slots=True)
class Suppressed:
    """What a suppress waits for."""

    wait: int | None
    buffer: BufferConfig
    name: str | None = None

    @classmethod
    def until_window_closes(cls, buffer: BufferConfig | None = None) -> Suppressed:
        """Emit the final result of each window. Needs a strict buffer."""
        buffer = buffer or BufferConfig.unbounded()
        if not buffer.strict:
            raise TopologyError(
                "until_window_closes was given a buffer that emits early",
                hint="Use BufferConfig.unbounded(), or add .shut_down_when_full().",
            )
        return cls(None, buffer)

    @classmethod
    def until_time_limit(cls, wait: Duration, buffer: BufferConfig | None = None) -> Suppressed:
        """Emit at most one update of a key in each `wait` of stream time."""
        return cls(duration_ms(wait, "time limit"), buffer or BufferConfig.unbounded())

    def with_name(self, name: str) -> Suppressed:
        """The same with a name for the node and its buffer."""
        return replace(self, name=name)
