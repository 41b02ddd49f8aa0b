"""Processors that act on time."""

from __future__ import annotations

from typing import Any

from penstock import ContextualProcessor, ProcessorContext, PunctuationType, Record
from tests.differential.functions import number, plus

Params = dict[str, Any]
Context = ProcessorContext


class Totals(ContextualProcessor[Any, Any, Any, Any]):
    """Sums by key, told at every punctuation of stream time."""

    def __init__(self, p: Params) -> None:
        self._p = p

    def init(self, context: Context) -> None:
        super().init(context)
        self._totals = context.get_state_store("kv-p")
        context.schedule(self._p["interval"], PunctuationType.STREAM_TIME, self._tell)

    def _tell(self, now: int) -> None:
        for key, total in list(self._totals.all()):
            self.context.forward(Record(key, f"{total}@{now}", now))
            if self._p["clear"]:
                self._totals.delete(key)
        self.context.forward(Record("tick", str(self.context.current_stream_time_ms()), now))

    def process(self, record: Record[Any, Any]) -> None:
        if record.key is not None:
            self._totals.put(record.key, plus(self._totals.get(record.key), record.value))
        if number(record.value) == 5:
            self.context.forward(record.with_value("five"))


class WallClock(ContextualProcessor[Any, Any, Any, Any]):
    """Counts records between two ticks of the wall clock."""

    def __init__(self, p: Params) -> None:
        self._p = p
        self._seen = 0

    def init(self, context: Context) -> None:
        super().init(context)
        context.schedule(self._p["interval"], PunctuationType.WALL_CLOCK_TIME, self._tick)

    def _tick(self, now: int) -> None:
        self.context.forward(Record("count", f"{self._seen}/{self.context.current_system_time_ms()}", now))
        self._seen = 0

    def process(self, record: Record[Any, Any]) -> None:
        self._seen += 1


class Several(ContextualProcessor[Any, Any, Any, Any]):
    """Two schedules on stream time, one of which cancels itself, and one on the wall clock."""

    def __init__(self, p: Params) -> None:
        self._p = p
        self._left = p["cancel_after"]

    def init(self, context: Context) -> None:
        super().init(context)
        context.schedule(self._p["i1"], PunctuationType.STREAM_TIME, lambda now: self._say("one", now))
        self._limited = context.schedule(self._p["i2"], PunctuationType.STREAM_TIME, self._two)
        context.schedule(self._p["i3"], PunctuationType.WALL_CLOCK_TIME, lambda now: self._say("wall", now))

    def _say(self, key: str, now: int) -> None:
        self.context.forward(Record(key, str(now), now))

    def _two(self, now: int) -> None:
        self._say("two", now)
        self._left -= 1
        if self._left == 0:
            self._limited.cancel()

    def process(self, record: Record[Any, Any]) -> None:
        self.context.forward(record)
