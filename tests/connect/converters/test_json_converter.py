from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import pytest

from penstock.connect.converters.json_converter import JsonConverter
from penstock.connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    SchemaBuilder,
    Struct,
    decimal_schema,
)
from penstock.connect.data.java_numbers import to_float32
from penstock.connect.data.logical import from_millis
from penstock.connect.errors import ConfigError, DataError

ON = JsonConverter()
OFF = JsonConverter({"schemas.enable": "false"})
ORDER = (
    SchemaBuilder.struct()
    .name("order")
    .field("id", INT64_SCHEMA)
    .field("price", OPTIONAL_FLOAT64_SCHEMA)
    .field("note", OPTIONAL_STRING_SCHEMA)
    .build()
)


def _message(schema: Any, payload: Any) -> bytes:
    return json.dumps({"schema": schema, "payload": payload}).encode()


def _read(schema: dict[str, Any], payload: Any) -> Any:
    return ON.to_connect_data("t", _message(schema, payload)).value


def _written(schema: Schema | None, value: Any, converter: JsonConverter = ON) -> Any:
    data = converter.from_connect_data("t", schema, value)
    assert data is not None
    return json.loads(data)["payload"]


DECIMAL = {"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "version": 1, "parameters": {"scale": "2"}}


@pytest.mark.parametrize(
    ("schema", "payload", "value"),
    [
        ({"type": "int32"}, 7.0, 7),
        ({"type": "double"}, 7, 7.0),
        ({"type": "float"}, 12.34, to_float32(12.34)),
        ({"type": "double"}, "NaN", math.nan),
        ({"type": "double"}, "-Infinity", -math.inf),
        ({"type": "bytes"}, "AJw=", b"\x00\x9c"),
        ({"type": "bytes"}, "AJ\nw=", b"\x00\x9c"),
        (DECIMAL, "AJw=", Decimal("1.56")),
        (DECIMAL, 1.5, Decimal("1.50")),
        (DECIMAL, 3, Decimal("3.00")),
        ({"type": "array", "items": DECIMAL}, [1.25, "AJw="], [Decimal("1.25"), Decimal("1.56")]),
        ({"type": "array", "items": {"type": "string", "optional": True}}, ["a", None], ["a", None]),
        ({"type": "map", "keys": {"type": "string"}, "values": {"type": "bytes"}}, {"a": "AA=="}, {"a": b"\x00"}),
        ({"type": "map", "keys": {"type": "int32"}, "values": {"type": "string"}}, [[1, "a"]], {1: "a"}),
        ({"type": "map", "keys": {"type": "bytes"}, "values": {"type": "float"}}, [["AA==", 1]], {b"\x00": 1.0}),
        ({"type": "int32", "name": "org.apache.kafka.connect.data.Date"}, 1, from_millis(86_400_000)),
        ({"type": "int32", "name": "org.apache.kafka.connect.data.Time"}, 5, from_millis(5)),
        ({"type": "int64", "name": "somebody.elses.Timestamp"}, 5, 5),
    ],
)
def test_payloads_are_read_by_their_schema(schema: dict[str, Any], payload: Any, value: Any) -> None:
    found = _read(schema, payload)
    assert type(found) is type(value)
    assert found == value or (math.isnan(found) and math.isnan(value))


@pytest.mark.parametrize(
    ("schema", "payload", "reason"),
    [
        ({"type": "int32"}, "7", "Invalid type for INT32, the JSON string does not fit"),
        ({"type": "int32"}, None, "Invalid null value for required INT32 field"),
        ({"type": "int8"}, 200, "200 does not fit INT8, which holds -128 to 127"),
        ({"type": "int64"}, 2**63, "does not fit INT64"),
        ({"type": "int32"}, 7.5, "7.5 is not a whole number"),
        ({"type": "boolean"}, 1, "Invalid type for BOOLEAN"),
        ({"type": "string"}, 1, "Invalid type for STRING"),
        ({"type": "double"}, "abc", "abc is not a number"),
        ({"type": "bytes"}, "?", "Invalid bytes field"),
        ({"type": "bytes"}, 1, "Invalid type for BYTES"),
        ({"type": "struct", "fields": []}, [1], "Structs should be encoded as JSON objects, but found array"),
        ({"type": "array", "items": {"type": "int32"}}, {"a": 1}, "Invalid type for ARRAY"),
        ({"type": "map", "keys": {"type": "string"}, "values": {"type": "int32"}}, [1], "encoded as JSON objects"),
        ({"type": "map", "keys": {"type": "int32"}, "values": {"type": "int32"}}, {"a": 1}, "array of tuples"),
        ({"type": "map", "keys": {"type": "int32"}, "values": {"type": "int32"}}, [1], "instead of array tuple"),
        (
            {"type": "map", "keys": {"type": "int32"}, "values": {"type": "int32"}},
            [[1]],
            "expected length 2 but found :1",
        ),
        (DECIMAL, 1.234, "more than the 2 digits"),
        (DECIMAL, True, "Invalid type for Decimal"),
        ({"type": "int64", "name": "org.apache.kafka.connect.data.Timestamp"}, "x", "Invalid type for Timestamp"),
        ({"type": "int32", "name": "org.apache.kafka.connect.data.Time"}, -1, "Time values must use"),
    ],
)
def test_payloads_that_do_not_fit(schema: dict[str, Any], payload: Any, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        _read(schema, payload)


def test_errors_name_the_field() -> None:
    fields = [
        {"field": "id", "type": "int8"},
        {"field": "tags", "type": "array", "items": {"type": "string"}},
        {"field": "at", "type": "int64", "name": "org.apache.kafka.connect.data.Timestamp"},
    ]
    schema = {"type": "struct", "fields": fields}
    good = {"id": 1, "tags": ["a"], "at": 5}
    assert _read(schema, good).values == [1, ["a"], from_millis(5)]
    for bad, reason in (
        ({"id": 300}, r'300 does not fit INT8, which holds -128 to 127 \(field "id"\)'),
        ({"id": None}, 'required INT8 field: "id"'),
        ({"id": "x"}, 'does not fit field "id"'),
        ({"tags": [1]}, 'does not fit field element of "tags"'),
        ({"at": 2**61}, r'not within the years 1 to 9999 \(field "at"\)'),
    ):
        with pytest.raises(DataError, match=reason):
            _read(schema, {**good, **bad})
    with pytest.raises(DataError, match='required INT8 field: "id"'):
        _read(schema, {})


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({}, "Schema must contain 'type' field"),
        ([], "Schema must contain 'type' field"),
        ({"type": "int"}, "Unknown schema type: int"),
        ({"type": "array"}, "Array schema did not specify the element type"),
        ({"type": "map", "values": {"type": "string"}}, "Map schema did not specify the key type"),
        ({"type": "map", "keys": {"type": "string"}}, "Map schema did not specify the value type"),
        ({"type": "struct"}, "argument is not an array"),
        ({"type": "struct", "fields": [{"type": "int32"}]}, "field name not specified properly"),
        ({"type": "int32", "parameters": {"a": 1}}, "Schema parameters must have string values"),
        ({"type": "int32", "default": "x"}, "Invalid type for INT32"),
    ],
)
def test_schemas_that_are_none(schema: Any, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        ON.to_connect_data("t", _message(schema, 1))


def test_the_envelope_has_schema_and_payload_and_nothing_else() -> None:
    for data in (b"1", b"[]", b'{"payload": 1}', b'{"schema": null, "payload": 1, "more": 2}'):
        with pytest.raises(DataError, match=r'requires "schema" and "payload" fields'):
            ON.to_connect_data("t", data)
    for data in (b"{", b"", b'{"schema": null, "payload": 1} x'):
        with pytest.raises(DataError, match="Converting byte\\[\\] to Kafka Connect data failed"):
            ON.to_connect_data("t", data)


def test_every_message_is_read_as_if_it_were_the_first() -> None:
    """A reader remembers the beginning of the last message; that must never show."""
    int32 = {"type": "int32", "optional": True}
    text = {"type": "string", "doc": 'a "payload": in the schema'}
    messages = [
        _message(int32, 1),
        _message(int32, 2),
        _message(int32, 3) + b" ",
        _message(int32, None),
        _message(text, "a"),
        _message(text, '}, "payload": {'),
        _message(int32, 4),
        json.dumps({"payload": 5, "schema": int32}).encode(),
        _message(int32, 6),
        json.dumps({"schema": int32, "payload": 7}, indent=1).encode(),
        _message(None, {"a": 1}),
        _message(int32, 8),
    ]
    read = ON.reader("t")
    assert [read(message) for message in messages] == [tuple(JsonConverter().to_connect_data("t", m)) for m in messages]
    assert [read(message)[1] for message in messages[:4]] == [1, 2, 3, None]
    assert read(None) == (None, None)
    read(messages[0])
    for bad in (
        _message(int32, 1)[:-1],
        _message(int32, 1)[:-1] + b', "more": 1}',
        _message(int32, 1)[:-2] + b"}",
    ):
        with pytest.raises(DataError):
            read(bad)
    assert read(messages[0])[1] == 1


def test_decimals_keep_their_digits_in_every_message() -> None:
    schema = {
        "type": "struct",
        "fields": [{"field": "d", **DECIMAL, "parameters": {"scale": "20"}}, {"field": "f", "type": "double"}],
    }
    text = json.dumps({"schema": schema, "payload": None}).encode()
    read = ON.reader("t")
    for digits in ("1.00000000000000000001", "2.5", "123456789012345678901234567890.5"):
        data = text.replace(b"null", b'{"d": %s, "f": 0.5}' % digits.encode())
        for _ in range(2):
            _, value = read(data)
            assert value["d"] == Decimal(digits)
            assert value["f"] == 0.5


def test_decimal_defaults_may_be_numbers() -> None:
    assert _read({**DECIMAL, "default": 1.5}, None) == Decimal("1.50")
    converter = JsonConverter({"schema.content": json.dumps({**DECIMAL, "default": 2.25})})
    assert converter.to_connect_data("t", b"null").value == Decimal("2.25")
    assert converter.to_connect_data("t", b"0.1").value == Decimal("0.10")


def test_leading_zeros_are_read() -> None:
    assert OFF.to_connect_data("t", b'{"a": 007, "b": -01.5, "c": "a 007 \\" 01", "d": 0, "e": 1.005, "f": [00]}').value == {
        "a": 7, "b": -1.5, "c": 'a 007 " 01', "d": 0, "e": 1.005, "f": [0],
    }  # fmt: skip
    assert ON.to_connect_data("t", b'{"schema": {"type": "int32"}, "payload": 012}').value == 12
    exact = {**DECIMAL, "parameters": {"scale": "3"}}
    assert ON.to_connect_data("t", _message(exact, None).replace(b"null", b"001.005")).value == Decimal("1.005")


def test_plain_json() -> None:
    assert OFF.to_connect_data("t", None) == (None, None)
    assert OFF.to_connect_data("t", b"") == (None, None)
    assert OFF.to_connect_data("t", b"null") == (None, None)
    assert OFF.to_connect_data("t", b'{"a": [1, 2.5, "x", null, true]}').value == {"a": [1, 2.5, "x", None, True]}
    with pytest.raises(DataError, match=r"topic t.*Is another converter needed"):
        OFF.to_connect_data("t", b"abc")


def test_values_are_written_by_their_schema() -> None:
    assert _written(FLOAT32_SCHEMA, to_float32(12.34)) == 12.34
    assert _written(FLOAT64_SCHEMA, math.nan) == "NaN"
    assert _written(FLOAT32_SCHEMA, -math.inf) == "-Infinity"
    assert _written(BYTES_SCHEMA, b"\x00\x9c") == "AJw="
    assert _written(DATE_SCHEMA, from_millis(86_400_000)) == 1
    assert _written(TIME_SCHEMA, from_millis(5)) == 5
    assert _written(TIMESTAMP_SCHEMA, from_millis(5)) == 5
    assert _written(SchemaBuilder.array(BYTES_SCHEMA).build(), [b"a"]) == ["YQ=="]
    assert _written(SchemaBuilder.map(STRING_SCHEMA, BYTES_SCHEMA).build(), {"a": b"a"}) == {"a": "YQ=="}
    assert _written(SchemaBuilder.map(INT32_SCHEMA, STRING_SCHEMA).build(), {1: "a"}) == [[1, "a"]]
    nested = SchemaBuilder.struct().field("inner", ORDER).field("at", TIMESTAMP_SCHEMA).build()
    inner = Struct(ORDER, {"id": 1, "price": math.inf})
    assert _written(nested, Struct(nested, {"inner": inner, "at": from_millis(9)})) == {
        "inner": {"id": 1, "price": "Infinity", "note": None},
        "at": 9,
    }


def test_numeric_decimals() -> None:
    numeric = JsonConverter({"decimal.format": "numeric"})
    data = numeric.from_connect_data("t", decimal_schema(4), Decimal("1.5600"))
    assert data is not None
    assert data.endswith(b'"payload":1.5600}')
    large = numeric.from_connect_data("t", decimal_schema(-3), Decimal("1E+3"))
    assert large is not None
    assert large.endswith(b'"payload":1000}')
    with pytest.raises(DataError, match="mismatching scale"):
        numeric.from_connect_data("t", decimal_schema(2), Decimal("1.5"))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (FLOAT64_SCHEMA, True),
        (INT8_SCHEMA, 300),
        (STRING_SCHEMA, 1),
        (BOOLEAN_SCHEMA, "true"),
        (ORDER, {"id": 1}),
        (ORDER, Struct(SchemaBuilder.struct().field("id", INT64_SCHEMA).build(), {"id": 1})),
        (SchemaBuilder.array(INT32_SCHEMA).build(), ["a"]),
        (decimal_schema(2), 1.5),
        (INT32_SCHEMA, None),
        (None, Decimal("1.5")),
        (None, from_millis(0)),
        (None, object()),
        (None, 2**70),
        (SchemaBuilder.array(None).build(), [1]),
    ],
)
def test_values_that_cannot_be_written(schema: Schema | None, value: Any) -> None:
    with pytest.raises(DataError):
        ON.from_connect_data("t", schema, value)


