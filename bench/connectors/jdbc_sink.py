"""The JDBC sink beside executemany."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack, closing

from bench.connectors.databases import BATCH, COLUMNS, BenchDatabase, Row, databases, rows_of
from bench.connectors.measure import Measure
from penstock.connect.connectors.jdbc.sink.task import JdbcSinkTask
from penstock.connect.converters.json_converter import JsonConverter
from penstock.connect.converters.simple_header_converter import SimpleHeaderConverter
from penstock.connect.converters.string_converter import StringConverter
from penstock.connect.data import SinkColumns, TimestampType
from penstock.connect.failures import ConsumedColumns, ErrorSettings, RetryWithTolerance
from penstock.connect.pipelines import SinkPipeline

TABLE = "orders"
_TYPES = ("int64", "string", "double", "boolean", "int64", "string")
_SCHEMA = {
    "type": "struct",
    "optional": False,
    "fields": [
        {"field": name, "type": kind, "optional": name != "id"} for name, kind in zip(COLUMNS, _TYPES, strict=True)
    ],
}
_UPSERT = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"}
_TAILS = {
    "postgres": " ON CONFLICT (id) DO UPDATE SET " + ", ".join(f"{name} = EXCLUDED.{name}" for name in COLUMNS[1:]),
    "mariadb": " ON DUPLICATE KEY UPDATE " + ", ".join(f"{name} = VALUES({name})" for name in COLUMNS[1:]),
}


def measures(rows: int, resources: ExitStack) -> list[Measure]:
    """Inserts, upserts, and upserts of plain JSON, for each database."""
    data = rows_of(rows)
    found = []
    for database in databases(resources):
        for title, settings, schemas in (
            ("insert", {}, True),
            ("upsert", _UPSERT, True),
            ("upsert, schema.infer", {**_UPSERT, "schema.infer": "true"}, False),
        ):
            before = database.fresh(TABLE)
            before()
            ours = _ours(database, settings, _consumed(data, schemas=schemas), resources, schemas=schemas)
            tail = _TAILS[database.server.NAME] if settings else ""
            found.append(Measure(f"{database.title}, {title}", rows, ours, _plain(database, data, tail), before))
    return found


def _plain(database: BenchDatabase, rows: list[Row], tail: str) -> Callable[[], None]:
    statement = f"INSERT INTO {TABLE} ({', '.join(COLUMNS)}) VALUES (%s, %s, %s, %s, %s, %s){tail}"

    def run() -> None:
        for begin in range(0, len(rows), BATCH):
            with closing(database.connection.cursor()) as cursor:
                cursor.executemany(statement, rows[begin : begin + BATCH])
            database.connection.commit()

    return run


def _consumed(rows: list[Row], *, schemas: bool) -> list[ConsumedColumns]:
    """The rows as a topic has them, in batches."""
    values = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    messages = [json.dumps({"schema": _SCHEMA, "payload": value} if schemas else value).encode() for value in values]
    batches = []
    for begin in range(0, len(rows), BATCH):
        part = messages[begin : begin + BATCH]
        count = len(part)
        offsets = list(range(begin, begin + count))
        kinds = [TimestampType.CREATE_TIME] * count
        batches.append(ConsumedColumns(TABLE, 0, offsets, [None] * count, list(part), [0] * count, kinds))
    return batches


def _ours(
    database: BenchDatabase,
    settings: dict[str, str],
    batches: list[ConsumedColumns],
    resources: ExitStack,
    *,
    schemas: bool,
) -> Callable[[], None]:
    pipeline = SinkPipeline(
        key_converter=StringConverter(is_key=True),
        value_converter=JsonConverter({"schemas.enable": str(schemas).lower()}),
        header_converter=SimpleHeaderConverter(),
        operator=RetryWithTolerance(ErrorSettings()),
    )
    task = JdbcSinkTask({**database.config, **settings})
    task.start()
    resources.callback(task.stop)

    def run() -> None:
        for batch in batches:
            found = pipeline.convert_columns(batch)
            if isinstance(found, SinkColumns):
                task.put_columns(found)
            else:
                task.put(found)

    return run
