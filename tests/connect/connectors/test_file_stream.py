from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.connect.api import CONNECTORS, SinkConnector, SourceConnector, SourceRange, TopicPartition, connector_kind
from penstock.connect.connectors.file_stream_sink import FileStreamSinkConnector, FileStreamSinkTask
from penstock.connect.connectors.file_stream_source import FileStreamSourceConnector, FileStreamSourceTask
from penstock.connect.data import STRING_SCHEMA, SinkColumns, SinkRecord, TimestampType
from penstock.connect.errors import ConfigError, ConnectError
from penstock.connect.validation import ConnectorKind


class Offsets:
    """Offsets as a worker keeps them."""

    def __init__(self, offset: dict[str, Any] | None = None) -> None:
        self.known = offset

    def offset(self, partition: object) -> dict[str, Any] | None:
        return self.known


def sink_record(offset: int, value: Any, topic: str = "t", partition: int = 0) -> SinkRecord:
    return SinkRecord(
        topic, partition, None, None, STRING_SCHEMA, value, offset=offset,
        original_topic=topic, original_partition=partition, original_offset=offset,
    )  # fmt: skip


@pytest.mark.parametrize(
    "name", ["org.apache.kafka.connect.file.FileStreamSinkConnector", "FileStreamSinkConnector", "FileStreamSink"]
)
def test_connectors_are_found_by_the_names_kafka_gives_them(name: str) -> None:
    found = CONNECTORS.find(name)
    assert found is FileStreamSinkConnector
    assert connector_kind(found) is ConnectorKind.SINK


def test_every_known_connector_can_be_loaded_and_is_a_source_or_a_sink() -> None:
    for plugin in CONNECTORS:
        assert issubclass(CONNECTORS.find(plugin.java_name), (SourceConnector, SinkConnector))


def test_a_misspelled_class_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="Did you mean FileStreamSink"):
        CONNECTORS.find("FileStreamSnik")


def test_lines_become_records_with_kafkas_partition_and_offset(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_text("one\ntwo\n")
    task = FileStreamSourceTask({"file": str(path), "topic": "lines"})
    task.start()
    (planned,) = task.plan(Offsets())
    assert planned.partition == {"filename": str(path)}
    assert planned.end["position"] == 8
    records = list(task.read(planned))
    assert [(r.topic, r.key, r.value, r.value_schema) for r in records] == [
        ("lines", None, "one", STRING_SCHEMA),
        ("lines", None, "two", STRING_SCHEMA),
    ]
    assert records[0].source_partition == {"filename": str(path)}
    assert task.plan(Offsets(dict(planned.end))) == ()


def test_a_range_of_another_file_is_still_read(tmp_path: Path) -> None:
    old = tmp_path / "old.txt"
    old.write_text("from before\n")
    task = FileStreamSourceTask({"file": str(tmp_path / "new.txt"), "topic": "lines"})
    records = task.read(SourceRange({"filename": str(old)}, None, {"position": 12}))
    assert [r.value for r in records] == ["from before"]


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([({"filename": "f"}, {})], "Offset objects should either be null or contain the key 'position'"),
        ([({"filename": "f"}, {"position": "7"})], "expected to be a Long value"),
        ([({"filename": "f"}, {"position": -1})], "should be a non-negative value"),
        ([({"other": "f"}, {"position": 1})], "Partition objects should contain the key 'filename'"),
        ([(None, {"position": 1})], "Partition objects cannot be null"),
    ],
)
def test_offsets_that_cannot_be_set_are_refused_in_kafkas_words(offsets: Any, message: str) -> None:
    with pytest.raises(ConnectError, match=message):
        FileStreamSourceConnector.alter_offsets({"file": "f", "topic": "t"}, offsets)


def test_offsets_that_can_be_set(tmp_path: Path) -> None:
    config = {"file": "f", "topic": "t"}
    FileStreamSourceConnector.alter_offsets(config, [({"filename": "f"}, {"position": 1}), ({"x": 1}, None)])


def test_the_standard_input_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot read the standard input"):
        FileStreamSourceConnector({"topic": "t"})


_open: list[Sink] = []


@pytest.fixture(autouse=True)
def _close_all() -> Iterator[None]:
    yield
    while _open:
        _open.pop().task.stop()


