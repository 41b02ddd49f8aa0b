"""The S3 sink and a server in a process of its own."""

from __future__ import annotations

import gzip
import io
import logging
import random
from typing import Any

import fastavro
import orjson
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from penstock.connect.api import CONNECTORS
from penstock.connect.errors import ConfigError, ConnectError, RetriableError
from tests.connect.storage.running_sink import RunningSink, order, record
from tests.servers.s3 import FIRST_BUCKET, SECRET, S3Server

FAST = {"s3.part.retries": "0"}


def s3(server: S3Server, bucket: str, format_class: str = "JsonFormat", **config: str) -> dict[str, str]:
    given = {key.replace("_", "."): value for key, value in config.items()}
    return {**server.config(bucket), "format.class": format_class, **FAST, **given}


def ids(server: S3Server, bucket: str) -> list[int]:
    objects = server.objects(bucket).values()
    return sorted(orjson.loads(line)["id"] for data in objects for line in data.splitlines())


@pytest.mark.parametrize(
    ("format_class", "extension"),
    [
        ("io.confluent.connect.s3.format.parquet.ParquetFormat", ".snappy.parquet"),
        ("io.confluent.connect.s3.format.avro.AvroFormat", ".avro"),
        ("io.confluent.connect.s3.format.json.JsonFormat", ".json.gz"),
        ("StringFormat", ".txt.gz"),
        ("OrcFormat", ".orc"),
        ("CsvFormat", ".csv.gz"),
    ],
)
def test_every_format(s3_server: S3Server, bucket: str, format_class: str, extension: str) -> None:
    config = s3(s3_server, bucket, format_class, s3_compression_type="gzip")
    with RunningSink("io.confluent.connect.s3.S3SinkConnector", config) as sink:
        assert sink.put(map(record, range(25))) == 20
    objects = s3_server.objects(bucket)
    assert list(objects) == [f"topics/orders/partition=0/orders+0+{n:010d}{extension}" for n in (0, 10)]
    data = io.BytesIO(objects[f"topics/orders/partition=0/orders+0+0000000010{extension}"])
    readers: dict[str, Any] = {
        ".snappy.parquet": lambda: pq.read_table(data).to_pylist(),
        ".avro": lambda: list(fastavro.reader(data)),
        ".json.gz": lambda: [orjson.loads(line) for line in gzip.decompress(data.read()).splitlines()],
        ".orc": lambda: pyarrow.orc.read_table(data).to_pylist(),
    }
    if extension in readers:
        assert readers[extension]() == [order(offset).to_dict() for offset in range(10, 20)]
    else:
        assert len(gzip.decompress(data.read()).splitlines()) in {10, 11}


def test_bytes(s3_server: S3Server, bucket: str) -> None:
    with RunningSink("S3Sink", s3(s3_server, bucket, "ByteArrayFormat", flush_size="2")) as sink:
        sink.put(record(o, b"%d" % o, None) for o in range(2))
    assert s3_server.objects(bucket) == {"topics/orders/partition=0/orders+0+0000000000.bin": b"0\n1\n"}


def test_a_task_that_begins_again_makes_the_same_objects(s3_server: S3Server, bucket: str) -> None:
    config = s3(
        s3_server, bucket, flush_size="40", **{"partitioner.class": "FieldPartitioner", "partition.field.name": "city"}
    )
    with RunningSink("S3Sink", config) as sink:
        sink.put(map(record, range(200)))
    whole = s3_server.objects(bucket)
    assert len(whole) == 15
    chance, other = random.Random(3), s3_server.create_bucket()
    config["s3.bucket.name"] = other
    committed = 0
    while committed < 200:
        with RunningSink("S3Sink", config) as sink:
            begin = committed
            for _ in range(chance.randint(1, 4)):  # then it is gone, and its last commit perhaps lost
                end = min(begin + chance.randint(1, 60), 200)
                safe, begin = sink.put(map(record, range(begin, end))), end
                committed = safe if chance.random() < 0.7 else committed
    assert s3_server.objects(other) == whole


