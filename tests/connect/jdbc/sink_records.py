"""Records for tests of the sink, and a task as a worker drives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import Self

from penstock.connect.connectors.jdbc.sink.connector import JdbcSinkConnector
from penstock.connect.connectors.jdbc.sink.task import JdbcSinkTask
from penstock.connect.data import (
    INT64_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    SinkRecord,
    Struct,
)
from tests.servers.fixtures import OwnDatabase

ORDER = (
    SchemaBuilder.struct()
    .name("order")
    .field("id", INT64_SCHEMA)
    .field("item", OPTIONAL_STRING_SCHEMA)
    .field("price", OPTIONAL_FLOAT64_SCHEMA)
    .build()
)
ORDER_KEY = SchemaBuilder.struct().field("id", INT64_SCHEMA).build()


def order(number: int, item: str | None = "tap", price: float | None = 1.5) -> Struct:
    return Struct(ORDER, {"id": number, "item": item, "price": price})


def order_key(number: int) -> Struct:
    return Struct(ORDER_KEY, {"id": number})


def record(
    value: Any,
    offset: int = 0,
    *,
    key: Any = None,
    topic: str = "orders",
    partition: int = 0,
    value_schema: Schema | None = None,
    key_schema: Schema | None = None,
) -> SinkRecord:
    """A record; schemas of structs are the structs' own."""
    if isinstance(value, Struct):
        value_schema = value.schema
    if isinstance(key, Struct):
        key_schema = key.schema
    return SinkRecord(
        topic, partition, key_schema, key, value_schema, value, offset=offset,
        original_topic=topic, original_partition=partition, original_offset=offset,
    )  # fmt: skip


class Reports:
    """A context that tolerates errors and keeps what is reported."""

    def __init__(self) -> None:
        self.reported: list[tuple[SinkRecord, Exception]] = []

    def report(self, record: SinkRecord, error: Exception) -> None:
        self.reported.append((record, error))

    @property
    def offsets(self) -> list[int | None]:
        return [record.original_offset for record, _ in self.reported]

    @property
    def messages(self) -> list[str]:
        return [str(error) for _, error in self.reported]


class Sink:
    """A task on a database; the `with` block is its life."""

    def __init__(
        self, database: OwnDatabase, settings: Mapping[str, str] | None = None, *, tolerant: bool = False
    ) -> None:
        config = {**database.config, "auto.create": "true", "retry.backoff.ms": "10", **(settings or {})}
        self.task = JdbcSinkTask(JdbcSinkConnector(config).task_configs(1)[0])
        self.reports = Reports()
        if tolerant:
            self.task.context = self.reports

    def __enter__(self) -> Self:
        self.task.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.task.stop()

    def put(self, *records: SinkRecord) -> None:
        self.task.put(list(records))


def wide(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows as tuples, in order."""
    return sorted(tuple(row) for row in rows)
