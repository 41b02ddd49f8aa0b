"""The storage sink to a local folder beside plain writes of the same rows with pyarrow and orjson."""

from __future__ import annotations

import gc
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from bench.connectors.databases import COLUMNS, Row, rows_of
from bench.connectors.measure import Measure
from penstock.connect.connectors.storage.file_system_sink import FileSystemSinkTask
from penstock.connect.connectors.storage.formats.arrow_types import arrow_schema
from penstock.connect.data import (
    INT64_SCHEMA,
    OPTIONAL_BOOLEAN_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    SchemaBuilder,
    SinkColumns,
    SinkRecord,
    Struct,
)
from penstock.spark.tasks.garbage import Garbage

BATCH = 5000  # records of one put
FILES = 2
_SCHEMAS = (
    INT64_SCHEMA, OPTIONAL_STRING_SCHEMA, OPTIONAL_FLOAT64_SCHEMA, OPTIONAL_BOOLEAN_SCHEMA, OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
)  # fmt: skip


def measures(rows: int, resources: ExitStack) -> list[Measure]:
    """Parquet and JSON."""
    data = rows_of(rows)
    folder = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="penstock-bench-")))
    ours, dicts = _records(data), [dict(zip(COLUMNS, row, strict=True)) for row in data]
    structs, objects = _batches(ours), _batches([r.with_value(None, v) for r, v in zip(ours, dicts, strict=True)])
    single = [batch.records() for batch in structs]
    size = rows // FILES
    # As the process of a task does: what stays is not looked through for cycles again and again.
    garbage = Garbage()
    resources.callback(gc.unfreeze)
    garbage.set_aside()
    before = _fresh(folder)
    return [
        Measure("Parquet", rows, _ours(folder, "ParquetFormat", structs, size), _plain_parquet(folder, dicts, size), before),
        Measure(
            "Parquet, hourly folders", rows, _ours(folder, "ParquetFormat", structs, size, hourly=True),
            _plain_parquet(folder, dicts, size), before,
        ),
        Measure(
            "Parquet, single records", rows, _ours(folder, "ParquetFormat", single, size),
            _plain_parquet(folder, dicts, size), before,
        ),
        Measure("JSON, objects without schema", rows, _ours(folder, "JsonFormat", objects, size), _plain_json(folder, dicts, size), before),
        Measure("JSON, structs", rows, _ours(folder, "JsonFormat", structs, size), _plain_json(folder, dicts, size), before),
    ]  # fmt: skip


def _records(rows: list[Row]) -> list[SinkRecord]:
    builder = SchemaBuilder.struct()
    for name, schema in zip(COLUMNS, _SCHEMAS, strict=True):
        builder.field(name, schema)
    schema = builder.build()
    return [
        SinkRecord(
            "orders", 0, value_schema=schema, value=Struct.of(schema, list(row)), timestamp=1_700_000_000_000 + offset,
            offset=offset, original_topic="orders", original_partition=0, original_offset=offset,
        )
        for offset, row in enumerate(rows)
    ]  # fmt: skip


def _batches(records: list[SinkRecord]) -> list[SinkColumns]:
    """As a worker gives them to a task, where no transform needs single records."""
    found = []
    for begin in range(0, len(records), BATCH):
        columns = [list(column) for column in zip(*records[begin : begin + BATCH], strict=True)]
        _, _, key_schemas, keys, value_schemas, values, times, _, offsets, kinds, *_ = columns
        found.append(SinkColumns("orders", 0, offsets, key_schemas, keys, value_schemas, values, times, kinds))
    return found


def _fresh(folder: Path) -> Callable[[], None]:
    def empty() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()

    return empty


def _ours(
    folder: Path,
    format_class: str,
    batches: Sequence[SinkColumns | list[SinkRecord]],
    size: int,
    *,
    hourly: bool = False,
) -> Callable[[], None]:
    config = {"name": "bench", "store.url": str(folder), "format.class": format_class, "flush.size": str(size)}
    if hourly:
        config |= {
            "partitioner.class": "HourlyPartitioner",
            "locale": "en",
            "timezone": "UTC",
            "timestamp.extractor": "Record",
        }

    def run() -> None:
        task = FileSystemSinkTask(config)
        task.start()
        for batch in batches:
            if isinstance(batch, SinkColumns):
                task.put_columns(batch)
            else:
                task.put(batch)
        task.stop()
        assert sum(path.is_file() for path in (folder / "topics" / "orders").rglob("*")) == FILES

    return run


def _plain_parquet(folder: Path, rows: list[dict[str, Any]], size: int) -> Callable[[], None]:
    builder = SchemaBuilder.struct()
    for name, schema in zip(COLUMNS, _SCHEMAS, strict=True):
        builder.field(name, schema)
    arrow = arrow_schema(builder.build())

    def run() -> None:
        for number, begin in zip(count(), range(0, len(rows), size), strict=False):
            pq.write_table(pa.Table.from_pylist(rows[begin : begin + size], arrow), folder / f"{number}.parquet")

    return run


def _plain_json(folder: Path, rows: list[dict[str, Any]], size: int) -> Callable[[], None]:
    def run() -> None:
        for number, begin in zip(count(), range(0, len(rows), size), strict=False):
            with (folder / f"{number}.json").open("wb") as file:
                for row in rows[begin : begin + size]:
                    file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))

    return run
