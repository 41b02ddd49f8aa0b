"""The edges of Kafka Streams' rules, one test each. Expected rows are what Kafka's own test driver gives."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import (
    BufferConfig,
    ContextualFixedKeyProcessor,
    EmitStrategy,
    FixedKeyRecord,
    JoinWindows,
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
)
from tests.interpreter.boundary_pipe import CACHED, UNCACHED, Pipe, Row, pair

CLOSE = EmitStrategy.on_window_close()
FOREVER = 10**9  # a retention no test comes near


def append(aggregate: str | None, value: str | None) -> str:
    return f"{aggregate or 'null'}+{value or 'null'}"


def counted(windows: Any, *, retention: int | None = FOREVER, emit: EmitStrategy | None = None) -> Any:
    def build(b: StreamsBuilder) -> Any:
        windowed = b.stream("in").group_by_key().windowed_by(windows)
        return (windowed if emit is None else windowed.emit_strategy(emit)).count(retention=retention)

    return build


def left_join(windows: JoinWindows) -> Any:
    return lambda b: b.stream("left").left_join(b.stream("right"), pair, windows)


class TestSessionAcceptance:
    """A record is late if its merged session ends before T - grace - gap."""

    windows = SessionWindows(5, grace=2)

    def test_a_session_that_ends_exactly_at_the_limit_is_accepted(self) -> None:
        with Pipe(counted(self.windows)) as pipe:
            pipe.send("in", "other", "x", 20)  # the limit is 20 - 2 - 5
            assert pipe.send("in", "k", "x", 13) == [("k@13/13", "1", 13)]
            assert pipe.driver.dropped_records == 0

    def test_one_that_ends_before_it_is_dropped(self) -> None:
        with Pipe(counted(self.windows)) as pipe:
            pipe.send("in", "other", "x", 20)
            assert pipe.send("in", "k", "x", 12) == []
            assert pipe.driver.dropped_records == 1

    def test_the_merged_session_counts_not_the_record(self) -> None:
        with Pipe(counted(self.windows)) as pipe:
            pipe.send("in", "other", "x", 20)
            pipe.send("in", "k", "x", 14)
            assert pipe.send("in", "k", "x", 10) == [("k@14/14", None, 14), ("k@10/14", "2", 14)]

    def test_a_session_out_of_retention_is_not_merged_with(self) -> None:
        with Pipe(counted(self.windows, retention=None)) as pipe:
            pipe.send("in", "other", "x", 20)
            pipe.send("in", "k", "x", 13)  # accepted, but already older than 20 - (5 + 2)
            assert pipe.send("in", "k", "x", 12) == []


class TestJoinStoreVisibility:
    """A stored record is seen while ts >= store time of its side - (before + after + grace) + 1."""

    @pytest.mark.parametrize(("timestamp", "expected"), [(89, [("k", "a,r", 93)]), (88, [])])
    def test_limit(self, timestamp: int, expected: list[Row]) -> None:
        with Pipe(lambda b: b.stream("left").join(b.stream("right"), pair, JoinWindows(5, 5, 2))) as pipe:
            pipe.send("left", "other", "x", 100)
            pipe.send("left", "k", "a", timestamp)
            assert pipe.send("right", "k", "r", 93) == expected

    def test_a_null_value_does_not_move_the_store_time(self) -> None:
        with Pipe(lambda b: b.stream("left").join(b.stream("right"), pair, JoinWindows(5, 5, 2))) as pipe:
            pipe.send("left", "other", None, 100)
            pipe.send("left", "k", "a", 50)
            assert pipe.send("right", "k", "r", 53) == [("k", "a,r", 53)]


class TestUnmatchedRows:
    def test_one_that_is_late_on_arrival_skips_the_grace_period(self) -> None:
        with Pipe(left_join(JoinWindows(5, 5, 10))) as pipe:
            pipe.send("right", "other", "x", 100)
            # 94 + 5 < 100: at once, though 94 + 5 + 10 is still to come
            assert pipe.send("left", "k", "a", 94) == [("k", "a,null", 94)]

    def test_one_on_the_bound_waits_for_the_grace_period_to_be_over(self) -> None:
        with Pipe(left_join(JoinWindows(5, 5, 10))) as pipe:
            pipe.send("right", "other", "x", 100)
            assert pipe.send("left", "k", "b", 95) == []
            assert pipe.send("right", "other", "y", 110) == []  # 95 + 5 + 10 < 110 does not hold
            assert pipe.send("right", "other", "z", 111) == [("k", "b,null", 95)]

    def test_only_a_record_at_the_join_time_expires_them(self) -> None:
        with Pipe(left_join(JoinWindows(5, 5))) as pipe:
            pipe.send("left", "k", "a", 10)
            assert pipe.send("right", "other", None, 20) == []  # moves the join time, expires nothing
            assert pipe.send("right", "other", "x", 19) == []  # behind the join time
            assert pipe.send("right", "other", "y", 20) == [("k", "a,null", 10)]

    def test_a_scan_may_leave_rows_for_later(self) -> None:
        """The lower bound that decides on a scan is the time of the last row looked at, not of the oldest left."""
        with Pipe(left_join(JoinWindows(10, 10))) as pipe:
            for timestamp in range(100, 106):
                pipe.send("left", "k", str(timestamp), timestamp)
            assert [value for _, value, _ in pipe.send("right", "other", "x", 111)] == ["100,null"]
            assert pipe.send("right", "other", "x", 112) == []
            late = [value for _, value, _ in pipe.send("right", "other", "x", 116)]
            assert late == ["101,null", "102,null", "103,null", "104,null", "105,null"]


class TestNullValues:
    """Time and session windows aggregate them, sliding windows drop them."""

    def test_time_windows(self) -> None:
        def build(b: StreamsBuilder) -> Any:
            windowed = b.stream("in").group_by_key().windowed_by(TimeWindows(10))
            return windowed.aggregate("0", lambda k, v, a: append(a, v))

        with Pipe(build) as pipe:
            assert pipe.send("in", "k", None, 1) == [("k@0/10", "0+null", 1)]
            assert pipe.send("in", "k", "a", 2) == [("k@0/10", "0+null+a", 2)]

    def test_count_counts_them(self) -> None:
        with Pipe(counted(TimeWindows(10))) as pipe:
            assert pipe.send("in", "k", None, 1) == [("k@0/10", "1", 1)]

    def test_session_windows(self) -> None:
        def build(b: StreamsBuilder) -> Any:
            windowed = b.stream("in").group_by_key().windowed_by(SessionWindows(5))
            return windowed.aggregate("0", lambda k, v, a: append(a, v), lambda k, x, y: append(x, y))

        with Pipe(build) as pipe:
            assert pipe.send("in", "k", None, 1) == [("k@1/1", "0+null", 1)]
            assert pipe.send("in", "k", "a", 2) == [("k@1/1", None, 1), ("k@1/2", "0+0+null+a", 2)]

    def test_a_session_reduced_to_null_is_not_stored(self) -> None:
        with Pipe(lambda b: b.stream("in").group_by_key().windowed_by(SessionWindows(5)).reduce(append)) as pipe:
            assert pipe.send("in", "k", None, 1) == [("k@1/1", None, 1)]
            assert pipe.send("in", "k", "a", 2) == [("k@2/2", "a", 2)]

    def test_sliding_windows(self) -> None:
        with Pipe(counted(SlidingWindows(10))) as pipe:
            assert pipe.send("in", "k", None, 20) == []
            assert pipe.driver.dropped_records == 1
            assert pipe.send("in", "k", "a", 22) == [("k@12/22", "1", 22)]


class TestOperatorTimeAfterRestart:
    def test_a_late_record_is_accepted_once(self) -> None:
        with Pipe(counted(TimeWindows(10))) as pipe:
            pipe.send("in", "k", "x", 100)
            assert pipe.send("in", "k", "x", 5) == []
            pipe.driver.restart()
            assert pipe.send("in", "k", "x", 5) == [("k@0/10", "1", 5)]
            pipe.send("in", "k", "x", 100)
            assert pipe.send("in", "k", "x", 5) == []

    def test_task_stream_time_is_kept(self) -> None:
        seen: list[int] = []

        class Clock(ContextualFixedKeyProcessor[Any, Any, Any]):
            def process(self, record: FixedKeyRecord[Any, Any]) -> None:
                seen.append(self.context.current_stream_time_ms())

        with Pipe(lambda b: b.stream("in").process_values(Clock)) as pipe:
            pipe.send("in", "k", "x", 100)
            pipe.driver.restart()
            pipe.send("in", "k", "x", 5)
        assert seen == [100, 100]


class TestTies:
    """Records of one time that wait in several partitions go by topic name; Kafka leaves the order open."""

    def test_by_topic_name(self) -> None:
        def build(b: StreamsBuilder) -> Any:
            return b.stream("b").merge(b.stream("a"), b.stream("c"))

        with Pipe(build, UNCACHED | {"max.task.idle.ms": 1000}) as pipe:
            assert pipe.send("c", "c", "x", 5) == []
            assert pipe.send("b", "b", "x", 5) == []
            assert [key for key, _, _ in pipe.send("a", "a", "x", 5)] == ["a"]
            for expected in ("b", "c"):  # each time a topic is empty the task waits for it anew
                pipe.driver.advance_wall_clock_time(1000)
                assert [key for key, _, _ in pipe.results()] == [expected]

    def test_the_smaller_timestamp_goes_first(self) -> None:
        with Pipe(lambda b: b.stream("a").merge(b.stream("b")), UNCACHED | {"max.task.idle.ms": 1000}) as pipe:
            pipe.send("a", "a", "x", 7)
            assert [key for key, _, _ in pipe.send("b", "b", "x", 6)] == ["b"]


class TestEarlySlidingRecords:
    """A record earlier than the time difference goes to the window [0, difference]."""

    def test_emit_on_close(self) -> None:
        with Pipe(counted(SlidingWindows(10, grace=5), emit=CLOSE)) as pipe:
            for timestamp in (12, 3, 5):
                assert pipe.send("in", "k", "x", timestamp) == []
            assert pipe.send("in", "k", "x", 16) == [("k@0/10", "2", 5)]
            assert pipe.send("in", "k", "x", 40) == [
                ("k@2/12", "3", 12),
                ("k@4/14", "2", 12),
                ("k@6/16", "2", 16),
                ("k@13/23", "1", 16),
            ]


class TestClosingBoundaries:
    """(windows, the last moment at which a record for the window of time 1 or 10 is taken, the closing moment)"""

    @pytest.mark.parametrize(
        ("windows", "first", "last_open", "closing", "key"),
        [
            (TimeWindows(5, grace=2), 1, 6, 7, "k@0/5"),
            (SlidingWindows(5, grace=2), 10, 12, 13, "k@5/10"),
            (SessionWindows(5, grace=2), 0, 7, 8, "k@0/0"),
        ],
        ids=["time", "sliding", "session"],
    )
    def test_emit_on_close(self, windows: Any, first: int, last_open: int, closing: int, key: str) -> None:
        with Pipe(counted(windows, emit=CLOSE)) as pipe:
            pipe.send("in", "k", "x", first)
            assert pipe.send("in", "other", "x", last_open) == []
            assert pipe.send("in", "k", "x", first) == []  # still taken
            assert pipe.send("in", "other", "x", closing) == [(key, "2", first)]
            assert pipe.send("in", "k", "x", first) == []
            assert pipe.driver.dropped_records == 1

    def suppressed(self, windows: Any) -> Any:
        closes = Suppressed.until_window_closes(BufferConfig.unbounded())
        return lambda b: b.stream("in").group_by_key().windowed_by(windows).count(retention=FOREVER).suppress(closes)

    def test_suppress_and_acceptance_meet_for_time_windows(self) -> None:
        with Pipe(self.suppressed(TimeWindows(5, grace=2))) as pipe:
            pipe.send("in", "k", "x", 1)
            assert pipe.send("in", "other", "x", 6) == []
            assert pipe.send("in", "k", "x", 1) == []
            assert pipe.send("in", "other", "x", 7) == [("k@0/5", "2", 1)]
            assert pipe.send("in", "k", "x", 1) == []
            assert pipe.driver.dropped_records == 1

    def test_suppress_emits_a_session_again_on_the_equality(self) -> None:
        with Pipe(self.suppressed(SessionWindows(5))) as pipe:
            pipe.send("in", "k", "x", 0)
            assert pipe.send("in", "other", "x", 4) == []
            assert pipe.send("in", "other", "x", 5) == [("k@0/0", "1", 0)]
            assert pipe.send("in", "k", "x", 0) == [("k@0/0", "2", 0)]
            pipe.send("in", "other", "x", 6)
            assert pipe.send("in", "k", "x", 0) == []
            assert pipe.driver.dropped_records == 1

    def test_suppress_emits_a_sliding_window_again_on_the_equality(self) -> None:
        with Pipe(self.suppressed(SlidingWindows(5))) as pipe:
            assert pipe.send("in", "k", "x", 10) == [("k@5/10", "1", 10)]
            assert pipe.send("in", "k", "x", 10) == [("k@5/10", "2", 10)]
            pipe.send("in", "other", "x", 11)
            assert pipe.send("in", "k", "x", 10) == []


class TestCacheFlush:
    class Repeat(ContextualFixedKeyProcessor[Any, Any, Any]):
        """Three updates within one record: of a window, of the next one, of the first again."""

        def process(self, record: FixedKeyRecord[Any, Any]) -> None:
            self.context.forward(record)
            self.context.forward(record.with_timestamp(record.timestamp + 10))
            self.context.forward(record.with_value("b"))

    def repeated(self, b: StreamsBuilder) -> Any:
        windowed = b.stream("in").process_values(self.Repeat).group_by_key().windowed_by(TimeWindows(10, grace=50))
        return windowed.reduce(append, retention=FOREVER)

    def test_a_key_stands_at_the_place_of_its_last_change(self) -> None:
        with Pipe(self.repeated, CACHED) as pipe:
            assert pipe.send("in", "k", "a", 1) == [("k@10/20", "a", 11), ("k@0/10", "a+b", 1)]

    def test_without_a_cache_every_update_comes(self) -> None:
        with Pipe(self.repeated) as pipe:
            assert pipe.send("in", "k", "a", 1) == [("k@0/10", "a", 1), ("k@10/20", "a", 11), ("k@0/10", "a+b", 1)]

    def test_a_second_delete_is_swallowed(self) -> None:
        with Pipe(lambda b: b.table("in", store="rows"), CACHED) as pipe:
            pipe.send("in", "k", "a", 1)
            assert pipe.send("in", "k", None, 2) == [("k", None, 2)]
            assert pipe.send("in", "k", None, 3) == []


class TestChangedNames:
    """Generated names count the operators before them; a name that is given stays."""

    def stores(self, *, extra: bool, name: str | None) -> list[str]:
        b = StreamsBuilder(UNCACHED)
        stream = b.stream("in")
        if extra:
            stream = stream.filter(lambda k, v: True)
        stream.group_by_key().count(store=name).to_stream().to("out")
        return list(b.build(UNCACHED).stores)

    def test_an_inserted_operator_renames_an_unnamed_store(self) -> None:
        assert self.stores(extra=False, name=None) == ["KSTREAM-AGGREGATE-STATE-STORE-0000000001"]
        assert self.stores(extra=True, name=None) == ["KSTREAM-AGGREGATE-STATE-STORE-0000000002"]

    def test_a_given_name_survives(self) -> None:
        assert self.stores(extra=False, name="counts") == self.stores(extra=True, name="counts") == ["counts"]
