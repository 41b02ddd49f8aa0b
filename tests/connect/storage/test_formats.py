from __future__ import annotations

import base64
import gzip
import io
from pathlib import Path
from typing import Any

import fastavro
import orjson
import pyarrow.csv
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from penstock.connect.connectors.storage.formats.registry import FORMATS
from penstock.connect.data import BYTES_SCHEMA, STRING_SCHEMA, SchemaBuilder, Struct
from penstock.connect.errors import ConfigError, DataError
from tests.connect.storage.running_sink import (
    EVERYTHING,
    ORDER,
    WITH_TIME,
    RunningSink,
    everything,
    expected,
    files,
    local,
    order,
    record,
)

FOLDER = "orders/partition=0"


def written(folder: Path, values: list[Any], schema: Any, **config: str) -> tuple[str, bytes]:
    """The one file that a sink writes of values."""
    with RunningSink("FileSystemSink", local(folder, flush_size=str(len(values)), **config)) as sink:
        records = [record(offset, value, schema) for offset, value in enumerate(values)]
        assert sink.put(records[:3]) == 0
        assert sink.put(records[3:]) == len(values)
    ((path, data),) = files(folder).items()
    return path, data


@pytest.mark.parametrize(
    ("codec", "extension"),
    [("snappy", ".snappy"), ("zstd", ".zstd"), ("gzip", ".gz"), ("lz4", ".lz4"), ("none", "")],
)
def test_parquet(tmp_path: Path, codec: str, extension: str) -> None:
    values = [everything(offset) for offset in range(40)]
    path, data = written(tmp_path, values, EVERYTHING, format_class="ParquetFormat", parquet_codec=codec)
    assert path == f"{FOLDER}/orders+0+0000000000+0000000039{extension}.parquet"
    table = pq.read_table(io.BytesIO(data))
    rows = [{**row, "counts": dict(row["counts"])} for row in table.to_pylist()]
    assert rows == [expected(offset) for offset in range(40)]
    meta = pq.ParquetFile(io.BytesIO(data)).metadata
    assert meta.num_row_groups == 1
    used = meta.row_group(0).column(1).compression
    assert used == {"none": "UNCOMPRESSED"}.get(codec, codec.upper())
    assert not table.schema.field("id").nullable


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "bzip2"])
def test_avro(tmp_path: Path, codec: str) -> None:
    values = [everything(offset) for offset in range(40)]
    path, data = written(tmp_path, values, EVERYTHING, format_class="AvroFormat", avro_codec=codec)
    assert path == f"{FOLDER}/orders+0+0000000000+0000000039.avro"
    reader = fastavro.reader(io.BytesIO(data))
    assert list(reader) == [expected(offset) for offset in range(40)]
    assert reader.metadata["avro.codec"] == codec
    schema: Any = reader.writer_schema
    assert schema["name"] == "Everything"


def test_avro_writes_values_without_fields_and_maps_with_other_keys_than_text(tmp_path: Path) -> None:
    schema = SchemaBuilder.map(SchemaBuilder.int32().build(), STRING_SCHEMA).build()
    _, data = written(tmp_path, [{1: "a"}, {2: "b"}, {}, {3: "c"}], schema, format_class="AvroFormat")
    assert next(iter(fastavro.reader(io.BytesIO(data)))) == [{"key": 1, "value": "a"}]


def test_json(tmp_path: Path) -> None:
    values = [everything(offset) for offset in range(8)]
    path, data = written(tmp_path, values, EVERYTHING)
    assert path == f"{FOLDER}/orders+0+0000000000+0000000007.json"
    rows = [orjson.loads(line) for line in data.splitlines()]
    assert rows[4]["name"] == "Bjørn 4"
    assert rows[4]["price"] == base64.b64encode((425).to_bytes(2, "big")).decode()
    assert rows[5]["address"] == {"street": "Main 5", "number": 5}
    assert [row["id"] for row in rows] == list(range(8))


def test_json_with_numbers_for_decimals_and_values_without_schema(tmp_path: Path) -> None:
    _, data = written(tmp_path / "a", [everything(1)] * 4, EVERYTHING, json_decimal_format="NUMERIC")
    assert b'"price":1.25,' in data
    _, data = written(tmp_path / "b", [{"a": [1, None]}, "text", 3, 4.5], None)
    assert data == b'{"a":[1,null]}\n"text"\n3\n4.5\n'


@pytest.mark.parametrize("format_class", ["JsonFormat", "StringFormat", "ByteArrayFormat", "CsvFormat"])
def test_gzip(tmp_path: Path, format_class: str) -> None:
    values: list[Any] = [order(offset) for offset in range(5)]
    schema = ORDER
    if format_class == "ByteArrayFormat":
        values, schema = [b"%d" % offset for offset in range(5)], BYTES_SCHEMA
    _, plain = written(tmp_path / "a", values, schema, format_class=format_class)
    path, packed = written(tmp_path / "b", values, schema, format_class=format_class, compression_type="gzip")
    assert path.endswith(".gz")
    assert gzip.decompress(packed) == plain
    _, again = written(tmp_path / "c", values, schema, format_class=format_class, compression_type="gzip")
    assert again == packed