def test_another_delimiter_tags_and_a_file_in_parts(s3_server: S3Server, bucket: str) -> None:
    config = s3(
        s3_server, bucket, "ByteArrayFormat", directory_delim="_", file_delim="-", s3_object_tagging="true",
        flush_size="3", topics_dir="lake",
    )  # fmt: skip
    noise = random.Random(1).randbytes(4 << 20)
    with RunningSink("S3Sink", {**config, "s3.part.size": str(5 << 20)}) as sink:
        sink.put(record(o, noise, None) for o in range(3))
    ((key, data),) = s3_server.objects(bucket).items()
    assert key == "lake_orders_partition=0_orders-0-0000000000.bin"
    assert data == b"\n".join([noise] * 3) + b"\n"
    client = s3_server.client()
    tags = {tag["Key"]: tag["Value"] for tag in client.get_object_tagging(Bucket=bucket, Key=key)["TagSet"]}
    assert tags == {"startOffset": "0", "endOffset": "2", "recordCount": "3"}


@pytest.mark.slow
def test_a_server_that_is_down_and_comes_back() -> None:
    with S3Server() as server:
        bucket = server.create_bucket()
        with RunningSink("S3Sink", s3(server, bucket)) as sink:
            assert sink.put(map(record, range(5))) == 0
            server.stop()
            for _ in range(2):
                with pytest.raises(RetriableError, match=f"The bucket {bucket} does not take topics/orders") as raised:
                    sink.put(map(record, range(5, 25)))
                assert SECRET not in str(raised.value)
            server.start()
            if bucket not in [found["Name"] for found in server.client().list_buckets()["Buckets"]]:
                server.client().create_bucket(Bucket=bucket)  # moto's server remembers nothing
            assert sink.put(map(record, range(5, 25))) == 20
        assert ids(server, bucket) == list(range(20))


@pytest.mark.slow
def test_a_server_that_accepts_and_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As when the network is cut: files wait, also when the clock completes them and no record comes."""
    monkeypatch.setattr("penstock.connect.connectors.storage.stores.s3._READ_SECONDS", 1)
    now = 0
    with S3Server() as server:
        bucket = server.create_bucket()
        config = s3(server, bucket, rotate_schedule_interval_ms="1000", timezone="UTC")
        with RunningSink("S3Sink", config, clock=lambda: now) as sink:
            assert sink.put(map(record, range(5))) == 0
            now = 2000
            server.pause()
            with caplog.at_level(logging.WARNING):
                assert sink.commit(5) == 0
            assert "Files of orders-0 cannot be written now" in caplog.text
            assert sink.task.wake_ms == 1000
            server.resume()
            assert sink.commit(5) == 5
        assert ids(server, bucket) == list(range(5))


def test_wrong_credentials_and_no_secret_in_what_is_said() -> None:
    with S3Server(checks_credentials=True) as server:
        config = s3(server, FIRST_BUCKET, aws_secret_access_key="hush-hush")
        with pytest.raises(
            ConnectError, match=r"The bucket first-bucket cannot be used.*403.*Correct the credentials"
        ) as raised:
            RunningSink("S3Sink", config).__enter__()
        assert not isinstance(raised.value, RetriableError)
        assert "hush-hush" not in str(raised.value)
        assert "hush-hush" not in str(RunningSink("S3Sink", config).task.settings)


def test_a_bucket_that_is_missing(s3_server: S3Server) -> None:
    with pytest.raises(ConnectError, match=r"The bucket nowhere cannot be used.*Create the bucket"):
        RunningSink("S3Sink", s3(s3_server, "nowhere")).__enter__()


def test_no_server_at_all(s3_server: S3Server, bucket: str) -> None:
    config = {**s3(s3_server, bucket), "store.url": "http://127.0.0.1:1"}
    with pytest.raises(RetriableError, match=r"Could not connect to the endpoint URL.*It is tried again"):
        RunningSink("S3Sink", config).__enter__()


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (
            {"s3.credentials.provider.class": "com.example.Provider"},
            "Classes of Java that give credentials cannot be used",
        ),
        ({"aws.secret.access.key": ""}, "belong together: one of them is missing"),
        ({"s3.part.size": "1000"}, "Value must be at least 5242880"),
        ({"s3.compression.type": "lzma"}, "String must be one of: none, gzip"),
    ],
)
def test_settings_that_do_not_fit(s3_server: S3Server, config: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        RunningSink("S3Sink", {**s3(s3_server, "b"), **config})


def test_the_connector_has_its_names() -> None:
    assert CONNECTORS.find("S3Sink") is CONNECTORS.find("io.confluent.connect.s3.S3SinkConnector")
