from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from penstock.connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    SchemaBuilder,
    Struct,
    Type,
    convert_to,
    decimal_schema,
    infer_schema,
    java_text,
    value_text,
)
from penstock.connect.data.logical import from_millis
from penstock.connect.errors import DataError

NOON = datetime(2024, 2, 29, 12, 0, 0, 5000, tzinfo=timezone.utc)
ARRAY = SchemaBuilder.array(INT32_SCHEMA).build()
MAP = SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build()
POINT = SchemaBuilder.struct().field("x", INT32_SCHEMA).field("label", OPTIONAL_STRING_SCHEMA).build()


@pytest.mark.parametrize(
    ("target", "source", "value", "converted"),
    [
        (STRING_SCHEMA, None, 42, "42"),
        (STRING_SCHEMA, None, [1, "a"], '[1,"a"]'),
        (BOOLEAN_SCHEMA, None, "true", True),
        (BOOLEAN_SCHEMA, None, 0, False),
        (BOOLEAN_SCHEMA, None, True, True),
        (BOOLEAN_SCHEMA, None, "7", True),
        (INT8_SCHEMA, None, 300, 44),
        (INT16_SCHEMA, None, "12", 12),
        (INT32_SCHEMA, None, "1.9", 1),
        (INT64_SCHEMA, None, 1.9, 1),
        (INT64_SCHEMA, None, Decimal("1e100"), 0),
        (INT64_SCHEMA, TIMESTAMP_SCHEMA, NOON, 1709208000005),
        (INT32_SCHEMA, DATE_SCHEMA, from_millis(86_400_000), 1),
        (FLOAT64_SCHEMA, None, "1e3", 1000.0),
        (FLOAT64_SCHEMA, None, 3, 3.0),
        (FLOAT32_SCHEMA, None, 0.1, 0.10000000149011612),
        (FLOAT64_SCHEMA, TIME_SCHEMA, from_millis(5), 5.0),
        (BYTES_SCHEMA, None, bytearray(b"a"), b"a"),
        (decimal_schema(2), None, Decimal("1.5"), Decimal("1.5")),
        (decimal_schema(2), None, b"\x00\x9c", Decimal("1.56")),
        (decimal_schema(2), None, "1.56", Decimal("1.56")),
        (decimal_schema(1), None, 2, Decimal("2.0")),
        (ARRAY, None, "[1, 2]", [1, 2]),
        (MAP, None, '{"a": 1}', {"a": 1}),
        (POINT, None, Struct(POINT, {"x": 1}), Struct(POINT, {"x": 1})),
        (DATE_SCHEMA, TIMESTAMP_SCHEMA, NOON, datetime(2024, 2, 29, tzinfo=timezone.utc)),
        (TIME_SCHEMA, TIMESTAMP_SCHEMA, NOON, from_millis(43_200_005)),
        (TIMESTAMP_SCHEMA, DATE_SCHEMA, from_millis(86_400_000), from_millis(86_400_000)),
        (TIMESTAMP_SCHEMA, None, NOON, NOON),
        (TIMESTAMP_SCHEMA, None, "2024-02-29T12:00:00.005Z", NOON),
        (TIMESTAMP_SCHEMA, None, "1709208000005", NOON),
        (TIMESTAMP_SCHEMA, TIMESTAMP_SCHEMA, 1709208000005, NOON),
        (DATE_SCHEMA, None, 1, from_millis(86_400_000)),
        (TIME_SCHEMA, None, "5", from_millis(5)),
        (OPTIONAL_STRING_SCHEMA, None, None, None),
    ],
)
def test_conversions(target: Schema, source: Schema | None, value: Any, converted: Any) -> None:
    found = convert_to(target, source, value)
    assert (found, type(found)) == (converted, type(converted))


@pytest.mark.parametrize(
    ("target", "value"),
    [
        (STRING_SCHEMA, None),
        (BOOLEAN_SCHEMA, "green"),
        (INT32_SCHEMA, "abc"),
        (INT32_SCHEMA, True),
        (INT64_SCHEMA, NOON),
        (FLOAT64_SCHEMA, "NaN"),
        (BYTES_SCHEMA, "a"),
        (decimal_schema(0), "abc"),
        (decimal_schema(0), True),
        (ARRAY, "[1, 2, 3,,,]"),
        (ARRAY, {}),
        (MAP, "[1]"),
        (POINT, {"x": 1}),
        (TIMESTAMP_SCHEMA, "noon"),
        (TIME_SCHEMA, -1),
    ],
)
def test_what_cannot_be_converted(target: Schema, value: Any) -> None:
    with pytest.raises(DataError, match=r"Unable to convert|Time values"):
        convert_to(target, None, value)


def test_texts() -> None:
    struct = Struct(POINT, {"x": 1, "label": 'a"b'})
    assert value_text(None, struct) == '{"x":1,"label":"a\\"b"}'
    assert java_text(None, struct) == 'Struct{x=1,label=a"b}'
    assert java_text(None, Struct(POINT, {"x": 1})) == "Struct{x=1}"
    assert value_text(None, {"a": b"\x00"}) == '{"a":"AA=="}'
    assert value_text(None, b"\x00") == "AA=="
    assert java_text(None, [1, None, {"a": 1.0}]) == "[1, null, {a=1.0}]"
    assert java_text(FLOAT32_SCHEMA, 0.10000000149011612) == "0.1"
    assert java_text(None, True) == "true"
    assert java_text(None, b"\x00") == "AA=="
    assert java_text(None, Decimal("1.50")) == "1.50"
    assert java_text(None, NOON) == "2024-02-29T12:00:00.005Z"
    assert value_text(None, from_millis(5)) == "00:00:00.005Z"
    assert value_text(None, datetime(1969, 12, 31, 23, tzinfo=timezone.utc)) == "1969-12-31T23:00:00.000Z"
    with pytest.raises(DataError, match="unexpected value type object"):
        value_text(None, object())


def test_schemas_of_plain_values() -> None:
    assert infer_schema(1) == INT64_SCHEMA
    assert infer_schema("a") == STRING_SCHEMA
    assert infer_schema(Struct(POINT)) == POINT
    assert infer_schema([1, None]) == SchemaBuilder.array(Schema(Type.INT64, optional=True)).build()
    assert infer_schema({"a": 1.5}) == SchemaBuilder.map(STRING_SCHEMA, FLOAT64_SCHEMA).build()
    assert (
        infer_schema([Struct(POINT), None])
        == SchemaBuilder.array(
            SchemaBuilder.struct().field("x", INT32_SCHEMA).field("label", OPTIONAL_STRING_SCHEMA).optional().build()
        ).build()
    )
    for value in ([], {}, [1, "a"], [None], object(), None, [object()]):
        assert infer_schema(value) is None