def test_text(tmp_path: Path) -> None:
    path, data = written(tmp_path / "a", [order(0), order(2), order(1), order(4)], ORDER, format_class="StringFormat")
    assert path.endswith("orders+0+0000000000+0000000003.txt")
    assert data.splitlines()[:2] == [b"Struct{id=0,city=Oslo,price=0.0}", b"Struct{id=2,price=0.5}"]
    _, data = written(tmp_path / "b", ["a", "b", "c", "d"], STRING_SCHEMA, format_class="StringFormat")
    assert data == b"a\nb\nc\nd\n"


def test_bytes(tmp_path: Path) -> None:
    values = [b"\0\1", b"", b"\n", b"x"]
    path, data = written(tmp_path / "a", values, BYTES_SCHEMA, format_class="ByteArrayFormat")
    assert path.endswith("orders+0+0000000000+0000000003.bin")
    assert data == b"\0\1\n\n\n\nx\n"
    given = {"format_bytearray_separator": "|", "format_bytearray_extension": ".dat"}
    path, data = written(tmp_path / "b", values, BYTES_SCHEMA, format_class="ByteArrayFormat", **given)
    assert (path[-4:], data) == (".dat", b"\0\1||\n|x|")


def test_orc(tmp_path: Path) -> None:
    values = [everything(offset) for offset in range(9)]
    path, data = written(tmp_path, values, EVERYTHING, format_class="OrcFormat")
    assert path.endswith("orders+0+0000000000+0000000008.orc")
    rows = pyarrow.orc.read_table(io.BytesIO(data)).to_pylist()
    rows = [{**row, "counts": dict(row["counts"])} for row in rows]
    assert rows == [expected(offset) for offset in range(9)]


def test_csv(tmp_path: Path) -> None:
    values = [order(0, city='say "hi", now'), *map(order, range(1, 5))]
    path, data = written(tmp_path, values, ORDER, format_class="CsvFormat")
    assert path.endswith("orders+0+0000000000+0000000004.csv")
    rows = pyarrow.csv.read_csv(io.BytesIO(data)).to_pylist()
    assert rows[0] == {"id": 0, "city": 'say "hi", now', "price": 0}
    assert [row["id"] for row in rows] == list(range(5))


@pytest.mark.parametrize("format_class", ["ParquetFormat", "AvroFormat", "OrcFormat", "CsvFormat"])
def test_a_format_of_columns_needs_a_schema(tmp_path: Path, format_class: str) -> None:
    config = local(tmp_path, format_class)
    with (
        RunningSink("FileSystemSink", config) as sink,
        pytest.raises(DataError, match=rf"{format_class} needs values with a schema.*schemas.enable=true"),
    ):
        sink.put([record(0, {"a": 1}, None)])


@pytest.mark.parametrize(
    ("format_class", "value", "schema", "reason"),
    [
        ("ParquetFormat", "x", STRING_SCHEMA, "needs structs, and the schema of the record's value is STRING"),
        ("OrcFormat", Struct(WITH_TIME), WITH_TIME, "ORC has no type for times of a day"),
        ("CsvFormat", everything(1), EVERYTHING, 'no form for the field "address", which has parts'),
        ("ByteArrayFormat", "x", STRING_SCHEMA, "needs bytes, and the record's value is str"),
        ("JsonFormat", "\ud800", STRING_SCHEMA, "has no form in this format"),
    ],
)
def test_what_a_format_has_no_form_for_is_named(
    tmp_path: Path, format_class: str, value: Any, schema: Any, reason: str
) -> None:
    with (
        RunningSink("FileSystemSink", local(tmp_path, format_class)) as sink,
        pytest.raises(DataError, match=reason),
    ):
        sink.put([record(0, value, schema)])
    assert files(tmp_path) == {}


@pytest.mark.parametrize(
    "name",
    [
        "io.confluent.connect.s3.format.parquet.ParquetFormat",
        "io.confluent.connect.s3.format.bytearray.ByteArrayFormat",
        "io.confluent.connect.hdfs.avro.AvroFormat",
        "io.confluent.connect.hdfs.string.StringFormat",
        "io.confluent.connect.hdfs3.json.JsonFormat",
        "io.confluent.connect.hdfs3.orc.OrcFormat",
        "Parquet",
    ],
)
def test_formats_have_the_names_they_have_in_kafka_connect(name: str) -> None:
    simple = name.rpartition(".")[2]
    assert FORMATS.find(name).__name__ == (simple if simple.endswith("Format") else f"{simple}Format")


def test_an_unknown_format_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Class ParketFormat could not be found.*ParquetFormat") as raised:
        RunningSink("FileSystemSink", local(tmp_path, "ParketFormat"))
    assert raised.value.key == "format.class"
