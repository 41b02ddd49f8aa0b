from __future__ import annotations

import base64
from pathlib import Path

import pytest

from penstock.connect.errors import ConfigError
from penstock.connect.worker.java_offset_file import MAGIC
from penstock.connect.worker.offset_store import OffsetFile


def test_offsets_outlive_the_worker(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "connect.offsets"
    file = OffsetFile(path)
    file.save("a", [{"partition": {"filename": "x"}, "offset": {"position": 1}}])
    file.save("a", [{"partition": {"filename": "y"}, "offset": {"position": 2}}])
    file.save("b", [{"partition": {"filename": "x"}, "offset": {"position": 3}}])
    file.save("a", [{"partition": {"filename": "x"}, "offset": None}])
    again = OffsetFile(path)
    assert again.load("a") == [{"partition": {"filename": "y"}, "offset": {"position": 2}}]
    assert again.load("b") == [{"partition": {"filename": "x"}, "offset": {"position": 3}}]
    assert again.load("c") == []
    assert [one.name for one in path.parent.iterdir()] == ["connect.offsets"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xac\xed\x00\x05sr\x00\x11java.util.HashMap", "is no file of offsets"),
        (b"\xac\xed\x00\x05sr\x00\x11java.util.TreeMap", "is no file of offsets"),
        (b'{"[1]": 1}', "is no file of offsets"),
        (b"something", "is no file of offsets"),
        (b"[1]", "is no file of offsets"),
        (b'{"x": 1}', "is no file of offsets"),
    ],
)
def test_a_file_of_others_is_left_alone(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "connect.offsets"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        OffsetFile(path)
    assert path.read_bytes() == content


# Written by Java: three offsets, one of them null.
JAVA = base64.b64decode(
    "rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcAUH2sHDFmDRAwACRgAKbG9hZEZhY3RvckkACXRocmVzaG9sZHhwP0AAAAAAAAx3CAAAABAAAAADdXIAAltC"
    "rPMX+AYIVOACAAB4cAAAACNbImRiIix7InByb3RvY29sIjoiMSIsInRhYmxlIjoidCJ9XXVxAH4AAgAAABJ7ImluY3JlbWVudGluZyI6NX11cQB+AAIA"
    "AAAWWyJnb25lIix7InRhYmxlIjoidCJ9XXB1cQB+AAIAAAAkWyJsaW5lcyIseyJmaWxlbmFtZSI6Ii90bXAvaW4udHh0In1ddXEAfgACAAAAD3sicG9z"
    "aXRpb24iOjE0fXg="
)


def test_a_file_of_kafka_connect_is_read_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "connect.offsets"
    path.write_bytes(JAVA)
    file = OffsetFile(path)
    assert file.load("lines") == [{"partition": {"filename": "/tmp/in.txt"}, "offset": {"position": 14}}]
    assert file.load("db") == [{"partition": {"protocol": "1", "table": "t"}, "offset": {"incrementing": 5}}]
    assert file.load("gone") == []
    assert path.read_bytes() == JAVA
    file.save("lines", [{"partition": {"filename": "/tmp/in.txt"}, "offset": {"position": 20}}])
    assert (tmp_path / "connect.offsets.kafka-connect").read_bytes() == JAVA
    again = OffsetFile(path)
    assert again.load("lines")[0]["offset"] == {"position": 20}
    assert again.load("db")[0]["offset"] == {"incrementing": 5}


@pytest.mark.parametrize("length", range(len(MAGIC), len(JAVA) - 20, 7))
def test_a_file_that_was_cut_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "connect.offsets"
    path.write_bytes(JAVA[:length])
    with pytest.raises(ConfigError, match="is no file of offsets"):
        OffsetFile(path)


def test_an_empty_file_is_no_offsets(tmp_path: Path) -> None:
    path = tmp_path / "connect.offsets"
    path.touch()
    assert OffsetFile(path).load("a") == []
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        OffsetFile(tmp_path)
