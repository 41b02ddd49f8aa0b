"""Writing to input topics and reading from output topics."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from penstock import Headers, PenstockError, SerdeError, StreamsBuilder, TestRecord, TopologyTestDriver


@pytest.fixture
def driver() -> Iterator[TopologyTestDriver]:
    builder = StreamsBuilder()
    builder.stream("in", key_serde="string", value_serde="long").to("out")
    with TopologyTestDriver(builder, wall_clock=1000) as made:
        yield made


def read(driver: TopologyTestDriver) -> list[tuple[Any, Any, Any]]:
    return [(r.key, r.value, r.timestamp) for r in driver.create_output_topic("out")]


class TestInput:
    def test_serdes_are_those_of_the_source(self, driver: TopologyTestDriver) -> None:
        topic = driver.create_input_topic("in")
        topic.pipe_input("k", 7)
        assert driver.outputs("out")[0][:2] == (b"k", b"\0\0\0\0\0\0\0\x07")
        with pytest.raises(SerdeError, match="the long serde cannot write str 'seven' to topic in"):
            topic.pipe_input("k", "seven")

    def test_other_serdes_may_be_given(self, driver: TopologyTestDriver) -> None:
        driver.create_input_topic("in", "bytes", "bytes").pipe_input(b"k", b"\0\0\0\0\0\0\0\x07")
        assert read(driver) == [("k", 7, 1000)]

    def test_shapes_of_a_record(self, driver: TopologyTestDriver) -> None:
        topic = driver.create_input_topic("in", start=5)
        topic.pipe_input(1)
        topic.pipe_input("k", 2)
        topic.pipe_input("k", 3, 10)
        topic.pipe_input("k", 4, timestamp=datetime(1970, 1, 1, 0, 0, 1, tzinfo=timezone.utc))
        topic.pipe_input(TestRecord("k", 5, timestamp=20))
        topic.pipe_input(TestRecord("k", 6))
        topic.pipe_input("k", None)
        assert read(driver) == [
            (None, 1, 5),
            ("k", 2, 5),
            ("k", 3, 10),
            ("k", 4, 1000),
            ("k", 5, 20),
            ("k", 6, 5),
            ("k", None, 5),
        ]

    def test_the_clock_starts_now_and_advances_with_records(self, driver: TopologyTestDriver) -> None:
        topic = driver.create_input_topic("in", auto_advance="10ms")
        topic.pipe_value_list([1, 2])
        topic.advance_time(timedelta(seconds=1))
        topic.pipe_input("k", 3)
        topic.pipe_input("k", 4, 7)  # has its own time
        topic.pipe_input("k", 5)
        assert [row[2] for row in read(driver)] == [1000, 1010, 2020, 7, 2030]

    def test_lists(self, driver: TopologyTestDriver) -> None:
        topic = driver.create_input_topic("in")
        topic.pipe_key_value_list([("a", 1), ("b", 2)], start=100, advance=5)
        topic.pipe_value_list([3, 4], start=200)
        topic.pipe_record_list([TestRecord("c", 5, timestamp=300)])
        assert read(driver) == [("a", 1, 100), ("b", 2, 105), (None, 3, 200), (None, 4, 200), ("c", 5, 300)]

    def test_headers(self, driver: TopologyTestDriver) -> None:
        topic = driver.create_input_topic("in")
        topic.pipe_input("k", 1, 5, headers=[("a", b"1"), ("a", None)])
        topic.pipe_input(TestRecord("k", 2, Headers([("b", b"2")]), 6))
        records = driver.create_output_topic("out").read_records_to_list()
        assert [record.headers for record in records] == [(("a", b"1"), ("a", None)), (("b", b"2"),)]

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (
                lambda t: t.pipe_input("k", 1, datetime(2024, 1, 1)),  # noqa: DTZ001
                "record timestamp is a datetime without a time zone",
            ),
            (lambda t: t.pipe_input("k", 1, 1.5), "record timestamp is 1.5"),
            (lambda t: t.advance_time(-1), "advance is negative: -1"),
            (lambda t: t.pipe_key_value_list([("a", 1)], advance=-5), "advance is negative: -5"),
        ],
    )
    def test_refused(self, driver: TopologyTestDriver, call: Any, message: str) -> None:
        topic = driver.create_input_topic("in")
        with pytest.raises(PenstockError, match=message):
            call(topic)
        assert driver.create_output_topic("out").is_empty


class TestOutput:
    def test_reading_one_by_one(self, driver: TopologyTestDriver) -> None:
        driver.create_input_topic("in").pipe_key_value_list([("a", 1), ("b", 2), ("c", 3)], start=10, advance=1)
        out = driver.create_output_topic("out")
        assert (len(out), out.queue_size, out.is_empty, bool(out)) == (3, 3, False, True)
        assert out.read_value() == 1
        assert out.read_key_value() == ("b", 2)
        assert out.read_record() == TestRecord("c", 3, timestamp=12)
        assert (out.queue_size, out.is_empty) == (0, True)

    def test_reading_all(self, driver: TopologyTestDriver) -> None:
        topic, out = driver.create_input_topic("in"), driver.create_output_topic("out")
        for read_all, wanted in [
            (out.read_values_to_list, [1, 2]),
            (out.read_key_values_to_list, [("a", 1), ("a", 2)]),
            (out.read_key_values_to_map, {"a": 2}),
            (lambda: [record.value for record in out], [1, 2]),
        ]:
            topic.pipe_key_value_list([("a", 1), ("a", 2)])
            assert read_all() == wanted
            assert out.is_empty

    def test_an_empty_topic(self, driver: TopologyTestDriver) -> None:
        for topic in ("out", "elsewhere"):
            out = driver.create_output_topic(topic)
            assert out.read_values_to_list() == []
            for read_one in (out.read_value, out.read_key_value, out.read_record):
                with pytest.raises(PenstockError) as caught:
                    read_one()
                assert str(caught.value) == (f"the output topic {topic!r} is empty. Topics with output so far: none.")

    def test_an_empty_topic_tells_where_output_went(self, driver: TopologyTestDriver) -> None:
        driver.create_input_topic("in").pipe_input("k", 1)
        with pytest.raises(PenstockError, match="Topics with output so far: out"):
            driver.create_output_topic("outt").read_value()

    def test_a_map_needs_keys(self, driver: TopologyTestDriver) -> None:
        driver.create_input_topic("in").pipe_input(1)
        with pytest.raises(PenstockError) as caught:
            driver.create_output_topic("out").read_key_values_to_map()
        assert "a record of the output topic 'out' has no key" in str(caught.value)
        assert "Use read_key_values_to_list()." in str(caught.value)

    def test_other_serdes_may_be_given(self, driver: TopologyTestDriver) -> None:
        driver.create_input_topic("in").pipe_input("k", 1)
        assert driver.create_output_topic("out", "bytes", "bytes").read_key_value() == (b"k", (1).to_bytes(8, "big"))


class TestTestRecord:
    def test_equal_if_all_fields_are(self) -> None:
        record = TestRecord("k", 1, [("h", b"x")], 5)
        assert record == TestRecord("k", 1, Headers([("h", b"x")]), 5)
        assert record != TestRecord("k", 1, (), 5)
        assert record != TestRecord("k", 1, [("h", b"x")], 6)

    def test_everything_may_be_left_out(self) -> None:
        assert (TestRecord().key, TestRecord().value, TestRecord().headers, TestRecord().timestamp) == (None,) * 2 + (
            (),
            None,
        )