class Sink:
    """A sink task on a file, as a worker drives it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.task = self._started()
        _open.append(self)

    def _started(self) -> FileStreamSinkTask:
        task = FileStreamSinkTask({"name": "sink", "file": str(self.path)})
        task.start()
        return task

    def batch(self, *records: SinkRecord) -> None:
        self.task.put(list(records))
        ends: dict[TopicPartition, int] = {}
        for record in records:
            assert record.topic is not None
            assert record.partition is not None
            ends[TopicPartition(record.topic, record.partition)] = record.offset + 1
        self.task.flush(ends)

    def die(self) -> None:
        """What stays of a process that was killed: files, and no locks."""
        self.task.stop()
        self.task = self._started()

    def lines(self) -> list[str]:
        return self.path.read_text().splitlines()


def test_values_become_lines(tmp_path: Path) -> None:
    sink = Sink(tmp_path / "out.txt")
    sink.batch(sink_record(0, "one"), sink_record(1, "two"))
    sink.task.put([SinkRecord("t", 0, value={"a": 1, "b": [True, None]}, offset=2, original_offset=2)])
    assert sink.lines() == ["one", "two", "{a=1, b=[true, null]}"]


def columns(offsets: list[int], values: list[Any]) -> SinkColumns:
    count = len(offsets)
    none: list[None] = [None] * count
    return SinkColumns("t", 0, offsets, none, none, none, values, none, [TimestampType.CREATE_TIME] * count)


def test_columns_become_the_same_lines_and_none_comes_twice(tmp_path: Path) -> None:
    sink = Sink(tmp_path / "out.txt")
    sink.task.put_columns(columns([0, 1], [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]))
    sink.task.put_columns(columns([2, 3, 5], [{"a": 3}, [True, None], "text"]))
    sink.task.flush({TopicPartition("t", 0): 6})
    written = ["{a=1, b=x}", "{a=2, b=y}", "{a=3}", "[true, null]", "text"]
    assert sink.lines() == written
    sink.die()
    sink.task.put_columns(columns([3, 5, 6], [[True, None], "text", {"a": 4}]))
    sink.task.put_columns(columns([7], [{"a": 5}]))
    assert sink.lines() == [*written, "{a=4}", "{a=5}"]


def test_a_batch_that_was_not_finished_leaves_nothing(tmp_path: Path) -> None:
    sink = Sink(tmp_path / "out.txt")
    sink.batch(sink_record(0, "one"))
    sink.task.put([sink_record(1, "two")])
    assert sink.lines() == ["one", "two"]
    sink.die()
    assert sink.lines() == ["one"]
    sink.batch(sink_record(1, "two"))
    assert sink.lines() == ["one", "two"]


def test_records_that_were_written_are_not_written_again(tmp_path: Path) -> None:
    sink = Sink(tmp_path / "out.txt")
    sink.batch(sink_record(0, "one"), sink_record(0, "other", partition=1))
    sink.die()
    sink.batch(sink_record(0, "one"), sink_record(0, "other", partition=1), sink_record(1, "two"))
    assert sink.lines() == ["one", "other", "two"]


def test_what_others_append_between_batches_stays(tmp_path: Path) -> None:
    sink = Sink(tmp_path / "out.txt")
    sink.batch(sink_record(0, "one"))
    with sink.path.open("a") as file:
        file.write("by hand\n")
    sink.die()
    sink.batch(sink_record(1, "two"))
    sink.die()
    assert sink.lines() == ["one", "by hand", "two"]


def test_a_file_that_was_removed_is_written_anew(tmp_path: Path) -> None:
    sink = Sink(tmp_path / "out.txt")
    sink.batch(sink_record(0, "one"))
    sink.task.stop()
    sink.path.unlink()
    again = Sink(sink.path)
    again.batch(sink_record(0, "one"))
    assert again.lines() == ["one"]


def test_offsets_that_were_reset_let_records_be_written_again(tmp_path: Path) -> None:
    sink = Sink(tmp_path / "out.txt")
    sink.batch(sink_record(0, "one"), sink_record(1, "two"))
    sink.task.stop()
    config = {"name": "sink", "file": str(sink.path)}
    FileStreamSinkConnector.alter_offsets(config, {("t", 0): 1})
    again = Sink(sink.path)
    again.batch(sink_record(0, "one"), sink_record(1, "two"))
    assert again.lines() == ["one", "two", "two"]
    again.task.stop()
    FileStreamSinkConnector.alter_offsets(config, {("t", 0): None})
    third = Sink(sink.path)
    third.batch(sink_record(0, "one"))
    assert third.lines() == ["one", "two", "two", "one"]


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    task = FileStreamSinkTask({"file": str(tmp_path / "missing" / "out.txt")})
    with pytest.raises(ConnectError, match=r"Couldn't find or create file .*missing/out.txt"):
        task.start()


def test_without_a_file_lines_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    task = FileStreamSinkTask({})
    task.start()
    task.put([sink_record(0, "one")])
    task.flush({})
    assert capsys.readouterr().out == "one\n"


def test_one_task_whatever_is_allowed(tmp_path: Path) -> None:
    assert len(FileStreamSinkConnector({"file": str(tmp_path / "x")}).task_configs(4)) == 1


def test_only_one_task_at_a_time_has_the_file(tmp_path: Path) -> None:
    sink = Sink(tmp_path / "out.txt")
    with (tmp_path / ".out.txt.sink.lock").open("r+") as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        sink.task.stop()
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
