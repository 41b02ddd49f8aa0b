"""Offsets of sources in Kafka Connect's offset topic: `["connector",{"partition":..}]` -> `{"offset":..}`."""

from __future__ import annotations

import threading
from typing import Any

import orjson

from penstock.connect.worker.compacted_log import CompactedLog
from penstock.connect.worker.offset_store import offset_key
from penstock.connect.worker.runner_api import Offsets


class TopicOffsetStore:
    """What the offset topic says."""

    def __init__(self) -> None:
        self._offsets: dict[bytes, dict[str, Any]] = {}
        # Keys as they are in the topic: another writer may order the fields differently, and compaction compares bytes.
        self._keys: dict[bytes, bytes] = {}
        self._lock = threading.Lock()
        self._log: CompactedLog | None = None

    def attach(self, log: CompactedLog) -> None:
        """The log that hands its records to `read`, for writing."""
        self._log = log

    def load(self, name: str) -> list[dict[str, Any]]:
        if self._log is not None:
            # Tasks of connectors write offsets, too, in the transactions of their records.
            self._log.catch_up()
        with self._lock:
            known = [(orjson.loads(key), offset) for key, offset in self._offsets.items()]
        return [{"partition": key[1], "offset": offset} for key, offset in known if key[0] == name]

    def save(self, name: str, entries: Offsets) -> None:
        assert self._log is not None
        records: list[tuple[str | bytes, bytes | None]] = []
        for entry in entries:
            key = offset_key(name, entry["partition"])
            with self._lock:
                written = self._keys.get(key, key)
            offset = entry["offset"]
            records.append((written, None if offset is None else orjson.dumps(offset)))
        # A source may let go of what its offsets say is delivered, so they have to be in Kafka first.
        self._log.write(records, read_back=False)

    def read(self, key: bytes, value: bytes | None, offset: int) -> None:
        """Takes in a record of the topic."""
        name, partition = orjson.loads(key)
        canonical = offset_key(name, partition)
        found = None if value is None else orjson.loads(value)
        with self._lock:
            if found is None:
                self._offsets.pop(canonical, None)
                self._keys.pop(canonical, None)
            else:
                self._offsets[canonical] = found
                self._keys[canonical] = key
