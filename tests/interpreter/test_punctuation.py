"""Schedules: when punctuators run, and in which order."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from penstock import TopologyError
from penstock.interpreter.punctuation import (
    NEVER,
    Cancellable,
    PunctuationType,
    Schedule,
    first_due,
    interval_ms,
    punctuation_type,
)

STREAM, WALL = PunctuationType.STREAM_TIME, PunctuationType.WALL_CLOCK_TIME


class Runs:
    """A schedule and the names and times of what ran."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []
        self.schedule = Schedule(lambda entry, now: entry.callback(now))

    def add(self, name: str, interval: int, due: int, action: Any = None) -> Cancellable:
        def run(now: int) -> None:
            self.seen.append((name, now))
            if action is not None:
                action()

        entry = Cancellable(name, interval, run)
        self.schedule.add(due, entry)
        return entry

    def fire(self, *times: int) -> list[tuple[str, int]]:
        self.seen.clear()
        for now in times:
            self.schedule.fire(now)
        return list(self.seen)


def test_nothing_is_due_in_an_empty_schedule() -> None:
    runs = Runs()
    assert runs.schedule.next_due == NEVER
    assert runs.schedule.fire(1 << 62) is False


def test_it_runs_with_the_time_that_is_and_keeps_its_rhythm() -> None:
    runs = Runs()
    runs.add("a", 10, 0)
    assert runs.fire(3, 9, 10, 19) == [("a", 3), ("a", 10)]
    assert runs.schedule.next_due == 20
    assert runs.fire(57) == [("a", 57)]  # four intervals missed, one run
    assert runs.schedule.next_due == 60


def test_due_times_decide_the_order_then_who_waits_longer() -> None:
    runs = Runs()
    runs.add("slow", 20, 20)
    runs.add("first", 10, 10)
    runs.add("second", 10, 10)
    assert runs.fire(20) == [("first", 20), ("second", 20), ("slow", 20)]
    assert runs.fire(40) == [("first", 40), ("second", 40), ("slow", 40)]


def test_a_punctuator_may_cancel_itself_and_others() -> None:
    runs = Runs()
    entries: dict[str, Cancellable] = {}

    def cancel_both() -> None:
        entries["a"].cancel()
        entries["b"].cancel()

    entries["a"] = runs.add("a", 10, 10, cancel_both)
    entries["b"] = runs.add("b", 10, 10)
    assert runs.fire(10, 20, 30) == [("a", 10)]
    assert runs.schedule.next_due == NEVER
    assert runs.schedule.intervals() == []


def test_a_punctuator_may_schedule_others() -> None:
    runs = Runs()
    runs.add("a", 100, 10, lambda: runs.add("b", 100, 15))
    assert runs.fire(12) == [("a", 12)]
    assert runs.schedule.next_due == 15
    assert runs.schedule.intervals() == [100, 100]


@pytest.mark.parametrize(
    ("kind", "now", "start", "due"),
    [
        (STREAM, -1, None, 0),  # with the first record
        (STREAM, 55, None, 0),
        (WALL, 55, None, 65),
        (WALL, 55, 70, 70),
        (WALL, 55, 55, 55),
        (WALL, 55, 12, 62),  # the next one of its rhythm
        (STREAM, 55, 5, 65),
        (STREAM, -1, 40, 40),
        (WALL, 55, datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=70), 70),
    ],
)
def test_the_first_time(kind: PunctuationType, now: int, start: Any, due: int) -> None:
    assert first_due(kind, 10, now, start) == due


def test_types_by_name() -> None:
    assert [punctuation_type(given) for given in (WALL, "wall", "WALL_CLOCK_TIME", "stream", "STREAM_TIME")] == [
        WALL, WALL, WALL, STREAM, STREAM,
    ]  # fmt: skip
    with pytest.raises(TopologyError, match="punctuation type 'event'"):
        punctuation_type("event")


def test_intervals() -> None:
    assert [interval_ms(given) for given in (1, "2s", timedelta(minutes=1))] == [1, 2000, 60_000]
    with pytest.raises(TopologyError, match="the punctuation interval is 0 ms"):
        interval_ms(0)
    with pytest.raises(TopologyError, match="is negative"):
        interval_ms(-1)


def test_a_schedule_goes_on_where_the_one_before_it_was() -> None:
    before, after = Runs(), Runs()
    for runs in (before, after):
        runs.add("a", 10, 0)
        runs.add("b", 100, 0)
        runs.schedule.name_no_more()
    before.add("of a record", 5, 0)
    before.fire(47)
    assert before.schedule.due_times() == {"1 10 a": 50, "2 100 b": 100}
    assert before.schedule.due_times(at_least=50) == {"2 100 b": 100}
    after.schedule.go_on(before.schedule.due_times())
    assert after.schedule.next_due == 50
    assert after.fire(49, 50, 99, 100) == [("a", 50), ("a", 99), ("b", 100), ("a", 100)]


def test_due_times_of_other_punctuators_are_not_taken() -> None:
    runs = Runs()
    runs.add("a", 10, 1000)
    runs.schedule.go_on({"1 20 a": 5, "1 10 b": 5, "2 10 a": 5})
    assert runs.schedule.next_due == 1000
