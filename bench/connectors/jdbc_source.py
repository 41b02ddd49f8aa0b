"""The JDBC source beside a loop of SELECTs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from itertools import islice
from typing import Any

import orjson

from bench.connectors.databases import BATCH, COLUMNS, BenchDatabase, databases, rows_of
from bench.connectors.measure import Measure
from bench.output import BenchmarkFailed
from penstock.connect.connectors.jdbc.source.task import TABLES, JdbcSourceTask
from penstock.connect.converters.json_converter import JsonConverter
from penstock.connect.converters.simple_header_converter import SimpleHeaderConverter
from penstock.connect.converters.string_converter import StringConverter
from penstock.connect.failures import ErrorSettings, RetryWithTolerance
from penstock.connect.pipelines import SourcePipeline
from penstock.connect.spark.source_host import CHUNK_RECORDS

TABLE = "orders"


def measures(rows: int, resources: ExitStack) -> list[Measure]:
    """A table with a growing number, read once from its beginning, for each database."""
    found = []
    for database in databases(resources):
        database.fresh(TABLE, rows_of(rows))()
        found.append(
            Measure(f"{database.title}, incrementing", rows, _ours(database, rows, resources), _plain(database, rows))
        )
    return found


def _plain(database: BenchDatabase, expected: int) -> Callable[[], None]:
    statement = f"SELECT {', '.join(COLUMNS)} FROM {TABLE} WHERE id > %s ORDER BY id LIMIT {BATCH}"

    def run() -> None:
        last, count = -1, 0
        while True:
            with closing(database.connection.cursor()) as cursor:
                cursor.execute(statement, (last,))
                rows = cursor.fetchall()
            database.connection.commit()
            if not rows:
                break
            messages = [orjson.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows]
            last, count = rows[-1][0], count + len(messages)
        _check(count, expected)

    return run


class _Offsets:
    """Offsets of one run."""

    def __init__(self) -> None:
        self.known: dict[str, Mapping[str, Any]] = {}

    def offset(self, partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return self.known.get(repr(partition))


def _ours(database: BenchDatabase, expected: int, resources: ExitStack) -> Callable[[], None]:
    settings = {
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": "bench-",
        "poll.interval.ms": "1",
        "batch.max.rows": str(BATCH),
        TABLES: json.dumps(_table(database)),
    }
    pipeline = SourcePipeline(
        key_converter=StringConverter(is_key=True),
        value_converter=JsonConverter({"schemas.enable": "false"}),
        header_converter=SimpleHeaderConverter(),
        operator=RetryWithTolerance(ErrorSettings()),
    )
    task = JdbcSourceTask({**database.config, **settings})
    task.start()
    resources.callback(task.stop)

    def run() -> None:
        offsets, count = _Offsets(), 0
        while count < expected:
            ranges = task.plan(offsets)
            if not ranges:
                break
            for wanted in ranges:
                records = task.read(wanted)
                while chunk := list(islice(records, CHUNK_RECORDS)):
                    count += len(pipeline.convert(chunk))
                offsets.known[repr(wanted.partition)] = wanted.end
        _check(count, expected)

    return run


def _table(database: BenchDatabase) -> list[list[str | None]]:
    if database.server.NAME == "postgres":
        return [[None, "public", TABLE]]
    return [[database.name, None, TABLE]]


def _check(count: int, expected: int) -> None:
    if count != expected:
        raise BenchmarkFailed(f"{count:,} rows of {expected:,} were read")
