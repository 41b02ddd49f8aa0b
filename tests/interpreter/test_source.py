"""Sources: records one by one, prepared and processed apart, or column by column, with the same result."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import LogAndContinueExceptionHandler, Serdes, StreamsError
from penstock.interpreter.config import TaskConfig
from penstock.interpreter.context import Saved, TaskContext
from penstock.interpreter.guards import Guards
from penstock.interpreter.punctuation import Cancellable, Schedule
from penstock.interpreter.source import SourcePartition
from penstock.interpreter.timestamps import resolve_extractor

ROWS: list[tuple[int, int, Any, Any]] = [
    (7, 5, b"a", b"1"),
    (8, 3, None, b"2"),
    (9, 9, b"b", None),
    (10, 8, b"c", b"3"),
]


class Read:
    """One partition of a source, and what it forwards with the context of that moment."""

    def __init__(self, extractor: Any = None, **settings: Any) -> None:
        self.context = TaskContext(task_id="0_2", system_time=lambda: 777)
        self.seen: list[tuple[Any, ...]] = []
        self.fired: list[int] = []
        schedule = Schedule(lambda entry, now: self.fired.append(now))
        schedule.add(0, Cancellable("node", 4, print))
        self.partition_time = Saved(-1)
        config = TaskConfig(**settings)
        self.letters: list[Any] = []
        self.source = SourcePartition(
            node="read",
            topic="in",
            partition=2,
            key_serde=Serdes.string(),
            value_serde=Serdes.string(),
            extract=resolve_extractor(extractor, self.context),
            partition_time=self.partition_time,
            context=self.context,
            guards=Guards(config, self.context, self.letters.append),
            forward=self._forward,
            after=schedule,
        )

    def _forward(self, key: Any, value: Any, timestamp: int) -> None:
        c = self.context
        place = (c.topic, c.partition, c.offset, c.timestamp, c.stream_time, c.raw_key, c.raw_value, c.headers)
        self.seen.append((key, value, timestamp, *place))

    def one_by_one(self, rows: list[Any], headers: Any = None) -> Any:
        self.source.enter()
        for row in rows:
            offset, timestamp, key, value = row
            self.source.accept(offset, timestamp, key, value, headers)
        return self

    def prepared(self, rows: list[Any], headers: Any = None) -> Any:
        for row in rows:
            offset, timestamp, key, value = row
            record = self.source.prepare(offset, timestamp, key, value, headers)
            if record is not None:
                self.source.process(record)
        return self

    def columns(self, rows: list[Any], headers: Any = None) -> Any:
        offsets, timestamps, keys, values = (list(column) for column in zip(*rows, strict=True))
        self.source.accept_columns(offsets, timestamps, keys, values, headers and [headers] * len(rows))
        return self

    @property
    def result(self) -> Any:
        clocks = self.partition_time.value, self.context.stream_time
        return self.seen, self.fired, clocks, self.context.dropped, self.letters


WAYS = (Read.one_by_one, Read.prepared, Read.columns)


@pytest.mark.parametrize("way", WAYS)
def test_a_record_and_its_context(way: Any) -> None:
    read = way(Read(), ROWS[:2])
    assert read.seen == [
        ("a", "1", 5, "in", 2, 7, 5, 5, b"a", b"1", ()),
        (None, "2", 3, "in", 2, 8, 3, 5, None, b"2", ()),
    ]
    assert (read.partition_time.value, read.context.stream_time) == (5, 5)


@pytest.mark.parametrize("headers", [None, [("h", b"1")]])
@pytest.mark.parametrize("extractor", [None, lambda record, partition_time: record.timestamp * 2])
def test_all_ways_give_the_same(headers: Any, extractor: Any) -> None:
    results = [way(Read(extractor), ROWS, headers).result for way in WAYS]
    assert results[0] == results[1] == results[2]
    assert results[0][0][0][-1] == tuple(headers or ())


@pytest.mark.parametrize("way", WAYS)
def test_punctuators_run_after_the_record_that_moved_the_time(way: Any) -> None:
    read = way(Read(), ROWS)
    assert read.fired == [5, 9]


@pytest.mark.parametrize("way", WAYS)
def test_a_record_that_cannot_be_read_is_skipped_if_the_handler_says_so(way: Any) -> None:
    rows = [ROWS[0], (8, 30, b"a", b"\xff"), ROWS[2]]
    read = way(Read(deserialization_handler=LogAndContinueExceptionHandler(), dead_letter_topic="dead"), rows)
    assert [(row[0], row[1]) for row in read.seen] == [("a", "1"), ("b", None)]
    assert read.context.dropped == {"deserialization error": 1}
    assert [(letter.value, letter.timestamp) for letter in read.letters] == [(b"\xff", 30)]
    assert read.context.stream_time == 9  # it does not move the time


@pytest.mark.parametrize("way", WAYS)
def test_without_a_handler_it_ends_the_task_after_the_records_before_it(way: Any) -> None:
    read = Read()
    with pytest.raises(StreamsError, match=r"node read, task 0_2, topic in, partition 2, offset 8"):
        way(read, [ROWS[0], (8, 30, b"a", b"\xff"), ROWS[2]])
    assert len(read.seen) == 1


@pytest.mark.parametrize("way", WAYS)
def test_negative_timestamps(way: Any) -> None:
    rows = [ROWS[0], (8, -1, b"a", b"x"), ROWS[2]]
    read = Read()
    with pytest.raises(StreamsError, match="the record has the negative timestamp -1"):
        way(read, rows)
    assert len(read.seen) == 1

    dropping = way(Read(lambda record, partition_time: record.timestamp), rows)
    assert [row[1] for row in dropping.seen] == ["1", None]
    assert dropping.context.dropped == {"negative timestamp": 1}


def test_an_extractor_that_fails_names_the_source() -> None:
    def broken(record: Any, partition_time: int) -> int:
        raise KeyError("at")

    with pytest.raises(StreamsError, match=r"KeyError: 'at' \(node read, task 0_2, topic in, partition 2, offset 7"):
        Read(broken).one_by_one(ROWS)


def test_no_records_change_nothing() -> None:
    read = Read()
    read.source.accept_columns([], [], [], [], None)
    assert read.result == ([], [], (-1, -1), {}, [])
