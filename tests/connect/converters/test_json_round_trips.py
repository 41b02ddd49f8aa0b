"""Random values, and numbers that are too much."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.connect.converters.json_converter import JsonConverter
from penstock.connect.data import (
    STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    Struct,
    Type,
)
from penstock.connect.errors import DataError

ON = JsonConverter()
OFF = JsonConverter({"schemas.enable": "false"})


_VALUES: dict[Type, Callable[[], st.SearchStrategy[Any]]] = {
    Type.INT8: lambda: st.integers(-128, 127),
    Type.INT32: lambda: st.integers(-(2**31), 2**31 - 1),
    Type.INT64: lambda: st.integers(-(2**63), 2**63 - 1),
    Type.FLOAT32: lambda: st.floats(width=32, allow_nan=False),
    Type.FLOAT64: lambda: st.floats(allow_nan=False),
    Type.BOOLEAN: st.booleans,
    Type.STRING: lambda: st.text(alphabet=st.characters(exclude_categories=["Cs"])),
    Type.BYTES: st.binary,
}


@st.composite
def _typed(draw: st.DrawFn, depth: int = 2) -> tuple[Schema, Any]:
    """A schema and a value that fits it."""
    kind = draw(st.sampled_from([*_VALUES, *([Type.ARRAY, Type.MAP, Type.STRUCT] if depth else [])]))
    optional = draw(st.booleans())
    value: Any
    if kind is Type.STRUCT:
        parts = draw(st.lists(_typed(depth=depth - 1), max_size=4))
        builder = SchemaBuilder.struct()
        for index, (part, _) in enumerate(parts):
            builder.field(f"f{index}", part)
        schema = (builder.optional() if optional else builder).build()
        value = Struct.of(schema, [one for _, one in parts])
    elif kind in _VALUES:
        schema, value = Schema(kind, optional=optional), draw(_VALUES[kind]())
    else:
        element, one = draw(_typed(depth=depth - 1))
        builder = SchemaBuilder.array(element) if kind is Type.ARRAY else SchemaBuilder.map(STRING_SCHEMA, element)
        schema = (builder.optional() if optional else builder).build()
        value = [one] if kind is Type.ARRAY else {"k": one}
    return schema, None if optional and draw(st.booleans()) else value


@settings(max_examples=200)
@given(_typed())
def test_what_is_written_reads_back(typed: tuple[Schema, Any]) -> None:
    schema, value = typed
    data = ON.from_connect_data("t", schema, value)
    assert data is not None
    assert ON.to_connect_data("t", data) == (schema, value)


HUGE_FIELDS = (
    '{"schema":{"type":"struct","fields":[{"field":"d","type":"bytes","name":"org.apache.kafka.connect.data.Decimal",'
    '"parameters":{"scale":"%s"}},{"field":"i","type":"int64"}]},"payload":{"d":%s,"i":%s}}'
)


def exact_converter(scale: int) -> JsonConverter:
    """One that knows by the schema of an earlier record that numbers need all their digits."""
    converter = JsonConverter({})
    try:
        converter.to_connect_data("t", (HUGE_FIELDS % (scale, "0.5", "1")).encode())
    except DataError:
        pass
    return converter


@pytest.mark.parametrize(
    ("scale", "number", "whole", "message"),
    [
        (2, "1e2000000", "1", r"Decimal 1E\+2000000 with scale 2 has more than 4000 digits"),
        (2, "1.5", "1e2000000", r"1E\+2000000 does not fit INT64"),
        (2, "1.5", "-1e2000000", r"-1E\+2000000 does not fit INT64"),
        (2_000_000, "1.5", "1", "with scale 2000000 has more than 4000 digits"),
        (2, "1e-2000000", "1", "more than the 2 digits after the point"),
    ],
)
@pytest.mark.timeout(20)
def test_a_short_text_that_is_a_huge_number(scale: int, number: str, whole: str, message: str) -> None:
    converter = exact_converter(scale)
    with pytest.raises(DataError, match=message):
        converter.to_connect_data("t", (HUGE_FIELDS % (scale, number, whole)).encode())


def test_large_numbers_that_are_numbers() -> None:
    read = exact_converter(2).to_connect_data("t", (HUGE_FIELDS % (2, "1e3000", "9.0e18")).encode())
    assert read.value.get("d") == Decimal("1e3000")
    assert read.value.get("i") == 9 * 10**18
