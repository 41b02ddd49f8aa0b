"""The HDFS sink and a real HDFS: a namenode and a datanode."""

from __future__ import annotations

import io
import random
from typing import Any

import fastavro
import orjson
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from penstock.connect.api import CONNECTORS
from penstock.connect.connectors.storage.hdfs_sink import namenodes
from penstock.connect.connectors.storage.stores.hdfs import HdfsStore
from penstock.connect.connectors.storage.stores.webhdfs import WebHdfs
from penstock.connect.errors import ConfigError, ConnectError, RetriableError
from tests.connect.storage.running_sink import RunningSink, order, record
from tests.servers.hdfs import USER, HdfsServer

real = pytest.mark.slow
HDFS = "io.confluent.connect.hdfs.HdfsSinkConnector"


def hdfs(server: HdfsServer, folder: str, format_class: str = "JsonFormat", **config: str) -> dict[str, str]:
    given = {key.replace("_", "."): value for key, value in config.items()}
    return {**server.config(folder), "format.class": format_class, **given}


def ids(server: HdfsServer, folder: str) -> list[int]:
    return sorted(orjson.loads(line)["id"] for data in server.files(folder).values() for line in data.splitlines())


@real
@pytest.mark.parametrize(
    ("format_class", "extension"),
    [
        ("io.confluent.connect.hdfs.parquet.ParquetFormat", ".snappy.parquet"),
        ("io.confluent.connect.hdfs.avro.AvroFormat", ".avro"),
        ("io.confluent.connect.hdfs3.json.JsonFormat", ".json"),
        ("io.confluent.connect.hdfs.orc.OrcFormat", ".orc"),
        ("io.confluent.connect.hdfs.string.StringFormat", ".txt"),
    ],
)
def test_every_format(hdfs_server: HdfsServer, format_class: str, extension: str) -> None:
    folder = hdfs_server.new_folder()
    with RunningSink(HDFS, hdfs(hdfs_server, folder, format_class)) as sink:
        assert sink.put(map(record, range(25))) == 20
    files = hdfs_server.files(folder)
    first = "topics/orders/partition=0/orders+0"
    assert list(files) == [f"{first}+{n:010d}+{n + 9:010d}{extension}" for n in (0, 10)]
    data = io.BytesIO(files[f"{first}+0000000010+0000000019{extension}"])
    readers: dict[str, Any] = {
        ".snappy.parquet": lambda: pq.read_table(data).to_pylist(),
        ".avro": lambda: list(fastavro.reader(data)),
        ".json": lambda: [orjson.loads(line) for line in data.readlines()],
        ".orc": lambda: pyarrow.orc.read_table(data).to_pylist(),
    }
    if extension in readers:
        assert readers[extension]() == [order(offset).to_dict() for offset in range(10, 20)]
    else:
        assert len(data.readlines()) == 10


@real
def test_tasks_that_come_and_go(hdfs_server: HdfsServer) -> None:
    folder, chance, committed = hdfs_server.new_folder(), random.Random(5), 0
    config = hdfs(
        hdfs_server,
        folder,
        flush_size="40",
        **{"partitioner.class": "FieldPartitioner", "partition.field.name": "city"},
    )
    while committed < 120:
        with RunningSink("HdfsSink", config) as sink:
            begin = committed
            for _ in range(chance.randint(1, 3)):
                end = min(begin + chance.randint(1, 50), 120)
                safe, begin = sink.put(map(record, range(begin, end))), end
                committed = safe if chance.random() < 0.6 else committed
    assert ids(hdfs_server, folder) == list(range(120))
    assert HdfsStore(WebHdfs([hdfs_server.url], USER), folder).names("topics/+tmp/archive/orders/0") == []


@real
def test_a_task_that_was_replaced_writes_nothing_more(hdfs_server: HdfsServer) -> None:
    folder = hdfs_server.new_folder()
    with RunningSink("HdfsSink", hdfs(hdfs_server, folder)) as old:
        old.put(map(record, range(15)))
        with RunningSink("HdfsSink", hdfs(hdfs_server, folder, flush_size="17")) as new:
            new.put(map(record, range(9)))
            with pytest.raises(ConnectError, match="Another task writes to logs/orders/0/archive"):
                old.put(map(record, range(15, 20)))
            new.put(map(record, range(9, 27)))
    assert ids(hdfs_server, folder) == list(range(27))


@real
def test_offsets_are_set_and_forgotten(hdfs_server: HdfsServer) -> None:
    folder = hdfs_server.new_folder()
    config = {"name": "archive", "topics": "orders", "flush.size": "10", **hdfs(hdfs_server, folder)}
    connector: Any = CONNECTORS.find("HdfsSink")
    with RunningSink("HdfsSink", config) as sink:
        sink.put(map(record, range(20)))
    connector.reset_offsets(config)
    with RunningSink("HdfsSink", config) as sink:
        assert sink.put(map(record, range(10))) == 10
    assert ids(hdfs_server, folder) == list(range(20))


@real
def test_a_server_that_does_not_answer_for_a_while(hdfs_server: HdfsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.connect.connectors.storage.stores.webhdfs._TIMEOUT_SECONDS", (1, 1))
    folder = hdfs_server.new_folder()
    with RunningSink("HdfsSink", hdfs(hdfs_server, folder)) as sink:
        assert sink.put(map(record, range(5))) == 0
        hdfs_server.pause()
        try:
            with pytest.raises(RetriableError, match=r"cannot be reached.*It is tried again"):
                sink.put(map(record, range(5, 25)))
        finally:
            hdfs_server.resume()
        monkeypatch.undo()
        assert sink.put(map(record, range(5, 25))) == 20
    assert ids(hdfs_server, folder) == list(range(20))


@real
def test_a_user_who_may_not_write(hdfs_server: HdfsServer) -> None:
    folder = hdfs_server.new_folder()
    with RunningSink("HdfsSink", hdfs(hdfs_server, folder)):
        pass
    config = {**hdfs(hdfs_server, folder), "hdfs.user": "stranger"}
    with (
        RunningSink("HdfsSink", config) as sink,
        pytest.raises(ConnectError, match=r"AccessControlException.*hdfs.user"),
    ):
        sink.put(map(record, range(20)))


def test_no_namenode_can_be_reached() -> None:
    config = {"hdfs.url": "webhdfs://127.0.0.1:1,127.0.0.1:2/lake"}
    reason = r"http://127.0.0.1:1 cannot be reached.*refused.*http://127.0.0.1:2 cannot be reached"
    with pytest.raises(RetriableError, match=reason):
        RunningSink("HdfsSink", config).__enter__()


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({}, "needs hdfs.url"),
        ({"hdfs.url": "s3://x"}, "Not one of hdfs, webhdfs"),
        ({"hdfs.url": "webhdfs://h:x/"}, "Port could not be cast"),
        ({"hdfs.url": "hdfs://h", "hive.integration": "true"}, "tables in Hive are not made"),
        ({"hdfs.url": "hdfs://h", "hdfs.authentication.kerberos": "true"}, "Kerberos is not supported"),
        ({"hdfs.url": "hdfs://h", "directory.delim": "_"}, "directory.delim must be /"),
    ],
)
def test_settings_that_do_not_fit(config: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        RunningSink("Hdfs3Sink", config)


def test_addresses() -> None:
    settings = {"hdfs.url": "", "store.url": "swebhdfs://a,b:1/x/y", "hdfs.http.port": 9870}
    assert namenodes(settings) == (["https://a:9870", "https://b:1"], "/x/y")
