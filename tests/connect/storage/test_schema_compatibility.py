from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from penstock.connect.connectors.storage.schema_compatibility import Fit, SchemaCompatibility
from penstock.connect.connectors.storage.schema_projector import project
from penstock.connect.data import (
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    SinkRecord,
    Struct,
)
from penstock.connect.errors import SchemaProjectorError
from tests.connect.storage.running_sink import RunningSink, files, local, record

V1 = SchemaBuilder.struct().name("Order").version(1).field("id", INT32_SCHEMA).field("note", STRING_SCHEMA).build()
V2 = (
    SchemaBuilder.struct()
    .name("Order")
    .version(2)
    .field("id", INT64_SCHEMA)
    .field("note", STRING_SCHEMA)
    .field("lots", SchemaBuilder.int32().default(1).optional().build())
    .build()
)

V3 = SchemaBuilder.struct().name("Order").version(3).field("id", INT64_SCHEMA).field("note", STRING_SCHEMA).build()


def of(offset: int, schema: Schema) -> SinkRecord:
    values: dict[str, Any] = {"id": offset, "note": "n", **({"lots": 5} if schema is V2 else {})}
    return record(offset, Struct(schema, values), schema)


def written(folder: Path, mode: str, schemas: list[Schema]) -> list[list[dict[str, Any]]]:
    config = local(folder, schema_compatibility=mode, flush_size=str(len(schemas)))
    with RunningSink("FileSystemSink", config) as sink:
        sink.put([of(offset, schema) for offset, schema in enumerate(schemas)])
        sink.put([record(99, {"end": 1}, None)][:0])
        for writer in sink.task._writers.values():
            writer.rotate()
    return [[orjson.loads(line) for line in data.splitlines()] for data in files(folder).values()]


def one(offset: int, lots: int | None) -> dict[str, Any]:
    return {"id": offset, "note": "n"} if lots is None else {"id": offset, "note": "n", "lots": lots}


def test_none_begins_files_at_every_difference(tmp_path: Path) -> None:
    found = written(tmp_path, "NONE", [V1, V2, V2, V1])
    assert found == [[one(0, None)], [one(1, 5), one(2, 5)], [one(3, None)]]


@pytest.mark.parametrize("mode", ["BACKWARD", "FULL"])
def test_backward_begins_files_at_a_newer_version_and_converts_older_records(tmp_path: Path, mode: str) -> None:
    found = written(tmp_path, mode, [V1, V2, V1, V2])
    assert found == [[one(0, None)], [one(1, 5), one(2, 1), one(3, 5)]]


def test_forward_begins_files_at_an_older_version_and_converts_newer_records(tmp_path: Path) -> None:
    found = written(tmp_path, "FORWARD", [V2, V1, V1, V1])
    assert found == [[one(0, 5)], [one(1, None), one(2, None), one(3, None)]]


def test_forward_does_not_narrow(tmp_path: Path) -> None:
    config = local(tmp_path, schema_compatibility="FORWARD")
    with (
        RunningSink("FileSystemSink", config) as sink,
        pytest.raises(SchemaProjectorError, match=r"value.id: INT64 cannot become INT32"),
    ):
        sink.put([of(0, V1), of(1, V2)])


def test_versions_are_needed() -> None:
    bare = SchemaBuilder.struct().field("id", INT32_SCHEMA).build()
    other = SchemaBuilder.struct().field("id", INT64_SCHEMA).build()
    assert SchemaCompatibility("NONE", 10).fit(bare, other) is Fit.ROTATE
    with pytest.raises(SchemaProjectorError, match="Schema version required for BACKWARD compatibility"):
        SchemaCompatibility("BACKWARD", 10).fit(bare, other)


@pytest.mark.parametrize("mode", ["NONE", "FULL"])
def test_with_and_without_schema_do_not_mix(tmp_path: Path, mode: str) -> None:
    config = local(tmp_path, schema_compatibility=mode)
    with (
        RunningSink("FileSystemSink", config) as sink,
        pytest.raises(SchemaProjectorError, match="Switch between schema-based and schema-less data is not supported"),
    ):
        sink.put([of(0, V1), record(1, {"id": 1}, None)])


def test_equal_schemas_of_two_objects_are_the_same() -> None:
    twin = (
        SchemaBuilder.struct().name("Order").version(1).field("id", INT32_SCHEMA).field("note", STRING_SCHEMA).build()
    )
    compatibility = SchemaCompatibility("NONE", 1)
    assert compatibility.fit(twin, V1) is Fit.SAME
    assert compatibility.fit(V2, V1) is Fit.ROTATE
    assert compatibility.fit(twin, V1) is Fit.SAME


@pytest.mark.parametrize(
    ("source", "value", "target", "projected"),
    [
        (INT8_SCHEMA, 5, INT64_SCHEMA, 5),
        (INT64_SCHEMA, 5, FLOAT64_SCHEMA, 5.0),
        (OPTIONAL_INT32_SCHEMA, None, SchemaBuilder.int32().default(3).build(), 3),
        (SchemaBuilder.array(INT8_SCHEMA).build(), [1], SchemaBuilder.array(INT32_SCHEMA).build(), [1]),
        (
            SchemaBuilder.map(STRING_SCHEMA, INT8_SCHEMA).build(),
            {"a": 1},
            SchemaBuilder.map(STRING_SCHEMA, FLOAT64_SCHEMA).build(),
            {"a": 1.0},
        ),
    ],
)
def test_values_that_fit(source: Schema, value: Any, target: Schema, projected: Any) -> None:
    found = project(source, value, target)
    assert (found, type(found)) == (projected, type(projected))


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (OPTIONAL_INT32_SCHEMA, INT32_SCHEMA, "the source is optional, the target is not"),
        (STRING_SCHEMA, INT32_SCHEMA, "STRING cannot become INT32"),
        (FLOAT64_SCHEMA, INT64_SCHEMA, "FLOAT64 cannot become INT64"),
        (SchemaBuilder.int32().name("a").build(), SchemaBuilder.int32().name("b").build(), "names differ: a and b"),
    ],
)
def test_values_that_do_not_fit(source: Schema, target: Schema, reason: str) -> None:
    with pytest.raises(SchemaProjectorError, match=reason):
        project(source, 1, target)


def test_a_field_without_default_is_required() -> None:
    target = SchemaBuilder.struct().name("Order").field("other", STRING_SCHEMA).build()
    with pytest.raises(SchemaProjectorError, match=r"requires the field other, which the source does not have"):
        project(V1, Struct(V1, {"id": 1, "note": "n"}), target)


@pytest.mark.parametrize("size", ["1", "1000"])
def test_how_many_comparisons_are_remembered_changes_nothing(tmp_path: Path, size: str) -> None:
    config = local(tmp_path, schema_compatibility="BACKWARD", schema_cache_size=size, flush_size="6")
    with RunningSink("FileSystemSink", config) as sink:
        sink.put([of(offset, schema) for offset, schema in enumerate((V2, V1, V3, V1, V2, V3))])
        known = sink.task._writing.compatibility._known
        assert len(known) <= int(size)
        sink.put([of(offset, V3) for offset in range(6, 10)])
    found = [[orjson.loads(line)["id"] for line in data.splitlines()] for data in files(tmp_path).values()]
    assert found == [[0, 1], [2, 3, 4, 5, 6, 7]]
