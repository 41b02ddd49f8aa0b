from __future__ import annotations

from typing import Any

import pytest

from penstock import StreamsBuilder
from penstock.errors import TopologyError
from tests.interpreter.piping import Piping, pair


def run(kind: str, *, versioned: str | None = None, grace: int | None = None, **config: Any) -> Piping:
    builder = StreamsBuilder()
    stream, table = builder.stream("left"), builder.table("right", versioned=versioned)
    (stream.join if kind == "inner" else stream.left_join)(table, pair, grace=grace).to("out")
    return Piping(builder, config)


ROWS = [
    ("left", None, "", ""), ("right", None, "", ""), ("left", "A", "", "A+None"), ("right", "a", "", ""),
    ("left", "B", "B+a", "B+a"), ("right", "b", "", ""), ("left", None, "", ""), ("right", None, "", ""),
    ("left", "C", "", "C+None"), ("right", "c", "", ""), ("right", None, "", ""), ("left", None, "", ""),
    ("right", None, "", ""), ("right", "d", "", ""), ("left", "D", "D+d", "D+d"),
]  # fmt: skip


@pytest.mark.parametrize("versioned", [None, "1h"])
@pytest.mark.parametrize("kind", ["inner", "left"])
def test_only_stream_records_emit(kind: str, versioned: str | None) -> None:
    with run(kind, versioned=versioned) as piping:
        for timestamp, (topic, value, inner, left) in enumerate(ROWS, 1):
            expected = (inner if kind == "inner" else left).split()
            assert piping.pipe(topic, "k", value, timestamp) == [("k", v, timestamp) for v in expected]


def test_an_unversioned_table_shows_the_row_that_arrived_last() -> None:
    with run("inner") as piping:
        piping.pipe("right", "k", "new", 200)
        piping.pipe("right", "k", "old", 100)
        assert piping.pipe("left", "k", "l", 50) == [("k", "l+old", 50)]


def test_a_versioned_table_shows_the_row_of_the_records_time() -> None:
    with run("left", versioned="1h") as piping:
        for value, timestamp in [("v100", 100), ("v300", 300), ("v200", 200), (None, 250)]:
            piping.pipe("right", "k", value, timestamp)
        assert piping.values(*(("left", "k", str(t), t) for t in (99, 100, 199, 200, 249, 250, 299, 300, 400))) == [
            "99+None", "100+v100", "199+v100", "200+v200", "249+v200", "250+None", "299+None", "300+v300", "400+v300",
        ]  # fmt: skip


def test_before_the_history_only_the_latest_version_counts() -> None:
    with run("left", versioned="100ms") as piping:
        piping.pipe("right", "k", "v10", 10)
        piping.pipe("right", "k", "v20", 20)
        piping.pipe("right", "other", "x", 1000)
        assert piping.values(("left", "k", "15", 15), ("left", "k", "25", 25)) == ["15+None", "25+v20"]


@pytest.mark.parametrize(("kind", "null_key", "dropped"), [("inner", [], 1), ("left", [(None, "l+None", 1)], 0)])
@pytest.mark.parametrize("grace", [None, 10])
def test_null_keys_and_values(kind: str, null_key: list[Any], dropped: int, grace: int | None) -> None:
    with run(kind, versioned="1h", grace=grace) as piping:
        assert piping.pipe("left", None, "l", 1) == null_key
        assert piping.pipe("left", "k", None, 2) == []
        assert piping.dropped("null key in a table lookup") == dropped
        assert piping.dropped("null value in a table lookup") == 1


def test_grace_waits_for_late_table_rows() -> None:
    with run("inner", versioned="1h", grace=10) as piping:
        piping.pipe("right", "k", "r1", 100)
        assert piping.pipe("left", "k", "l1", 105) == []
        piping.pipe("right", "k", "r2", 104)
        assert piping.pipe("left", "k", "l2", 114) == []  # 105 > 114 - 10
        assert piping.pipe("right", "k", "r3", 500) == []  # table records never flush
        assert piping.pipe("left", "k", "l3", 115) == [("k", "l1+r2", 105)]


def test_the_buffer_empties_in_the_order_time_key_arrival() -> None:
    with run("left", versioned="1h", grace=10) as piping:
        for key, value, timestamp in [("b", "1", 100), ("a", "2", 100), ("b", "3", 100), ("a", "4", 95)]:
            assert piping.pipe("left", key, value, timestamp) == []
        assert piping.pipe("left", "z", "5", 110) == [
            ("a", "4+None", 95), ("a", "2+None", 100), ("b", "1+None", 100), ("b", "3+None", 100),
        ]  # fmt: skip


def test_a_record_later_than_grace_is_joined_at_once_and_releases_nothing() -> None:
    with run("left", versioned="1h", grace=10) as piping:
        piping.pipe("left", "k", "l1", 100)
        assert piping.pipe("left", "k", "late", 89) == [("k", "late+None", 89)]
        assert piping.pipe("left", "k", "just", 90) == [("k", "just+None", 90)]  # buffered, and due at once
        assert piping.pipe("left", "k", "l2", 109) == []


def test_dropped_and_late_records_do_not_move_the_buffers_time() -> None:
    with run("left", versioned="1h", grace=10) as piping:
        piping.pipe("left", "k", "l1", 100)
        assert piping.pipe("left", "k", None, 500) == []
        assert piping.pipe("left", None, "no key", 500) == [(None, "no key+None", 500)]
        assert piping.pipe("left", "k", "l2", 95) == []
        assert piping.values(("left", "k", "l3", 110)) == ["l2+None", "l1+None"]


def test_grace_zero_joins_each_record_when_it_comes() -> None:
    with run("left", versioned="1h", grace=0) as piping:
        assert piping.values(("left", "k", "a", 100), ("left", "k", "b", 50), ("left", "k", "c", 100)) == [
            "a+None", "b+None", "c+None",
        ]  # fmt: skip


def test_a_buffered_record_keeps_its_headers() -> None:
    with run("left", versioned="1h", grace=10) as piping:
        piping.pipe("left", "k", "l1", 100, [("own", b"1")])
        piping.driver.create_input_topic("left").pipe_input("k", "l2", 200, [("other", b"2")])
        record = piping.driver.create_output_topic("out").read_record()
        assert (record.value, list(record.headers)) == ("l1+None", [("own", b"1")])
        assert piping.values(("left", "k", "l3", 300)) == ["l2+None"]


def test_the_buffer_survives_a_restart() -> None:
    with run("inner", versioned="1h", grace=10) as piping:
        piping.pipe("right", "k", "r", 50)
        piping.pipe("left", "k", "l1", 100)
        piping.driver.restart()
        assert piping.values(("left", "k", "l2", 110)) == ["l1+r"]


def test_grace_needs_a_versioned_table_with_enough_history() -> None:
    with pytest.raises(TopologyError, match="versioned"):
        run("inner", grace=10)
    with pytest.raises(TopologyError, match=r"(?i)history|grace"):
        run("inner", versioned="5ms", grace=10)


def test_a_host_can_keep_the_clock_of_the_buffer() -> None:
    with run("left", versioned="1h", grace=10) as piping:
        piping.pipe("left", "k", "l", 100)
        piping.driver.restart()
        assert piping.values(("left", "k", "as after a restart", 50)) == []
    with run("left", versioned="1h", grace=10) as piping:
        piping.pipe("left", "k", "l", 100)
        clocks = piping.driver._task.operator_clocks()
        piping.driver.restart()
        piping.driver._task.set_operator_clocks(clocks)
        assert piping.values(("left", "k", "late", 50)) == ["late+None"]