def test_a_missing_required_field_is_named() -> None:
    with pytest.raises(DataError, match=r'required and has no default value \(field "id"\)'):
        ON.from_connect_data("t", ORDER, Struct(ORDER))


def test_values_without_schema() -> None:
    assert _written(None, {1: "a", "b": b"a"}) == [[1, "a"], ["b", "YQ=="]]
    assert _written(None, {"a": math.nan, "b": [None, (1, 2)]}) == {"a": "NaN", "b": [None, [1, 2]]}
    assert _written(None, {"s": Struct(ORDER, {"id": 1})}) == {"s": {"id": 1, "price": None, "note": None}}
    assert OFF.from_connect_data("t", None, {"a": 1}) == b'{"a":1}'
    assert OFF.from_connect_data("t", SchemaBuilder.array(None).build(), [1, "a", b"a"]) == b'[1,"a","YQ=="]'
    assert OFF.from_connect_data("t", None, None) is None
    assert OFF.from_connect_data("t", OPTIONAL_STRING_SCHEMA, None) == b"null"


def test_a_schema_is_written_with_all_it_says() -> None:
    schema = SchemaBuilder.int32().name("n").version(3).doc("d").parameter("p", "v").default(5).build()
    data = ON.from_connect_data("t", schema, 1)
    assert data == (
        b'{"schema":{"type":"int32","optional":false,"name":"n","version":3,"doc":"d","parameters":{"p":"v"},'
        b'"default":5},"payload":1}'
    )
    assert ON.to_connect_data("t", data) == (schema, 1)


