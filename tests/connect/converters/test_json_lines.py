"""Many values in one go give the lines that one after the other gives, wherever pieces of them begin and end."""

from __future__ import annotations

import math
from typing import Any

import pytest

from penstock.connect.converters.json_writer import JsonWriter, write_schemaless, write_schemaless_lines
from penstock.connect.data import (
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    Struct,
)
from penstock.connect.errors import DataError

COUNTS = (0, 1, 2, 127, 128, 129, 256, 300)
# Texts that look like what is between lines, before and after they are escaped.
TEXTS = ("tap", "", "a,\n,b", "," + "\n" * 14 + ",", '},{"id":', "},{", "null", 'é"\\', "\u2028")


def _order(*, default: float | None = None) -> Schema:
    price = SchemaBuilder.float64().default(default).build() if default is not None else OPTIONAL_FLOAT64_SCHEMA
    fields = SchemaBuilder.struct().field("id", INT64_SCHEMA).field('it\'s "here"', OPTIONAL_STRING_SCHEMA)
    return fields.field("price", price).field("tags", SchemaBuilder.array(STRING_SCHEMA).optional().build()).build()


def _orders(schema: Schema, count: int) -> list[Struct]:
    prices = (1.5, None, math.nan, -math.inf, 0.0)
    return [
        Struct.of(schema, [n, TEXTS[n % len(TEXTS)], prices[n % len(prices)], None if n % 7 == 0 else ["a", "},{"]])
        for n in range(count)
    ]


def _each(schema: Schema, values: list[Any]) -> bytes:
    write = JsonWriter().writer(schema)
    return b"".join(write(value) + b"\n" for value in values)


@pytest.mark.parametrize("count", COUNTS)
def test_lines_of_structs(count: int) -> None:
    schema = SchemaBuilder.struct().field("id", INT64_SCHEMA).field("name", STRING_SCHEMA).build()
    values = [Struct.of(schema, [n, TEXTS[n % len(TEXTS)]]) for n in range(count)]
    lines = JsonWriter().lines_writer(schema)(values)
    assert lines == _each(schema, values)
    assert lines.count(b"\n") == count


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("default", [None, 2.5])
def test_lines_of_structs_with_nulls_and_special_floats(count: int, default: float | None) -> None:
    schema = _order(default=default)
    values = _orders(schema, count)
    assert JsonWriter().lines_writer(schema)(values) == _each(schema, values)


def test_lines_of_nested_structs() -> None:
    inner = SchemaBuilder.struct().field("x", FLOAT64_SCHEMA).build()
    schema = SchemaBuilder.struct().field("id", INT64_SCHEMA).field("in", SchemaBuilder.array(inner).build()).build()
    values = [Struct.of(schema, [n, [Struct.of(inner, [float(n)])] * (n % 3)]) for n in range(300)]
    assert JsonWriter().lines_writer(schema)(values) == _each(schema, values)


def test_lines_of_structs_without_fields_and_with_one() -> None:
    for schema, row in (
        (SchemaBuilder.struct().build(), []),
        (SchemaBuilder.struct().field("id", INT64_SCHEMA).build(), [7]),
    ):
        values = [Struct.of(schema, row)] * 130
        assert JsonWriter().lines_writer(schema)(values) == _each(schema, values)


def test_structs_of_an_equal_schema_are_written_and_those_of_another_are_refused() -> None:
    schema, equal, other = _order(), _order(), _order(default=1.0)
    values = _orders(schema, 3) + _orders(equal, 3)
    write = JsonWriter().lines_writer(schema)
    assert write(values) == _each(schema, values)
    with pytest.raises(DataError, match="Mismatching schema"):
        write(values + _orders(other, 1))
    with pytest.raises(DataError, match="Invalid type for STRUCT: dict"):
        write([*values, {"id": 1}])


def test_a_null_that_must_not_be_there_is_refused_wherever_it_is() -> None:
    schema = _order()
    values = _orders(schema, 300)
    values[200] = Struct.of(schema, [None, "x", 1.0, None])
    with pytest.raises(DataError, match=r'null value.*"id"'):
        JsonWriter().lines_writer(schema)(values)


def test_lines_do_not_keep_values_from_before() -> None:
    schema = _order()
    write = JsonWriter().lines_writer(schema)
    write(_orders(schema, 128))
    fewer = _orders(schema, 5)[::-1]
    assert write(fewer) == _each(schema, fewer)


@pytest.mark.parametrize("count", COUNTS)
def test_lines_without_schema(count: int) -> None:
    kinds: list[Any] = [
        {"id": 1, "t": TEXTS[3]},
        {"x": math.nan},
        [1, None, {"a": TEXTS[4]}],
        None,
        "},{",
        1.5,
        {1: 2},
        b"\0",
    ]
    values = [kinds[n % len(kinds)] for n in range(count)]
    assert write_schemaless_lines(values) == b"".join(write_schemaless(value) + b"\n" for value in values)
