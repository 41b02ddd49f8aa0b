from __future__ import annotations

import io
from pathlib import Path

import fastavro
import orjson
import pyarrow.parquet as pq
import pytest

from penstock.connect.data import INT64_SCHEMA, STRING_SCHEMA, ConnectHeaders, Header, Struct
from penstock.connect.errors import ConfigError, DataError
from tests.connect.storage.running_sink import ORDER, RunningSink, files, local, order, record

BAD = Struct.of(ORDER, [None, "Oslo", 1.0])  # what no converter should give, and some do
WORSE = Struct.of(ORDER, ["seven", "Oslo", 1.0])


@pytest.mark.parametrize("format_class", ["ParquetFormat", "AvroFormat", "JsonFormat", "OrcFormat", "CsvFormat"])
def test_a_bad_record_is_reported_and_the_others_are_written(tmp_path: Path, format_class: str) -> None:
    bad = BAD if format_class == "JsonFormat" else WORSE
    with RunningSink("FileSystemSink", local(tmp_path, format_class, flush_size="6"), tolerant=True) as sink:
        values = [order(0), bad, order(2), BAD, order(4), order(5)]
        assert sink.put(record(o, value, ORDER) for o, value in enumerate(values)) == 6
        assert [offset for offset, _ in sink.reports.found] == [1, 3]
        assert "id" in sink.reports.found[0][1]
    ((path, data),) = files(tmp_path).items()
    assert "orders+0+0000000000+0000000005" in path
    if format_class == "ParquetFormat":
        assert pq.read_table(io.BytesIO(data)).column("id").to_pylist() == [0, 2, 4, 5]


def test_a_bad_record_fails_the_task_if_errors_are_not_tolerated(tmp_path: Path) -> None:
    with (
        RunningSink("FileSystemSink", local(tmp_path, "ParquetFormat")) as sink,
        pytest.raises(DataError, match='null for the field "id", which is required'),
    ):
        sink.put([record(0), record(1, BAD, ORDER)])


def test_nothing_but_bad_records_makes_no_file(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path, "AvroFormat", flush_size="2"), tolerant=True) as sink:
        assert sink.put(record(o, BAD, ORDER) for o in range(4)) == 4
        assert len(sink.reports.found) == 4
    assert files(tmp_path) == {}


def test_records_without_place_are_reported(tmp_path: Path) -> None:
    config = {
        **local(tmp_path),
        "partitioner.class": "FieldPartitioner",
        "partition.field.name": "city",
        "flush.size": "2",
    }
    values = [{"city": "Oslo"}, {"town": "Oslo"}, {"city": 1.5}, {"city": "Oslo"}]
    with RunningSink("FileSystemSink", config, tolerant=True) as sink:
        assert sink.put(record(o, value, None) for o, value in enumerate(values)) == 4
        assert [offset for offset, _ in sink.reports.found] == [1, 2]
        assert 'no field "city"' in sink.reports.found[0][1]
    assert list(files(tmp_path)) == ["orders/city=Oslo/orders+0+0000000000+0000000003.json"]


def test_null_values_fail_unless_told_otherwise(tmp_path: Path) -> None:
    nulls = [record(0), record(1, None, None), record(2)]
    with (
        RunningSink("FileSystemSink", local(tmp_path / "a")) as sink,
        pytest.raises(DataError, match="The value is null"),
    ):
        sink.put(nulls)
    config = local(tmp_path / "b", behavior_on_null_values="ignore", flush_size="2")
    with RunningSink("FileSystemSink", config) as sink:
        assert sink.put(nulls) == 3
        assert sink.put([record(3, None, None)]) == 4
    assert list(files(tmp_path / "b")) == ["orders/partition=0/orders+0+0000000000+0000000002.json"]


def test_keys_and_headers_beside_values_and_keys_of_nulls(tmp_path: Path) -> None:
    config = local(
        tmp_path,
        store_kafka_keys="true",
        store_kafka_headers="true",
        behavior_on_null_values="write",
        headers_format_class="JsonFormat",
        flush_size="3",
    )
    headers = ConnectHeaders([Header("trace", 7, INT64_SCHEMA)])
    records = [
        record(0, key="a", key_schema=STRING_SCHEMA, headers=headers),
        record(1, None, None, key="b", key_schema=STRING_SCHEMA),
        record(2, key="c", key_schema=STRING_SCHEMA),
        record(3, key="d", key_schema=STRING_SCHEMA),
    ]
    with RunningSink("FileSystemSink", config) as sink:
        assert sink.put(records) == 3
    found = files(tmp_path)
    first = "orders/partition=0/orders+0+0000000000+0000000002"
    gone = "orders/tombstone/orders+0+0000000001+0000000001"
    assert set(found) == {
        *(f"{first}{end}" for end in (".json", ".keys.avro", ".headers.json")),
        *(f"{gone}{end}" for end in (".keys.avro", ".headers.json")),
    }
    assert list(fastavro.reader(io.BytesIO(found[f"{first}.keys.avro"]))) == ["a", "c"]
    assert list(fastavro.reader(io.BytesIO(found[f"{gone}.keys.avro"]))) == ["b"]
    lines = found[f"{first}.headers.json"].splitlines()
    assert [orjson.loads(line) for line in lines] == [[{"key": "trace", "value": "7"}], []]


def test_keys_need_keys(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path, store_kafka_keys="true"), tolerant=True) as sink:
        sink.put([record(0)])
        assert "AvroFormat needs values with a schema" in sink.reports.found[0][1]
        sink.put([record(1, key_schema=STRING_SCHEMA)])
        assert "Key cannot be null" in sink.reports.found[1][1]
    with pytest.raises(ConfigError, match=r"behavior.on.null.values=write needs store.kafka.keys=true"):
        RunningSink("FileSystemSink", local(tmp_path, behavior_on_null_values="write"))
