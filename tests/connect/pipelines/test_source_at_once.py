"""Records that are alike are converted at once; what comes out is what comes out one by one."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.connect.converters.json_converter import JsonConverter
from penstock.connect.converters.simple_header_converter import SimpleHeaderConverter
from penstock.connect.converters.string_converter import StringConverter
from penstock.connect.data import (
    INT32_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    STRING_SCHEMA,
    ConnectHeaders,
    SchemaBuilder,
    SourceRecord,
    Struct,
)
from penstock.connect.failures import ErrorSettings, RetryWithTolerance
from penstock.connect.failures.operator import ToleranceExceeded
from penstock.connect.pipelines import SourcePipeline

SCHEMA = SchemaBuilder.struct().field("id", INT32_SCHEMA).field("price", OPTIONAL_FLOAT64_SCHEMA).build()


def pipeline(*, tolerant: bool = False, schemas: bool = False) -> SourcePipeline:
    return SourcePipeline(
        key_converter=StringConverter(is_key=True),
        value_converter=JsonConverter({"schemas.enable": str(schemas).lower()}),
        header_converter=SimpleHeaderConverter(),
        operator=RetryWithTolerance(ErrorSettings(tolerate_all=tolerant)),
    )


def record(number: int, price: float | None = None, **changes: Any) -> SourceRecord:
    value = Struct.of(SCHEMA, [number, price])
    return SourceRecord("t", value_schema=SCHEMA, value=value, timestamp=number).new_record(**changes)


TEXTS = SchemaBuilder.struct().field("text", STRING_SCHEMA).build()


def text(value: str) -> SourceRecord:
    return SourceRecord("t", value_schema=TEXTS, value=Struct.of(TEXTS, [value]))


RECORDS = {
    "lines": [text("two\nlines"), text("},\n{"), text("null"), text("")],
    "alike": [record(1, 1.5), record(2, float("nan")), record(3, None)],
    "keys": [record(1, key="a", key_schema=STRING_SCHEMA), record(2), record(3, key="c", key_schema=STRING_SCHEMA)],
    "topics": [record(1), record(2, topic="other")],
    "values": [record(1), record(2, value=None, value_schema=None)],
    "plain": [record(1, value={"a": 1}, value_schema=None), record(2, value="x", value_schema=None)],
    "headers": [record(1), record(2, headers=ConnectHeaders().add("h", 5, INT32_SCHEMA))],
    "partitions": [record(1, partition=4), record(2, partition=None)],
    "one": [record(1)],
    "none": [],
}


@pytest.mark.parametrize("schemas", [False, True])
@pytest.mark.parametrize("name", RECORDS)
def test_together_as_one_by_one(name: str, schemas: bool) -> None:
    records = RECORDS[name]
    single = [one for record in records for one in pipeline(schemas=schemas).convert([record])]
    assert pipeline(schemas=schemas).convert(records) == single


def test_a_record_that_cannot_be_converted_is_skipped_or_fails_and_the_others_are_not() -> None:
    records = [record(1), SourceRecord("t", value_schema=SCHEMA, value=Struct.of(SCHEMA, [None, 1.0])), record(3)]
    assert [one.timestamp for one in pipeline(tolerant=True).convert(records)] == [1, 3]
    with pytest.raises(ToleranceExceeded):
        pipeline().convert(records)
