from __future__ import annotations

from typing import Any

import pytest

from penstock import JoinWindows, LogAndContinueProcessingExceptionHandler, StreamsBuilder
from tests.interpreter.piping import Output, Piping, pair

KINDS = ("inner", "left", "outer")


def joined(kind: str, windows: JoinWindows, joiner: Any = pair) -> StreamsBuilder:
    builder = StreamsBuilder()
    left, right = builder.stream("left"), builder.stream("right")
    join = {"inner": left.join, "left": left.left_join, "outer": left.outer_join}[kind]
    join(right, joiner, windows).to("out")
    return builder


def run(kind: str, before: int, after: int, grace: int = 0) -> Piping:
    return Piping(joined(kind, JoinWindows(before, after, grace)))


def matches(outputs: list[Output]) -> list[str]:
    return [value for _, value, _ in outputs if "None" not in value]


@pytest.mark.parametrize("kind", KINDS)
def test_every_pair_within_the_window(kind: str) -> None:
    # One key; row n at second n. Null values never join and never delete.
    rows = [
        ("left", None, ""), ("right", None, ""), ("left", "A", ""), ("right", "a", "A+a"), ("left", "B", "B+a"),
        ("right", "b", "A+b B+b"), ("left", None, ""), ("right", None, ""), ("left", "C", "C+a C+b"),
        ("right", "c", "A+c B+c C+c"), ("right", None, ""), ("left", None, ""), ("right", None, ""),
        ("right", "d", "A+d B+d C+d"), ("left", "D", "D+a D+b D+c D+d"),
    ]  # fmt: skip
    with run(kind, 15_000, 15_000, 5_000) as piping:
        for second, (topic, value, expected) in enumerate(rows, 1):
            now = second * 1000
            assert piping.pipe(topic, "k", value, now) == [("k", v, now) for v in expected.split()]


@pytest.mark.parametrize("kind", KINDS)
def test_both_ends_of_the_window_are_included_on_either_side(kind: str) -> None:
    with run(kind, 10, 5, 1000) as piping:
        piping.pipe("left", "k", "l", 100)
        for timestamp, expected in [(89, []), (90, ["l+r"]), (105, ["l+r"]), (106, [])]:
            assert matches(piping.pipe("right", "k", "r", timestamp)) == expected
    with run(kind, 10, 5, 1000) as piping:
        piping.pipe("right", "k", "r", 100)
        for timestamp, expected in [(94, []), (95, ["l+r"]), (110, ["l+r"]), (111, [])]:
            assert matches(piping.pipe("left", "k", "l", timestamp)) == expected


def test_the_timestamp_is_the_larger_of_the_two() -> None:
    with run("inner", 10, 10) as piping:
        piping.pipe("left", "k", "l", 100)
        assert piping.pipe("right", "k", "r", 95) == [("k", "l+r", 100)]
        assert piping.pipe("right", "k", "s", 105) == [("k", "l+s", 105)]


def test_matches_come_in_the_order_of_the_others_time_and_arrival() -> None:
    with run("inner", 100, 100) as piping:
        for value, timestamp in [("c", 30), ("a", 10), ("d", 30), ("b", 20), ("a2", 10)]:
            piping.pipe("right", "k", value, timestamp)
        piping.pipe("right", "other", "x", 20)
        assert [v for _, v, _ in piping.pipe("left", "k", "l", 40)] == ["l+a", "l+a2", "l+b", "l+c", "l+d"]


def test_windows_that_lie_wholly_on_one_side() -> None:
    with run("inner", -5, 10) as piping:  # the right record comes 5 to 10 ms after the left one
        piping.pipe("left", "k", "l", 100)
        assert piping.values(("right", "k", "r", 104)) == []
        assert piping.values(("right", "k", "r", 105)) == ["l+r"]
        assert piping.values(("right", "k", "r", 110)) == ["l+r"]
        assert piping.values(("right", "k", "r", 111)) == []


def test_bounds_before_zero_become_zero() -> None:
    with run("inner", 10, -5) as piping:  # at 2 the window is [0, 0] though it should lie before the epoch
        piping.pipe("right", "k", "r", 0)
        assert piping.values(("left", "k", "l", 2)) == ["l+r"]
        assert piping.values(("left", "k", "l", 11)) == []


@pytest.mark.parametrize("grace", [0, 5])
def test_unmatched_records_leave_when_window_and_grace_are_strictly_over(grace: int) -> None:
    with run("outer", 20, 10, grace) as piping:
        piping.pipe("left", "k", "l", 100)  # waits until 110
        piping.pipe("right", "q", "r", 100)  # waits until 120
        assert piping.values(("left", "x", "-", 110 + grace)) == []
        assert piping.pipe("left", "x", "-", 111 + grace) == [("k", "l+None", 100)]
    with run("outer", 20, 10, grace) as piping:
        piping.pipe("right", "q", "r", 100)
        assert piping.values(("right", "x", "-", 120 + grace)) == []
        assert piping.pipe("right", "x", "-", 121 + grace) == [("q", "None+r", 100)]


