"""What travels between the levels of a query: a few rows, each with many records packed inside.

Spark moves rows one by one through the JVM, so records are packed: one row for each pair of upstream and downstream task
holds all their records as an Arrow record batch. Other rows carry the batch's plan downstream and metrics to the end.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from penstock.records import Headers

RECORDS, PLAN, METRICS = 0, 1, 2
METRIC_COLUMNS = (
    "records_in", "records_out", "dropped", "state_rows", "state_bytes", "segment_bytes", "elapsed_us", "tasks",
)  # fmt: skip
SPARK_SCHEMA = (
    "slot int, level int, kind int, subtopology int, partition int, topic string, source string, payload binary, "
    + ", ".join(f"{name} bigint" for name in METRIC_COLUMNS)
)
_FIELDS: list[tuple[str, Any]] = [
    ("slot", pa.int32()),
    ("level", pa.int32()),
    ("kind", pa.int32()),
    ("subtopology", pa.int32()),
    ("partition", pa.int32()),
    ("topic", pa.string()),
    ("source", pa.string()),
    ("payload", pa.binary()),
    *((name, pa.int64()) for name in METRIC_COLUMNS),
]
ARROW_SCHEMA = pa.schema(_FIELDS)
_RECORD_FIELDS: list[tuple[str, Any]] = [
    ("timestamp", pa.int64()), ("key", pa.binary()), ("value", pa.binary()), ("headers", pa.binary()),
]  # fmt: skip
_RECORD_SCHEMA = pa.schema(_RECORD_FIELDS)
_MAX_BLOB_RECORDS = 200_000

Row = dict[str, Any]


class RecordBuffer:
    """Records of one topic on their way to one task, column by column."""

    __slots__ = ("headers", "keys", "timestamps", "values")

    def __init__(self) -> None:
        self.timestamps: list[int] = []
        self.keys: list[bytes | None] = []
        self.values: list[bytes | None] = []
        self.headers: list[Headers] = []

    def add(self, key: bytes | None, value: bytes | None, timestamp: int, headers: Headers) -> None:
        """Append one record."""
        self.timestamps.append(timestamp)
        self.keys.append(key)
        self.values.append(value)
        self.headers.append(headers)

    def blobs(self) -> Iterator[bytes]:
        """The records as Arrow streams."""
        for start in range(0, len(self.timestamps), _MAX_BLOB_RECORDS):
            part = slice(start, start + _MAX_BLOB_RECORDS)
            headers = self.headers[part]
            packed = [pickle.dumps(tuple(h)) if h else None for h in headers] if any(headers) else None
            batch = pa.record_batch(
                [
                    pa.array(self.timestamps[part], pa.int64()),
                    pa.array(self.keys[part], pa.binary()),
                    pa.array(self.values[part], pa.binary()),
                    pa.array(packed, pa.binary()) if packed else pa.nulls(len(headers), pa.binary()),
                ],
                schema=_RECORD_SCHEMA,
            )
            sink = pa.BufferOutputStream()
            with ipc.new_stream(sink, _RECORD_SCHEMA) as writer:
                writer.write_batch(batch)
            yield sink.getvalue().to_pybytes()


Unpacked = tuple[list[int], list["bytes | None"], list["bytes | None"], "list[bytes | None] | None"]


def unpack(blob: bytes) -> Unpacked:
    """Timestamps, keys, values and (if there are any) pickled headers of a blob."""
    with ipc.open_stream(blob) as reader:
        batch = reader.read_next_batch()
    columns: list[Any] = batch.columns
    headers = columns[3]
    return (
        columns[0].to_pylist(),
        columns[1].to_pylist(),
        columns[2].to_pylist(),
        None if headers.null_count == len(headers) else headers.to_pylist(),
    )


def unpack_headers(packed: bytes | None) -> Sequence[tuple[str, bytes | None]]:
    """Headers of one record."""
    return () if packed is None else pickle.loads(packed)


def to_batch(rows: Iterable[Row]) -> pa.RecordBatch:
    """Rows as an Arrow record batch of the schema between levels."""
    given = list(rows)
    return pa.RecordBatch.from_pylist(
        [{name: row.get(name) for name in ARROW_SCHEMA.names} for row in given], ARROW_SCHEMA
    )
