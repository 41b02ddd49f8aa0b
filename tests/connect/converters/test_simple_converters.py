from __future__ import annotations

from typing import Any

import pytest

from penstock.connect.converters import CONVERTERS, Converter
from penstock.connect.converters.boolean_converter import BooleanConverter
from penstock.connect.converters.byte_array_converter import ByteArrayConverter
from penstock.connect.converters.simple_header_converter import SimpleHeaderConverter
from penstock.connect.converters.string_converter import StringConverter
from penstock.connect.data import (
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    INT32_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    SchemaBuilder,
    Struct,
    Type,
)
from penstock.connect.data.java_numbers import to_float32
from penstock.connect.errors import ConfigError, DataError


@pytest.mark.parametrize(
    ("name", "value", "data", "kind"),
    [
        ("LongConverter", -1, "ffffffffffffffff", Type.INT64),
        ("IntegerConverter", 258, "00000102", Type.INT32),
        ("ShortConverter", 258, "0102", Type.INT16),
        ("DoubleConverter", 1.5, "3ff8000000000000", Type.FLOAT64),
        ("FloatConverter", 1.5, "3fc00000", Type.FLOAT32),
        ("BooleanConverter", True, "01", Type.BOOLEAN),
        ("ByteArrayConverter", b"\x01", "01", Type.BYTES),
        ("StringConverter", "ä", "c3a4", Type.STRING),
    ],
)
def test_bytes_are_those_of_kafka(name: str, value: Any, data: str, kind: Type) -> None:
    converter: Converter = CONVERTERS.find(name)()
    assert converter.from_connect_data("t", None, value) == bytes.fromhex(data)
    schema, found = converter.to_connect_data("t", bytes.fromhex(data))
    assert schema is not None
    assert (schema.type, schema.optional, found) == (kind, True, value)
    assert converter.from_connect_data("t", schema, None) is None
    assert converter.to_connect_data("t", None) == (schema, None)
    assert converter.reader("t")(bytes.fromhex(data)) == (schema, value)
    assert converter.writer("t")(schema, value) == bytes.fromhex(data)


@pytest.mark.parametrize(
    ("name", "bad_value", "bad_data"),
    [
        ("LongConverter", 2**63, b"1234567"),
        ("LongConverter", "1", b""),
        ("IntegerConverter", 1.0, b"12345"),
        ("ShortConverter", True, b"1"),
        ("DoubleConverter", 1, b"1234567"),
        ("FloatConverter", 1e300, b"123"),
        ("BooleanConverter", 1, b"\x02"),
    ],
)
def test_other_values_and_sizes_are_refused(name: str, bad_value: Any, bad_data: bytes) -> None:
    converter = CONVERTERS.find(name)()
    with pytest.raises(DataError):
        converter.from_connect_data("t", None, bad_value)
    with pytest.raises(DataError, match="topic t"):
        converter.to_connect_data("t", bad_data)
    with pytest.raises(DataError, match="Invalid schema type"):
        converter.from_connect_data("t", STRING_SCHEMA, "x")


def test_byte_arrays_take_bytes_only() -> None:
    converter = ByteArrayConverter()
    assert converter.from_connect_data("t", BYTES_SCHEMA, bytearray(b"a")) == b"a"
    assert converter.to_connect_data("t", b"a") == (OPTIONAL_BYTES_SCHEMA, b"a")
    with pytest.raises(DataError, match="not compatible with objects of type str"):
        converter.from_connect_data("t", None, "a")
    with pytest.raises(DataError, match="Invalid schema type for ByteArrayConverter: STRING"):
        converter.from_connect_data("t", STRING_SCHEMA, None)


def test_strings_take_anything_by_its_text() -> None:
    schema = SchemaBuilder.struct().field("a", INT32_SCHEMA).field("b", OPTIONAL_STRING_SCHEMA).build()
    converter = StringConverter()
    assert converter.from_connect_data("t", schema, Struct(schema, {"a": 1, "b": "x"})) == b"Struct{a=1,b=x}"
    assert converter.from_connect_data("t", None, 1.0) == b"1.0"
    assert converter.from_connect_data("t", FLOAT32_SCHEMA, to_float32(0.1)) == b"0.1"


def test_strings_have_an_encoding() -> None:
    latin = StringConverter({"converter.encoding": "ISO-8859-1"})
    assert latin.from_connect_data("t", None, "ä") == b"\xe4"
    assert latin.to_connect_data("t", b"\xe4").value == "ä"
    with pytest.raises(DataError, match="cannot write '€'"):
        latin.from_connect_data("t", None, "€")
    with pytest.raises(DataError, match=r"Failed to deserialize string.*converter.encoding"):
        StringConverter().to_connect_data("t", b"\xff")
    with pytest.raises(ConfigError, match="Unknown encoding"):
        StringConverter({"converter.encoding": "utf-99"})


def test_booleans_are_one_byte() -> None:
    assert BooleanConverter().to_connect_data("t", b"\x00").value is False
    with pytest.raises(DataError, match="neither 00 nor 01"):
        BooleanConverter().to_connect_data("t", b"")


def test_headers_are_text_or_bytes() -> None:
    converter = SimpleHeaderConverter()
    assert converter.from_connect_header("t", "h", FLOAT32_SCHEMA, to_float32(0.1)) == b"0.1"
    assert converter.to_connect_header("t", "h", None) == (None, None)
    assert converter.to_connect_header("t", "h", b"") == (STRING_SCHEMA, "")
    assert converter.to_connect_header("t", "h", b"\xff\xfe") == (BYTES_SCHEMA, b"\xff\xfe")