def test_an_out_of_order_record_without_partner_does_not_wait_for_grace() -> None:
    with run("outer", 20, 10, 1000) as piping:
        piping.pipe("right", "x", "-", 200)
        assert piping.pipe("left", "k", "l", 189) == [("k", "l+None", 189)]
        assert piping.pipe("right", "k", "r", 150) == [("k", "None+r", 150)]
        assert piping.pipe("left", "k", "l", 190) == []  # 190 + 10 is not before 200: waits
        assert piping.pipe("right", "q", "r", 180) == []


def test_a_left_join_keeps_quiet_about_right_records() -> None:
    with run("left", 10, 10) as piping:
        piping.pipe("right", "k", "r", 100)
        assert piping.values(("right", "x", "-", 200), ("right", "k", "late", 50)) == []


def test_a_match_takes_all_waiting_records_of_that_key_side_and_time_out() -> None:
    with run("outer", 10, 10) as piping:
        piping.pipe("left", "k", "l1", 100)
        piping.pipe("left", "k", "l2", 100)
        piping.pipe("left", "k", "l3", 101)
        piping.pipe("left", "other", "o", 100)
        assert piping.values(("right", "k", "r", 90)) == ["l1+r", "l2+r"]
        assert piping.values(("left", "x", "-", 200)) == ["o+None", "l3+None"]


def test_the_lower_bound_of_waiting_records_may_be_too_high() -> None:
    with run("left", 10, 10) as piping:
        for timestamp in range(100, 106):
            piping.pipe("left", f"k{timestamp}", f"l{timestamp}", timestamp)
        assert piping.values(("right", "x", "-", 111)) == ["l100+None"]
        assert piping.values(("right", "x", "-", 112)) == []
        assert piping.values(("right", "x", "-", 115)) == []
        assert piping.values(("right", "x", "-", 116)) == [f"l{t}+None" for t in range(101, 106)]


def test_a_scan_of_an_outer_join_ends_when_both_sides_are_open() -> None:
    with run("outer", 10, 10) as piping:
        for timestamp in (100, 104):
            piping.pipe("left", f"l{timestamp}", f"l{timestamp}", timestamp)
            piping.pipe("right", f"r{timestamp}", f"r{timestamp}", timestamp)
        piping.pipe("left", "l106", "l106", 106)
        piping.pipe("left", "l108", "l108", 108)
        # Emits 100, sees both rows of 104 open, looks at 106 and stops: the bound is now 106.
        assert piping.values(("right", "x", "-", 111)) == ["None+r100", "l100+None"]
        assert piping.values(("left", "y", "-", 116)) == []
        assert piping.values(("left", "z", "-", 117)) == ["None+r104", "l104+None", "l106+None"]


def test_expired_records_come_in_the_order_time_right_left_key_arrival() -> None:
    with run("outer", 10, 10) as piping:
        for topic, key, value, timestamp in [
            ("left", "b", "l1", 101), ("left", "a", "l2", 101), ("left", "a", "l3", 101), ("right", "z", "r1", 101),
            ("right", "y", "r2", 101), ("left", "c", "l4", 100),
        ]:  # fmt: skip
            assert piping.pipe(topic, key, value, timestamp) == []
        assert piping.pipe("left", "x", "-", 200) == [
            ("c", "l4+None", 100), ("y", "None+r2", 101), ("z", "None+r1", 101), ("a", "l2+None", 101),
            ("a", "l3+None", 101), ("b", "l1+None", 101),
        ]  # fmt: skip


def test_expiry_comes_before_the_records_own_matches() -> None:
    with run("left", 100, 0) as piping:
        piping.pipe("left", "old", "l", 100)
        piping.pipe("right", "k", "r", 100)
        assert piping.values(("left", "k", "m", 150)) == ["l+None", "m+r"]


def test_only_records_that_are_at_join_time_look_for_expired_ones() -> None:
    with run("left", 10, 10) as piping:
        piping.pipe("left", "k", "l", 100)
        assert piping.values(("right", "k", None, 200)) == []  # moves the time, and does nothing else
        assert piping.values(("right", None, "r", 200)) == []
        assert piping.values(("right", "x", "-", 199)) == []  # late
        assert piping.values(("right", "x", "-", 200)) == ["l+None"]


def test_null_keys_and_values() -> None:
    key, value = "null key in a stream-stream join", "null value in a stream-stream join"
    expected: dict[str, tuple[list[Output], list[Output], int]] = {
        "inner": ([], [], 2),
        "left": ([(None, "l+None", 10)], [], 1),
        "outer": ([(None, "l+None", 10)], [(None, "None+r", 10)], 0),
    }
    for kind, (left, right, null_keys) in expected.items():
        with run(kind, 10, 10) as piping:
            assert piping.pipe("left", None, "l", 10) == left
            assert piping.pipe("right", None, "r", 10) == right
            assert piping.pipe("left", "k", None, 10) == piping.pipe("right", None, None, 10) == []
            assert (piping.dropped(key), piping.dropped(value)) == (null_keys, 2)
            assert piping.driver.dropped_records == null_keys + 2


