"""Settings of all storage sinks that have no place elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from penstock.connect.api import CONNECTORS
from penstock.connect.data import STRING_SCHEMA
from penstock.connect.errors import ConfigError
from tests.connect.storage.running_sink import RunningSink, files, local, record
from tests.connect.storage.test_recovery import ids


@pytest.mark.parametrize(("width", "name"), [("0", "orders+0+0+11"), ("3", "orders+0+000+011"), ("10", None)])
def test_digits_of_offsets(tmp_path: Path, width: str, name: str | None) -> None:
    with RunningSink("FileSystemSink", local(tmp_path, filename_offset_zero_pad_width=width, flush_size="12")) as sink:
        sink.put(map(record, range(12)))
    assert list(files(tmp_path)) == [f"orders/partition=0/{name or 'orders+0+0000000000+0000000011'}.json"]


def test_the_folder_of_logs(tmp_path: Path) -> None:
    config = local(tmp_path, logs_dir="state/wal")
    with RunningSink("FileSystemSink", config) as sink:
        sink.put(map(record, range(15)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state", "topics"]
    assert [path.name for path in (tmp_path / "state/wal/orders/0/archive").iterdir()] == ["0000000002.json"]
    with RunningSink("FileSystemSink", config) as sink:
        sink.put(map(record, range(20)))
    assert ids(tmp_path) == list(range(20))
    # Offsets are reset where the log is.
    connector: Any = CONNECTORS.find("FileSystemSink")
    connector.reset_offsets({"name": "archive", "topics": "orders", "flush.size": "10", **config})
    (entry,) = (tmp_path / "state/wal/orders/0/archive").iterdir()
    assert orjson.loads(entry.read_bytes())["end"] == 0


def test_formats_of_keys_and_the_folder_of_nulls(tmp_path: Path) -> None:
    config = {
        **local(tmp_path, store_kafka_keys="true", behavior_on_null_values="write", flush_size="2"),
        "keys.format.class": "io.confluent.connect.s3.format.json.JsonFormat",
        "tombstone.encoded.partition": "gone",
    }
    keys = [record(0, key="a", key_schema=STRING_SCHEMA), record(1, None, None, key="b", key_schema=STRING_SCHEMA)]
    with RunningSink("FileSystemSink", config) as sink:
        assert sink.put(keys) == 2
    found = files(tmp_path)
    assert set(found) == {
        "orders/partition=0/orders+0+0000000000+0000000000.json",
        "orders/partition=0/orders+0+0000000000+0000000000.keys.json",
        "orders/gone/orders+0+0000000001+0000000001.keys.json",
    }
    assert found["orders/gone/orders+0+0000000001+0000000001.keys.json"] == b'"b"\n'


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("filename.offset.zero.pad.width", "20", "Value must be no more than 19"),
        ("compression.level", "10", "Value must be no more than 9"),
        ("schema.cache.size", "0", "Value must be at least 1"),
        ("tombstone.encoded.partition", "", "String must be non-empty"),
        ("keys.format.class", "NoFormat", "Class NoFormat could not be found"),
    ],
)
def test_values_that_cannot_be(tmp_path: Path, key: str, value: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        RunningSink("FileSystemSink", {**local(tmp_path, store_kafka_keys="true"), key: value})
