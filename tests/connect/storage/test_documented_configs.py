"""The configurations of docs/connect/storage-sinks.md, tried: only addresses and sizes are replaced."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from penstock.connect.config.properties import parse_properties
from penstock.connect.data import INT64_SCHEMA, STRING_SCHEMA, SchemaBuilder, Struct
from tests.connect.storage.running_sink import RunningSink, record
from tests.servers.hdfs import HdfsServer
from tests.servers.s3 import S3Server

PAGE = Path(__file__).parents[3] / "docs" / "connect" / "storage-sinks.md"
EVENT = SchemaBuilder.struct().field("id", INT64_SCHEMA).field("country", STRING_SCHEMA).build()


def documented(name: str) -> dict[str, str]:
    """The configuration of that name."""
    blocks = re.findall(r"```properties\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    found = [parse_properties(block) for block in blocks]
    return next(config for config in found if config["name"] == name)


def sink(config: dict[str, str], **given: str) -> RunningSink:
    return RunningSink(config["connector.class"], {**config, **{key.replace("_", "."): v for key, v in given.items()}})


def event(offset: int, topic: str) -> Any:
    value = Struct(EVENT, {"id": offset, "country": ("NO", "SE")[offset % 2]})
    return record(offset, value, EVENT, topic=topic, original_topic=topic, timestamp=1_709_211_600_000 + offset)


@pytest.mark.slow
def test_the_folder(tmp_path: Path) -> None:
    config = documented("orders-to-folder")
    with sink(config, store_url=str(tmp_path)) as running:
        running.task.put([event(offset, "orders") for offset in range(100_000)])
    path = tmp_path / "topics/orders/partition=0/orders+0+0000000000+0000099999.snappy.parquet"
    assert pq.read_metadata(path).num_rows == 100_000
    assert pq.read_table(tmp_path / "topics/orders").num_rows == 100_000


def test_s3(s3_server: S3Server, bucket: str) -> None:
    config = {**documented("clicks-to-s3"), **s3_server.config(bucket)}
    with sink(config, flush_size="3") as running:
        running.task.put([event(offset, "clicks") for offset in range(4)])
    ((key, data),) = s3_server.objects(bucket).items()
    assert key == "topics/clicks/year=2024/month=02/day=29/hour=13/clicks+0+0000000000.json.gz"
    assert gzip.decompress(data).startswith(b'{"id":0,"country":"NO"}\n{"id":1,')


@pytest.mark.slow
def test_hdfs(hdfs_server: HdfsServer) -> None:
    folder = hdfs_server.new_folder()
    config = {**documented("events-to-hdfs"), **hdfs_server.config(folder)}
    with sink(config, flush_size="4") as running:
        running.task.put([event(offset, "events") for offset in range(4)])
    assert list(hdfs_server.files(folder)) == [
        "topics/events/country=NO/events+0+0000000000+0000000002.avro",
        "topics/events/country=SE/events+0+0000000001+0000000003.avro",
    ]
