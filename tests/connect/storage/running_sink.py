"""A storage sink's task, and records for it."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from typing_extensions import Self

from penstock.connect.api import CONNECTORS, TopicPartition
from penstock.connect.config import ConfigDef
from penstock.connect.connectors.storage.storage_task import StorageSinkTask
from penstock.connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    SchemaBuilder,
    SinkColumns,
    SinkRecord,
    Struct,
    decimal_schema,
)

ORDER = (
    SchemaBuilder.struct()
    .name("shop.Order")
    .field("id", INT64_SCHEMA)
    .field("city", OPTIONAL_STRING_SCHEMA)
    .field("price", FLOAT64_SCHEMA)
    .build()
)
ADDRESS = SchemaBuilder.struct().field("street", STRING_SCHEMA).field("number", INT32_SCHEMA).optional().build()
EVERYTHING = (
    SchemaBuilder.struct()
    .name("Everything")
    .field("tiny", INT8_SCHEMA)
    .field("id", INT64_SCHEMA)
    .field("name", OPTIONAL_STRING_SCHEMA)
    .field("ok", BOOLEAN_SCHEMA)
    .field("half", FLOAT32_SCHEMA)
    .field("data", BYTES_SCHEMA)
    .field("day", DATE_SCHEMA)
    .field("at", TIMESTAMP_SCHEMA)
    .field("price", decimal_schema(2))
    .field("address", ADDRESS)
    .field("tags", SchemaBuilder.array(OPTIONAL_STRING_SCHEMA).optional().build())
    .field("counts", SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build())
    .field("homes", SchemaBuilder.array(ADDRESS).build())
    .field("size", SchemaBuilder.int32().default(7).optional().build())
    .build()
)
WITH_TIME = SchemaBuilder.struct().field("time", TIME_SCHEMA).build()
UTC = timezone.utc
T0 = TopicPartition("orders", 0)
FIRST_TIME = 1_700_000_000_000


def order(offset: int, schema: Schema = ORDER, **given: Any) -> Struct:
    """The order of an offset."""
    cities = ("Oslo", "Bergen", None)
    return Struct(schema, {"id": offset, "city": cities[offset % 3], "price": offset / 4, **given})


def everything(offset: int) -> Struct:
    """A row with a value of every type, or null where it may be."""
    address = Struct(ADDRESS, {"street": f"Main {offset}", "number": offset})
    values = {
        "tiny": offset % 100,
        "id": offset,
        "name": None if offset % 3 == 0 else f"Bjørn {offset}",
        "ok": offset % 2 == 0,
        "half": 0.5,
        "data": bytes([offset % 256]),
        "day": datetime(2024, 2, 28, tzinfo=UTC) + timedelta(days=offset),
        "at": datetime(2024, 2, 29, 12, 30, 15, 250_000, tzinfo=UTC) + timedelta(seconds=offset),
        "price": decimal.Decimal(offset) + decimal.Decimal("0.25"),
        "address": None if offset % 4 == 0 else address,
        "tags": None if offset % 5 == 0 else ["a", None],
        "counts": {"x": offset},
        "homes": [address] * (offset % 3),
    }
    return Struct(EVERYTHING, values)


def expected(offset: int) -> dict[str, Any]:
    """The same row, as Parquet and Avro readers give it."""
    row = everything(offset).to_dict()
    return {**row, "day": row["day"].date()}


def record(offset: int, value: Any = None, schema: Schema | None = ORDER, **given: Any) -> SinkRecord:
    """The record at an offset of orders-0."""
    if value is None and "value" not in given and schema is ORDER:
        value = order(offset)
    fields = {
        "topic": "orders",
        "partition": 0,
        "value_schema": schema,
        "value": value,
        "timestamp": FIRST_TIME + 1000 * offset,
        "offset": offset,
        "original_topic": "orders",
        "original_partition": 0,
        "original_offset": offset,
    }
    return SinkRecord(**{**fields, **given})


def columns_of(records: list[SinkRecord]) -> SinkColumns | None:
    """Records of one partition, which have no headers, by columns."""
    if not records:
        return None
    _, _, key_schemas, keys, value_schemas, values, times, _, offsets, kinds, *_ = map(list, zip(*records, strict=True))
    topic, partition = records[0].topic, records[0].partition
    assert topic is not None
    assert partition is not None
    return SinkColumns(topic, partition, offsets, key_schemas, keys, value_schemas, values, times, kinds)


class Reports:
    """Gathers the records a task cannot write."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []

    def report(self, record: SinkRecord, error: Exception) -> None:
        self.found.append((record.original_offset or 0, str(error)))


class RunningSink:
    """A task, as a worker hosts it.

    Args:
        connector: Name of the connector.
        config: Its settings.
        clock: Tells it the time.
    """

    def __init__(
        self,
        connector: str,
        config: Mapping[str, str],
        *,
        clock: Callable[[], int] | None = None,
        tolerant: bool = False,
    ) -> None:
        kind: Any = CONNECTORS.find(connector)
        self.definition: ConfigDef = kind.CONFIG
        given = {"name": "archive", "topics": "orders", "flush.size": "10", **config}
        list(kind.validate(given))
        self.task: StorageSinkTask = kind.TASK(given)
        self.reports = Reports()
        if tolerant:
            self.task.context = self.reports
        if clock is not None:
            self.task.clock = clock
        self.safe: dict[TopicPartition, int] = {}

    def __enter__(self) -> Self:
        self.task.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.task.stop()

    def put(self, records: Iterable[SinkRecord]) -> int:
        """Hand over records of orders-0; the offset below which everything is safe."""
        batch = list(records)
        self.hand_over(batch)
        return self.commit(max((r.original_offset or 0 for r in batch), default=-1) + 1)

    def hand_over(self, batch: list[SinkRecord]) -> None:
        """As a worker: by columns, unless a transform or headers need single records."""
        by_columns = columns_of(batch)
        if by_columns is None or by_columns.records() != batch:
            self.task.put(batch)
        else:
            self.task.put_columns(by_columns)

    def commit(self, end: int) -> int:
        """What the task says is safe, of what it was given up to an offset."""
        self.safe.update(self.task.pre_commit({T0: end}))
        return self.safe[T0]


def local(folder: Path, format_class: str = "JsonFormat", **config: str) -> dict[str, str]:
    """The settings of a sink to a folder; `_` stands for a dot."""
    given = {key.replace("_", "."): value for key, value in config.items()}
    return {"store.url": str(folder), "format.class": format_class, **given}


def files(folder: Path) -> dict[str, bytes]:
    """The files that count below a folder, by their path."""
    root = folder / "topics"
    found = (path for path in sorted(root.rglob("*")) if path.is_file() and "+tmp" not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def left_over(folder: Path) -> list[Path]:
    """The files that do not count."""
    return [path for path in (folder / "topics").rglob("*") if path.is_file() and "+tmp" in path.parts]
