"""Timestamp extractors: built-in ones, functions and expressions."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import (
    ConfigError,
    FailOnInvalidTimestamp,
    LogAndSkipOnInvalidTimestamp,
    StreamsBuilder,
    StreamsError,
    TopologyTestDriver,
    UsePartitionTimeOnInvalidTimestamp,
    WallclockTimestampExtractor,
    k,
    ts,
    v,
)
from penstock.interpreter.context import TaskContext
from penstock.interpreter.timestamps import resolve_extractor
from penstock.records import NO_HEADERS, Headers


def extract(given: Any, timestamp: int, *, partition_time: int = -1, value: Any = None) -> int:
    context = TaskContext(system_time=lambda: 777)
    context.topic, context.partition, context.offset = "in", 2, 9
    function = resolve_extractor(given, context)
    assert function is not None
    return function("k", value, timestamp, NO_HEADERS, partition_time)


def test_the_default_is_built_into_the_source() -> None:
    for given in (None, FailOnInvalidTimestamp, FailOnInvalidTimestamp()):
        assert resolve_extractor(given, TaskContext()) is None


def test_skipping() -> None:
    assert extract(LogAndSkipOnInvalidTimestamp, 5) == 5
    assert extract(LogAndSkipOnInvalidTimestamp(), -5) == -5


def test_the_partitions_time() -> None:
    assert extract(UsePartitionTimeOnInvalidTimestamp, 5, partition_time=50) == 5
    assert extract(UsePartitionTimeOnInvalidTimestamp, -1, partition_time=50) == 50
    with pytest.raises(StreamsError, match="no earlier record of its partition has a valid one"):
        extract(UsePartitionTimeOnInvalidTimestamp, -1)


def test_the_wall_clock_is_that_of_the_task() -> None:
    assert extract(WallclockTimestampExtractor, 5) == 777


def test_a_function_sees_the_record_read() -> None:
    seen: list[Any] = []

    def extractor(record: Any, partition_time: int) -> int:
        seen.append((record.topic, record.partition, record.offset, record.key, record.value, record.timestamp))
        seen.append(partition_time)
        return 12

    assert extract(extractor, 5, partition_time=3, value="x") == 12
    assert seen == [("in", 2, 9, "k", "x", 5), 3]


def test_an_expression() -> None:
    assert extract(v.at, 5, value={"at": 42}) == 42
    assert extract(ts + 1, 5) == 6


@pytest.mark.parametrize("result", [None, "5", 5.0, True])
def test_what_is_no_timestamp(result: Any) -> None:
    with pytest.raises(StreamsError, match=r"not int milliseconds. Return milliseconds since 1970 as an int"):
        extract(lambda record, partition_time: result, 5)
    with pytest.raises(StreamsError, match=r"the timestamp extractor v\['at'\] returned|the timestamp extractor v.at"):
        extract(v.at, 5, value={"at": result})


def test_what_is_no_extractor() -> None:
    with pytest.raises(ConfigError, match="the timestamp extractor is 'record'"):
        resolve_extractor("record", TaskContext())


class TestInATopology:
    def times(self, extractor: Any, *values: Any, default: Any = None) -> list[int | None]:
        builder = StreamsBuilder()
        builder.stream("in", value_serde="json", timestamp_extractor=extractor).to("out", value_serde="json")
        config = {"default.timestamp.extractor": default} if default is not None else {}
        with TopologyTestDriver(builder, config, wall_clock=777) as driver:
            self.driver = driver
            for value, timestamp in values:
                driver.create_input_topic("in").pipe_input("k", value, timestamp)
            return [record.timestamp for record in driver.create_output_topic("out")]

    def test_a_negative_result_drops_the_record(self) -> None:
        assert self.times(v.at, ({"at": 3}, 0), ({"at": -3}, 0), ({"at": 5}, 0)) == [3, 5]
        assert self.driver.dropped_records == 1

    def test_the_settings_default_counts_where_a_source_names_none(self) -> None:
        assert self.times(None, (1, 5), default=WallclockTimestampExtractor) == [777]
        assert self.times(v, (1, 5), default=WallclockTimestampExtractor) == [1]

    def test_repartition_topics_keep_the_time(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in", timestamp_extractor=lambda record, _: 5).select_key(k).repartition().to("out")
        config = {"default.timestamp.extractor": WallclockTimestampExtractor}
        with TopologyTestDriver(builder, config, wall_clock=777) as driver:
            driver.create_input_topic("in").pipe_input("k", "v", 0)
            assert driver.create_output_topic("out").read_record().timestamp == 5

    def test_headers_are_there(self) -> None:
        builder = StreamsBuilder()
        at = lambda record, _: int(record.headers.last("at"))  # noqa: E731
        builder.stream("in", timestamp_extractor=at).to("out")
        with TopologyTestDriver(builder) as driver:
            driver.create_input_topic("in").pipe_input("k", "v", 0, Headers([("at", b"33")]))
            assert driver.create_output_topic("out").read_record().timestamp == 33
