from __future__ import annotations

import base64
import gzip
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import orjson
import pyarrow.csv
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from penstock.connect.connectors.storage.formats.registry import FORMATS
from penstock.connect.data import (
    BYTES_SCHEMA,
    DECIMAL_NAME,
    OPTIONAL_BYTES_SCHEMA,
    STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    Struct,
    Type,
    decimal_schema,
)
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
    assert packed[8] == 2  # the header says: as small as possible
    _, again = written(tmp_path / "c", values, schema, format_class=format_class, compression_type="gzip")
    assert again == packed
    given = {"compression_type": "gzip", "compression_level": "1"}
    _, quick = written(tmp_path / "d", values, schema, format_class=format_class, **given)
    assert quick[8] == 4  # as fast as possible
    assert gzip.decompress(quick) == plain


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


def with_decimal(scale: int, precision: str | None = None, digits: str = "15") -> tuple[Struct, Schema]:
    """A row with a decimal, and its schema."""
    parameters = {"scale": str(scale), **({} if precision is None else {"connect.decimal.precision": precision})}
    price = Schema(Type.BYTES, name=DECIMAL_NAME, version=1, parameters=parameters)
    schema = SchemaBuilder.struct().field("price", SchemaBuilder.array(price).build()).build()
    return Struct(schema, {"price": [Decimal((0, tuple(map(int, digits)), -scale))]}), schema


@pytest.mark.parametrize(
    ("format_class", "scale", "precision", "reason"),
    [
        # PostgreSQL's NUMERIC without limits, and with a scale below zero.
        *((name, 127, None, "has scale 127, and {name} takes 0 to 38") for name in ("ParquetFormat", "OrcFormat")),
        ("AvroFormat", 127, None, "has scale 127, and AvroFormat takes 0 to 64"),
        *((name, -2, "5", "has scale -2, and {name} takes 0 to 5") for name in ("ParquetFormat", "AvroFormat", "OrcFormat")),
        ("ParquetFormat", 80, "100", "has scale 80, and ParquetFormat takes 0 to 76"),
        ("OrcFormat", 2, "65", "has 65 digits, and OrcFormat takes 38"),
        *((name, 2, "0", "precision of a decimal is 0, and not a number") for name in ("ParquetFormat", "AvroFormat")),
        ("AvroFormat", 2, "many", "precision of a decimal is many, and not a number"),
    ],
)  # fmt: skip
def test_decimals_without_room_are_refused(
    tmp_path: Path, format_class: str, scale: int, precision: str | None, reason: str
) -> None:
    value, schema = with_decimal(scale, precision)
    with RunningSink("FileSystemSink", local(tmp_path, format_class, flush_size="2"), tolerant=True) as sink:
        assert sink.put([record(0), record(1, value, schema), record(2)]) == 2
        ((offset, told),) = sink.reports.found
    assert offset == 1
    assert reason.format(name=format_class) in told
    if "scale" in reason:
        assert told.startswith('the decimal "price[]"')
        assert "numeric.mapping=best_fit" in told
    assert len(files(tmp_path)) == 1


def test_decimals_with_room(tmp_path: Path) -> None:
    value, schema = with_decimal(40, "60")
    _, data = written(tmp_path / "a", [value] * 4, schema, format_class="ParquetFormat")
    assert pq.read_table(io.BytesIO(data)).to_pylist()[0]["price"] == value["price"]
    _, data = written(tmp_path / "b", [value] * 4, schema, format_class="AvroFormat")
    assert next(iter(fastavro.reader(io.BytesIO(data)))) == {"price": value["price"]}
    flat = SchemaBuilder.struct().field("price", decimal_schema(-2)).build()
    _, data = written(tmp_path / "c", [Struct(flat, {"price": Decimal("1E+2")})] * 4, flat, format_class="CsvFormat")
    assert data.splitlines()[1] == b"1E+2"


def test_bytes_that_are_no_text_are_refused_in_csv(tmp_path: Path) -> None:
    schema = SchemaBuilder.struct().field("data", OPTIONAL_BYTES_SCHEMA).build()
    rows = [Struct(schema, {"data": data}) for data in (b"abc", b"\xff\x00", None, "ø".encode())]
    with RunningSink("FileSystemSink", local(tmp_path, "CsvFormat", flush_size="4"), tolerant=True) as sink:
        assert sink.put(record(o, value, schema) for o, value in enumerate(rows)) == 4
        ((offset, told),) = sink.reports.found
    assert offset == 1
    assert 'no form for the bytes of the field "data", which are no UTF-8. JsonFormat writes bytes as base64' in told
    ((_, text),) = files(tmp_path).items()
    assert text == '"data"\n"abc"\n\n"ø"\n'.encode()


def test_structs_without_fields_are_refused_in_parquet(tmp_path: Path) -> None:
    empty = SchemaBuilder.struct().build()
    inner = SchemaBuilder.struct().field("nothing", empty).build()
    schema = SchemaBuilder.struct().field("all", SchemaBuilder.map(STRING_SCHEMA, inner).build()).build()
    value = Struct(schema, {"all": {"x": Struct(inner, {"nothing": Struct(empty)})}})
    with RunningSink("FileSystemSink", local(tmp_path, "ParquetFormat", flush_size="2"), tolerant=True) as sink:
        assert sink.put([record(0), record(1, value, schema), record(2)]) == 2
        ((offset, told),) = sink.reports.found
    assert offset == 1
    assert 'no form for "all value.nothing", a struct without fields' in told


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
