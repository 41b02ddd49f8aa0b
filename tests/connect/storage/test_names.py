"""Names that a store cannot have: it is the record that is refused, before anything of it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.connect.connectors.storage.partitioners.partitioner import PartitionError
from penstock.connect.connectors.storage.stores.hdfs import HdfsStore
from penstock.connect.connectors.storage.stores.webhdfs import WebHdfs
from penstock.connect.errors import ConfigError
from tests.connect.storage.running_sink import FIRST_TIME, RunningSink, files, local, order, record
from tests.connect.storage.test_hdfs import hdfs, real
from tests.connect.storage.test_recovery import ids
from tests.connect.storage.test_s3 import s3
from tests.servers.hdfs import USER, HdfsServer
from tests.servers.s3 import S3Server

BY_CITY = {"partitioner.class": "FieldPartitioner", "partition.field.name": "city"}


def test_a_value_too_long_for_a_folder_is_refused_and_does_no_harm(tmp_path: Path) -> None:
    config = {**local(tmp_path, flush_size="2"), **BY_CITY}
    records = [record(0), record(1, order(1, city="x" * 251)), record(2, order(2, city="ø" * 126)), record(3)]
    for given in (records[:3], records):  # again after a restart
        with RunningSink("FileSystemSink", config, tolerant=True) as sink:
            sink.put(given)
            assert [offset for offset, _ in sink.reports.found] == [1, 2]
            assert "of its path has 256 bytes, and 255 are the most" in sink.reports.found[0][1]
            assert "of its path has 257 bytes" in sink.reports.found[1][1]
    assert ids(tmp_path) == [0, 3]
    with (
        RunningSink("FileSystemSink", config) as sink,
        pytest.raises(PartitionError, match=r'There can be no file for the record: the part "city=xxx.*shorten'),
    ):
        sink.put([record(4, order(4, city="x" * 300))])
    with RunningSink("FileSystemSink", config) as sink:  # the longest that fit
        assert sink.put([record(4, order(4, city="x" * 250)), record(5, order(5, city="ø" * 125))]) == 6
    assert ids(tmp_path) == [0, 3, 4, 5]


def test_a_topic_too_long_for_the_name_of_a_file(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path, flush_size="1"), tolerant=True) as sink:
        sink.task.put([record(0, original_topic="t" * 226)])
        assert sink.reports.found == []
        sink.task.put([record(0, original_topic="t" * 249)])
        assert "of its path has 278 bytes" in sink.reports.found[0][1]
    assert len(files(tmp_path)) == 1


def test_a_path_too_long_as_a_whole(tmp_path: Path) -> None:
    fields = [f"f{number}" for number in range(17)]
    config = {**local(tmp_path, flush_size="1"), **BY_CITY, "partition.field.name": ",".join(fields)}
    with RunningSink("FileSystemSink", config, tolerant=True) as sink:
        sink.put([record(0, dict.fromkeys(fields, "x" * 240), None), record(1, dict.fromkeys(fields, "x" * 99), None)])
        assert [offset for offset, _ in sink.reports.found] == [0]
        assert "bytes, and 4095 are the most" in sink.reports.found[0][1]
    assert len(files(tmp_path)) == 1


def test_among_records_that_are_divided_by_time(tmp_path: Path) -> None:
    config = local(
        tmp_path, flush_size="10", partitioner_class="HourlyPartitioner", locale="en", timezone="UTC",
        timestamp_extractor="Record", rotate_interval_ms="1000",
    )  # fmt: skip
    times = (0, 5000, 500, 1000)
    records = [
        record(offset, topic="t" * 256 if offset == 1 else "orders", timestamp=FIRST_TIME + millis)
        for offset, millis in enumerate(times)
    ]
    with RunningSink("FileSystemSink", config, tolerant=True) as sink:
        assert sink.put(records) == 3
        assert [offset for offset, _ in sink.reports.found] == [1]
    assert ids(tmp_path) == [0, 2]


def test_a_key_too_long_for_s3(s3_server: S3Server, bucket: str) -> None:
    config = {**s3(s3_server, bucket, flush_size="2"), **BY_CITY}
    values = ["12:30", "x" * 981, "x" * 980]
    with RunningSink("S3Sink", config, tolerant=True) as sink:
        assert sink.put([record(o, order(o, city=value)) for o, value in enumerate(values)]) == 3
        assert [offset for offset, _ in sink.reports.found] == [1]
        assert "its key has 1025 bytes, and 1024 are the most" in sink.reports.found[0][1]
    short, long = sorted(s3_server.objects(bucket), key=len)
    assert short == "topics/orders/city=12:30/orders+0+0000000000.json"
    assert len(long) == 1024


def test_a_folder_keeps_colons(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", {**local(tmp_path, flush_size="1"), **BY_CITY}) as sink:
        sink.put([record(0, order(0, city="12:30"))])
    assert list(files(tmp_path)) == ["orders/city=12:30/orders+0+0000000000+0000000000.json"]


@real
def test_what_hdfs_cannot_have_in_names(hdfs_server: HdfsServer) -> None:
    folder = hdfs_server.new_folder()
    config = {
        **hdfs(hdfs_server, folder, flush_size="1"),
        **BY_CITY,
        "partition.field.name": "a,b",
        "partition.field.format.path": "false",
    }
    values = [("12:30", "x"), ("y" * 256, "x"), ("", "x"), ("æ" * 127, "x")]
    with RunningSink("HdfsSink", config, tolerant=True) as sink:
        assert sink.put(record(o, {"a": a, "b": b}, None) for o, (a, b) in enumerate(values)) == 4
        # An empty part is nothing but two slashes, which a namenode refuses.
        assert [offset for offset, _ in sink.reports.found] == [1, 2]
        assert sink.put([record(4, {"a": "Z", "b": "::"}, None, topic="a:b")]) == 5
    store = HdfsStore(WebHdfs([hdfs_server.url], USER), folder)
    for offset, path in ((0, "orders/12%3A30/x"), (3, f"orders/{'æ' * 127}/x"), (4, "a%3Ab/Z/%3A%3A")):
        assert store.names(f"topics/{path}") == [f"orders+0+000000000{offset}+000000000{offset}.json"]


@pytest.mark.parametrize("key", ["topics.dir", "logs.dir", "file.delim", "format.bytearray.extension"])
def test_colons_in_settings_of_hdfs(key: str) -> None:
    with pytest.raises(ConfigError, match=f"for configuration {key}: Names in HDFS cannot have a colon"):
        RunningSink("HdfsSink", {"hdfs.url": "hdfs://h", key: "a:b"})
