from __future__ import annotations

import pickle

import pytest

from penstock.connect.data import (
    INT32_SCHEMA,
    STRING_SCHEMA,
    ConnectHeaders,
    Header,
    SinkRecord,
    SourceRecord,
    TimestampType,
)


def test_sink_records_change_by_copies() -> None:
    record = SinkRecord("t", 1, None, "k", None, {"a": 1}, 5, offset=7, timestamp_type=TimestampType.CREATE_TIME)
    keyed = record.with_key(STRING_SCHEMA, "other")
    assert keyed == record.new_record(key_schema=STRING_SCHEMA, key="other")
    valued = record.with_value(INT32_SCHEMA, 5)
    assert valued == record.new_record(value_schema=INT32_SCHEMA, value=5)
    assert (valued.topic, valued.partition, valued.key, valued.timestamp, valued.offset) == ("t", 1, "k", 5, 7)
    assert type(valued) is SinkRecord
    assert record.value == {"a": 1}
    with pytest.raises(AttributeError):
        record.topic = "x"  # type: ignore[misc]


def test_source_records_change_by_copies() -> None:
    record = SourceRecord("t", None, None, "k", None, 1, source_partition={"file": "a"}, source_offset={"position": 3})
    assert record.with_key(STRING_SCHEMA, "x") == record.new_record(key_schema=STRING_SCHEMA, key="x")
    changed = record.with_value(INT32_SCHEMA, 2)
    assert changed == record.new_record(value_schema=INT32_SCHEMA, value=2)
    assert (changed.source_partition, changed.source_offset) == ({"file": "a"}, {"position": 3})
    assert pickle.loads(pickle.dumps(record)) == record


def test_headers_are_an_ordered_multi_map() -> None:
    headers = ConnectHeaders().add("a", 1, INT32_SCHEMA).add("b", "x").add("a", 2)
    assert [header.key for header in headers] == ["a", "b", "a"]
    assert headers.last("a") == Header("a", 2)
    assert headers.last("c") is None
    assert [header.value for header in headers.all("a")] == [1, 2]
    assert headers.remove("a", "c") == ConnectHeaders([Header("b", "x")])
    assert repr(headers.remove("a")) == "ConnectHeaders(Header(key='b', value='x', schema=None))"
