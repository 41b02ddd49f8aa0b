from __future__ import annotations

import random
from pathlib import Path

import orjson
import pytest

from penstock.connect.api import TopicPartition
from penstock.connect.errors import ConfigError
from tests.connect.storage.running_sink import FIRST_TIME, RunningSink, files, local, order, record

HOURLY = {
    "partitioner.class": "HourlyPartitioner",
    "locale": "en",
    "timezone": "UTC",
    "timestamp.extractor": "Record",
    "flush.size": "1000000",
}
BY_CITY = {"partitioner.class": "FieldPartitioner", "partition.field.name": "city"}


def offsets(folder: Path) -> list[str]:
    """The first and last offset in the name of each file."""
    return sorted("-".join(str(int(part)) for part in name.split("+")[2:4]) for name in stems(folder))


def stems(folder: Path) -> list[str]:
    return [path.rpartition("/")[2].partition(".")[0] for path in files(folder)]


def test_by_records(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        assert sink.put(map(record, range(7))) == 0
        assert sink.put(map(record, range(7, 25))) == 20
        assert sink.put(map(record, range(25, 30))) == 30
    assert offsets(tmp_path) == ["0-9", "10-19", "20-29"]


def test_records_count_over_all_folders(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", {**local(tmp_path, flush_size="6"), **BY_CITY}) as sink:
        assert sink.put(map(record, range(8))) == 6
    assert list(files(tmp_path)) == [
        "orders/city=Bergen/orders+0+0000000001+0000000004.json",
        "orders/city=Oslo/orders+0+0000000000+0000000003.json",
        "orders/city=null/orders+0+0000000002+0000000005.json",
    ]


def test_partitions_are_apart(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path, flush_size="3")) as sink:
        sink.task.put([record(o, original_partition=p) for p in (0, 1) for o in range(4)])
        ends = {TopicPartition("orders", p): 4 for p in (0, 1)}
        assert sink.task.pre_commit(ends) == dict.fromkeys(ends, 3)
    assert sorted(stems(tmp_path)) == ["orders+0+0000000000+0000000002", "orders+1+0000000000+0000000002"]


def test_records_of_two_topics_in_one_folder_have_files_of_their_own(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path, flush_size="1")) as sink:
        sink.task.put([record(0, topic="all"), record(0, topic="all", original_topic="returns")])
    assert list(files(tmp_path)) == [
        "all/partition=0/orders+0+0000000000+0000000000.json",
        "all/partition=0/returns+0+0000000000+0000000000.json",
    ]


def test_by_time_of_records(tmp_path: Path) -> None:
    config = {**local(tmp_path), **HOURLY, "rotate.interval.ms": "60000"}
    with RunningSink("FileSystemSink", config) as sink:
        assert sink.put(record(o) for o in range(130)) == 120
    assert offsets(tmp_path) == ["0-59", "60-119"]


def test_by_time_of_records_a_record_of_another_folder_completes_files(tmp_path: Path) -> None:
    config = {**local(tmp_path), **HOURLY, "rotate.interval.ms": "3600000"}
    times = [0, 1, 3_000_000, 0, 5_000_000]
    with RunningSink("FileSystemSink", config) as sink:
        assert sink.put(record(o, timestamp=FIRST_TIME + time) for o, time in enumerate(times)) == 4
    # 1,700,000,000,000 is 22:13:20: the third is in the next hour already
    assert offsets(tmp_path) == ["0-1", "2-2", "3-3"]


def wake_ms(sink: RunningSink) -> int | None:
    return sink.task.wake_ms


def test_by_the_clock(tmp_path: Path) -> None:
    now = FIRST_TIME
    config = {**local(tmp_path), "rotate.schedule.interval.ms": "60000", "timezone": "UTC", "flush.size": "1000"}
    with RunningSink("FileSystemSink", config, clock=lambda: now) as sink:
        assert wake_ms(sink) is None
        assert sink.put(map(record, range(5))) == 0
        assert wake_ms(sink) == 30_000  # sooner than its process would be ended
        now += 39_000  # 20 seconds past the minute when it began
        assert sink.commit(5) == 0
        assert wake_ms(sink) == 1000
        now += 1000
        assert sink.commit(5) == 5
        assert wake_ms(sink) is None
        assert sink.put(map(record, range(5, 7))) == 5
        now += 60_000
        assert sink.put([record(7)]) == 7
    assert offsets(tmp_path) == ["0-4", "5-6"]


def test_the_clock_needs_a_zone(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"rotate.schedule.interval.ms needs timezone"):
        RunningSink("FileSystemSink", local(tmp_path, rotate_schedule_interval_ms="1000"))


@pytest.mark.parametrize("format_class", ["JsonFormat", "ParquetFormat", "AvroFormat"])
def test_by_bytes_and_always_at_the_same_record(tmp_path: Path, format_class: str) -> None:
    found = []
    for seed in (1, 2, 3):
        folder = tmp_path / str(seed)
        config = local(folder, format_class, flush_size="100000", rotate_file_bytes="30000")
        chance, begin = random.Random(seed), 0
        with RunningSink("FileSystemSink", config) as sink:
            while begin < 9_000:
                end = min(begin + chance.randint(1, 2500), 9_000)
                sink.put(map(record, range(begin, end)))
                begin = end
        found.append(offsets(folder))
    assert len(found[0]) > 1
    assert found[0] == found[1] == found[2]


def test_too_many_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.connect.connectors.storage.partition_writer.MAX_OPEN_FILES", 20)
    config = {**local(tmp_path, flush_size="100000"), **BY_CITY}
    with RunningSink("FileSystemSink", config) as sink:
        assert sink.put(record(o, order(o, city=f"c{o % 21}")) for o in range(30)) == 20
    assert len(files(tmp_path)) == 20


def test_nothing_is_divided_by_how_records_come(tmp_path: Path) -> None:
    """The same files for any division into batches: that is what makes S3 exactly once."""
    config = {**HOURLY, "flush.size": "150", "rotate.interval.ms": "40000"}
    found = []
    for seed in range(3):
        chance, begin, folder = random.Random(seed), 0, tmp_path / str(seed)
        with RunningSink("FileSystemSink", {**local(folder), **config}) as sink:
            while begin < 1500:
                end = min(begin + chance.randint(1, 300), 1500)
                sink.put(record(o, timestamp=FIRST_TIME + (o * 7919) % 60_000 + o * 100) for o in range(begin, end))
                begin = end
        found.append(files(folder))
    assert found[0] == found[1] == found[2]
    ids = [orjson.loads(line)["id"] for data in found[0].values() for line in data.splitlines()]
    assert len(ids) == len(set(ids)) > 1300
