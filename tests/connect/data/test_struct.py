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
    OPTIONAL_INT32_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    SchemaBuilder,
    Struct,
    decimal_schema,
    validate_value,
)
from penstock.connect.data.struct import require_field
from penstock.connect.errors import DataError, IllegalArgumentError

NOW = datetime(2024, 2, 29, 12, tzinfo=timezone.utc)
POINT = SchemaBuilder.struct().field("x", INT32_SCHEMA).field("y", INT32_SCHEMA).build()
DEFAULTED = SchemaBuilder.int32().optional().default(42).build()


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (INT8_SCHEMA, [-128, 127], [128, -129, "1", 1.0, True]),
        (INT16_SCHEMA, [32767], [32768]),
        (INT32_SCHEMA, [2**31 - 1], [2**31]),
        (INT64_SCHEMA, [2**63 - 1], [2**63, "x"]),
        (FLOAT32_SCHEMA, [1.5], [1, "1.5"]),
        (FLOAT64_SCHEMA, [1.5], [1]),
        (BOOLEAN_SCHEMA, [True], [1, "true"]),
        (STRING_SCHEMA, ["a"], [b"a", 1]),
        (BYTES_SCHEMA, [b"a", bytearray(b"a"), memoryview(b"a")], ["a"]),
        (SchemaBuilder.array(INT32_SCHEMA).build(), [[1, 2], (1,), []], [["a"], {"a": 1}, [None]]),
        (SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build(), [{"a": 1}], [{1: 1}, {"a": "b"}, [1]]),
        (SchemaBuilder.array(None).build(), [[1, "a", None]], ["a"]),
        (decimal_schema(2), [Decimal("1.50")], [1.5, "1.50", b"1"]),
        (TIMESTAMP_SCHEMA, [NOW], [5, "2024-02-29", NOW.replace(tzinfo=None)]),
        (DATE_SCHEMA, [NOW], [19782]),
        (POINT, [Struct(POINT, {"x": 1, "y": 2})], [{"x": 1}, Struct(POINT, {"x": 1})]),
    ],
)
def test_values_fit_their_schema_or_not(schema: Schema, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        validate_value(schema, value)
    for value in [*bad, None]:
        with pytest.raises(DataError):
            validate_value(schema, value)


def test_null_is_a_value_of_optional_schemas() -> None:
    validate_value(OPTIONAL_INT32_SCHEMA, None)
    with pytest.raises(DataError, match='null used for required field: "x", schema type: INT32'):
        Struct(POINT).put("x", None)


def test_a_wrong_value_is_named_with_its_place() -> None:
    with pytest.raises(DataError, match=r'with type INT32: str abc for field: "x"'):
        Struct(POINT).put("x", "abc")
    nested = SchemaBuilder.struct().field("points", SchemaBuilder.array(POINT).build()).build()
    with pytest.raises(DataError, match='element of field: "points"'):
        Struct(nested).put("points", [{"x": 1}])
    with pytest.raises(DataError, match="INT8 holds -128 to 127"):
        validate_value(INT8_SCHEMA, 200)
    with pytest.raises(DataError, match="has no time zone"):
        validate_value(TIMESTAMP_SCHEMA, datetime(2024, 1, 1))  # noqa: DTZ001 - the point of the test


def test_fields_are_read_by_name() -> None:
    point = Struct(POINT).put("x", 1).put("y", 2)
    assert (point["x"], point.get("y"), "x" in point, "z" in point) == (1, 2, True, False)
    point["x"] = 5
    assert point.values == [5, 2]
    with pytest.raises(DataError, match=r"z is not a valid field name. Fields: x, y."):
        point.get("z")


def test_a_null_field_reads_as_its_default() -> None:
    schema = SchemaBuilder.struct().field("a", DEFAULTED).build()
    struct = Struct(schema)
    assert struct.get("a") == 42
    assert struct.get_without_default("a") is None
    struct.validate()


def test_a_missing_required_field_is_found_by_validate() -> None:
    with pytest.raises(DataError, match='required field: "y"'):
        Struct(POINT, {"x": 1}).validate()


def test_structs_compare_by_schema_and_values() -> None:
    assert Struct(POINT, {"x": 1, "y": 2}) == Struct(POINT, {"x": 1, "y": 2})
    assert Struct(POINT, {"x": 1, "y": 2}) != Struct(POINT, {"x": 1, "y": 3})
    assert Struct(POINT) != {"x": None}
    with pytest.raises(TypeError):
        hash(Struct(POINT))


def test_a_struct_of_another_schema_does_not_fit() -> None:
    other = SchemaBuilder.struct().field("x", INT32_SCHEMA).build()
    with pytest.raises(DataError, match="Struct schemas do not match"):
        validate_value(POINT, Struct(other, {"x": 1}))
    with pytest.raises(DataError, match="Not a struct schema"):
        Struct(INT32_SCHEMA)


def test_structs_print_and_become_dicts() -> None:
    line = SchemaBuilder.struct().field("from", POINT).field("tags", SchemaBuilder.array(STRING_SCHEMA).build()).build()
    struct = Struct(line, {"from": Struct(POINT, {"x": 1, "y": 2}), "tags": ["a"]})
    assert repr(struct) == "Struct{from=Struct{x=1,y=2},tags=['a']}"
    assert struct.to_dict() == {"from": {"x": 1, "y": 2}, "tags": ["a"]}
    assert repr(Struct(POINT, {"x": 1})) == "Struct{x=1}"
    mapped = SchemaBuilder.struct().field("m", SchemaBuilder.map(STRING_SCHEMA, POINT).build()).build()
    assert Struct(mapped, {"m": {"a": Struct(POINT, {"x": 1, "y": 2})}}).to_dict() == {"m": {"a": {"x": 1, "y": 2}}}


def test_an_unknown_field_has_an_error_of_its_own() -> None:
    assert require_field(POINT, "x").index == 0
    with pytest.raises(IllegalArgumentError, match="Unknown field: z"):
        require_field(POINT, "z")
