"""Records by columns make the same files as records one by one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.connect.data import INT64_SCHEMA, OPTIONAL_STRING_SCHEMA, SchemaBuilder, SinkRecord, Struct
from tests.connect.storage.running_sink import FIRST_TIME, ORDER, RunningSink, columns_of, files, local, order, record

OTHER = SchemaBuilder.struct().field("id", INT64_SCHEMA).field("city", OPTIONAL_STRING_SCHEMA).build()
TIMES = {"locale": "en", "timezone": "UTC"}
DIVIDED: list[dict[str, str]] = [
    {},
    {"partitioner.class": "HourlyPartitioner", "timestamp.extractor": "Record", **TIMES},
    {
        "partitioner.class": "HourlyPartitioner",
        "timestamp.extractor": "Record",
        "rotate.interval.ms": "600000",
        **TIMES,
    },
    {"partitioner.class": "DailyPartitioner", "timestamp.extractor": "RecordField", "timestamp.field": "id", **TIMES},
    {"partitioner.class": "FieldPartitioner", "partition.field.name": "city"},
    {"rotate.file.bytes": "100"},
    {"store.kafka.keys": "true"},
]
Given = tuple[str, int, "int | None"]


def made(offset: int, given: Given) -> SinkRecord:
    kind, key, time = given
    stamp = None if time is None else FIRST_TIME + 600_000 * time
    if kind == "null":
        return record(offset, None, None, key=key, timestamp=stamp)
    if kind == "other":
        return record(offset, Struct(OTHER, {"id": offset, "city": "Oslo"}), OTHER, key=key, timestamp=stamp)
    bad = Struct.of(ORDER, [None, "Oslo", 1.0])
    return record(offset, bad if kind == "bad" else order(offset), ORDER, key=key, timestamp=stamp)


GIVEN = st.tuples(
    st.sampled_from(["good"] * 8 + ["null", "other", "bad"]),
    st.integers(0, 3),
    st.one_of(st.integers(0, 9), st.sampled_from([0] * 9 + [None])),
)


@pytest.mark.slow
@given(
    batches=st.lists(st.lists(GIVEN, min_size=1, max_size=8), min_size=1, max_size=5),
    back=st.integers(0, 4),
    flush_size=st.integers(1, 9),
    divided=st.sampled_from(DIVIDED),
    format_class=st.sampled_from(["JsonFormat", "AvroFormat", "ParquetFormat"]),
)
@settings(max_examples=50, deadline=None)
def test_the_same_files_reports_and_offsets(
    batches: list[list[Given]], back: int, flush_size: int, divided: dict[str, str], format_class: str
) -> None:
    found: list[Any] = []
    for by_columns in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            config = {**local(Path(folder), format_class, flush_size=str(flush_size)), **divided}
            config["behavior.on.null.values"] = "ignore"
            with RunningSink("FileSystemSink", config, tolerant=True) as sink:
                safe = []
                offset = 0
                for batch in batches:
                    records = [made(offset + place, one) for place, one in enumerate(batch)]
                    for part in (records, records[-back:]):  # some of them come again
                        columns = columns_of(part)
                        assert columns is not None
                        assert columns.records() == part
                        sink.task.put_columns(columns) if by_columns else sink.task.put(part)
                    offset += len(batch)
                    safe.append(sink.commit(offset))
                written = files(Path(folder))
                if format_class == "AvroFormat":  # each file has a random mark of its own
                    written = {name: data.replace(data[-16:], b"") for name, data in written.items()}
                found.append((written, sorted(sink.reports.found), safe))
    assert found[0] == found[1]