def test_stored_records_are_visible_for_before_after_and_grace_of_their_own_side() -> None:
    with run("inner", 10, 10, 5) as piping:  # retention 25: visible from store time - 24
        piping.pipe("right", "k", "r", 100)
        piping.pipe("right", "x", "-", 124)
        assert piping.values(("left", "k", "l", 100)) == ["l+r"]
        piping.pipe("left", "x", "-", 500)  # the left side's time says nothing about right records
        assert piping.values(("left", "k", "l", 100)) == ["l+r"]
        piping.pipe("right", "k", None, 600)  # a null value does not move the store's time
        assert piping.values(("left", "k", "l", 100)) == ["l+r"]
        piping.pipe("right", "x", "-", 125)
        assert piping.values(("left", "k", "l", 100)) == []


def test_the_joiner_may_take_the_key_and_gets_left_before_right() -> None:
    builder = joined("outer", JoinWindows(10, 10), lambda key, left, right: f"{key}:{left},{right}")
    with Piping(builder) as piping:
        assert piping.values(
            ("left", "a", "l", 100), ("right", "a", "r", 100), ("left", "a", "m", 100), ("right", "b", "s", 100),
            ("left", "x", "-", 200),
        ) == ["a:l,r", "a:m,r", "b:None,s"]  # fmt: skip


def test_an_unmatched_row_has_the_headers_of_the_record_that_released_it() -> None:
    with run("left", 10, 10) as piping:
        piping.pipe("left", "k", "l", 100, [("own", b"1")])
        piping.driver.create_input_topic("right").pipe_input("x", "-", 200, [("other", b"2")])
        record = piping.driver.create_output_topic("out").read_record()
        assert (record.key, record.timestamp, list(record.headers)) == ("k", 100, [("other", b"2")])


def test_waiting_records_survive_a_restart_and_join_time_starts_again() -> None:
    with run("left", 10, 10) as piping:
        piping.pipe("left", "k", "l", 100)
        piping.pipe("right", "x", "-", 105)
        piping.driver.restart()
        assert piping.values(("right", "x", "-", 90)) == []
        assert piping.values(("right", "k", "r", 104)) == ["l+r"]
        piping.pipe("left", "m", "l2", 104)
        piping.driver.restart()
        assert piping.values(("right", "x", "-", 200)) == ["l2+None"]


def test_the_wall_clock_throttles_scans() -> None:
    with Piping(joined("left", JoinWindows(10, 10)), emit_interval_ms=1000) as piping:
        piping.pipe("left", "a", "l1", 100)
        assert piping.values(("right", "x", "-", 200)) == ["l1+None"]
        piping.pipe("left", "b", "l2", 200)
        assert piping.values(("right", "x", "-", 300)) == []
        piping.driver.advance_wall_clock_time(999)
        assert piping.values(("right", "x", "-", 301)) == []
        piping.driver.advance_wall_clock_time(1)
        assert piping.values(("right", "x", "-", 302)) == ["l2+None"]


def test_a_joiner_that_fails_on_an_unmatched_record_is_not_asked_again() -> None:
    def fussy(left: str, right: str | None) -> str:
        if left == "bad":
            raise ValueError("bad")
        return pair(left, right)

    config = {"processing.exception.handler": LogAndContinueProcessingExceptionHandler()}
    with Piping(joined("left", JoinWindows(10, 10), fussy), config) as piping:
        for key, value in [("a", "good"), ("b", "bad"), ("c", "fine")]:
            piping.pipe("left", key, value, 100)
        # The record that released them is skipped at this node, so it does not wait for a partner itself.
        assert piping.values(("left", "x", "skipped", 200)) == ["good+None"]
        assert piping.values(("right", "y", "-", 201)) == ["fine+None"]
        assert piping.values(("right", "y", "-", 300), ("right", "y", "-", 301)) == []


def test_a_host_can_keep_the_clock_of_both_sides() -> None:
    with run("left", 10, 10) as piping:
        for timestamp in (100, 105):
            piping.pipe("left", f"k{timestamp}", f"l{timestamp}", timestamp)
        assert piping.values(("right", "x", "-", 111)) == ["l100+None"]  # the lower bound is 105 now
        clocks = piping.driver._task.operator_clocks()
        piping.driver.restart()
        piping.driver._task.set_operator_clocks(clocks)
        assert piping.pipe("left", "late", "late", 100) == [("late", "late+None", 100)]
        assert piping.values(("right", "x", "-", 115), ("right", "x", "-", 116)) == ["l105+None"]