def test_defaults_stand_for_null_unless_told_otherwise() -> None:
    schema = SchemaBuilder.struct().field("a", SchemaBuilder.int32().optional().default(42).build()).build()
    keep = JsonConverter({"replace.null.with.default": "false"})
    assert _written(schema, Struct(schema)) == {"a": 42}
    assert _written(schema, Struct(schema), keep) == {"a": None}


def test_few_schemas_are_kept() -> None:
    converter = JsonConverter({"schemas.cache.size": "2"})
    for index in range(5):
        name = f"s{index}"
        data = converter.from_connect_data("t", SchemaBuilder.int32().name(name).build(), index)
        assert data is not None
        assert converter.to_connect_data("t", data).value == index
    assert len(converter._decoders) == 2
    assert len(converter._encoders) == 2


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"String must be one of \(case insensitive\): BASE64, NUMERIC"):
        JsonConverter({"decimal.format": "hex"})
    with pytest.raises(DataError, match="Failed to parse schema in converter config"):
        JsonConverter({"schema.content": '{ "string" }'})
    with pytest.raises(DataError, match=r"schema\.content is null"):
        JsonConverter({"schema.content": "null"})
    looks_like_one = {
        "type": "struct",
        "fields": [{"field": "schema", "type": "string"}, {"field": "payload", "type": "int32"}],
    }
    converter = JsonConverter({"schema.content": json.dumps(looks_like_one)})
    assert converter.to_connect_data("t", b'{"schema": "a", "payload": 1}').value.values == ["a", 1]
    assert converter.to_connect_data("t", None) == (None, None)


def test_headers_use_the_same_form() -> None:
    data = ON.from_connect_header("t", "h", INT32_SCHEMA, 5)
    assert ON.to_connect_header("t", "h", data) == (INT32_SCHEMA, 5)
