"""Offsets of sources outside their checkpoints: for readers, and for a worker that has no checkpoint of a connector."""

from __future__ import annotations

import struct
import threading
from pathlib import Path
from typing import Any, Protocol

import orjson

from penstock.connect.errors import ConfigError
from penstock.connect.offset_key import sorted_key
from penstock.connect.worker.java_offset_file import MAGIC, read_java_offsets
from penstock.connect.worker.runner_api import Offsets

_KEY = "offset.storage.file.filename"


class OffsetStore(Protocol):
    """Where offsets are kept, by connector."""

    def load(self, name: str) -> list[dict[str, Any]]:
        """The offsets of a connector, as entries with `partition` and `offset`."""
        ...

    def save(self, name: str, entries: Offsets) -> None:
        """Keeps offsets; an offset of None forgets its partition."""
        ...


class OffsetFile:
    """Offsets in one JSON file, written anew with every change.

    A file of Kafka Connect's own worker is read, and kept beside ours when that is written.

    Args:
        path: The file; made when there is something to keep.

    Raises:
        ConfigError: The file is there and is not one of ours.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._is_java = False
        self._offsets = self._read()

    def load(self, name: str) -> list[dict[str, Any]]:
        with self._lock:
            keys = [(orjson.loads(key), offset) for key, offset in self._offsets.items()]
        return [{"partition": key[1], "offset": offset} for key, offset in keys if key[0] == name]

    def save(self, name: str, entries: Offsets) -> None:
        with self._lock:
            for entry in entries:
                key = sorted_key(name, entry["partition"]).decode()
                if entry["offset"] is None:
                    self._offsets.pop(key, None)
                else:
                    self._offsets[key] = entry["offset"]
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # A crash in between leaves the file as it was.
            written = self._path.with_name(f"{self._path.name}.new")
            written.write_bytes(orjson.dumps(self._offsets, option=orjson.OPT_INDENT_2))
            if self._is_java:
                self._path.rename(self._path.with_name(f"{self._path.name}.kafka-connect"))
                self._is_java = False
            written.replace(self._path)

    def _read(self) -> dict[str, Any]:
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ConfigError(f"{_KEY}={self._path} cannot be read: {error.strerror}", key=_KEY) from None
        try:
            self._is_java = content.startswith(MAGIC)
            return _java_offsets(content) if self._is_java else _json_offsets(content)
        except (ValueError, TypeError, struct.error):
            raise ConfigError(
                f"{_KEY}={self._path} is no file of offsets", key=_KEY, hint="Name another file."
            ) from None


def _json_offsets(content: bytes) -> dict[str, Any]:
    found = orjson.loads(content) if content.strip() else {}
    if not isinstance(found, dict):
        raise TypeError("not an object")
    for key in found:
        _name, _partition = orjson.loads(key)
    return found


def _java_offsets(content: bytes) -> dict[str, Any]:
    found = {}
    for key, value in read_java_offsets(content).items():
        name, partition = orjson.loads(key)
        found[sorted_key(name, partition).decode()] = orjson.loads(value)
    return found
