"""Offsets of sources in Kafka Connect's offset topic: `["connector",{"partition":..}]` -> `{"offset":..}`."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import orjson

from penstock.connect.offset_key import offset_key, sorted_key
from penstock.connect.worker.compacted_log import CompactedLog
from penstock.connect.worker.runner_api import Offsets


class _Found(NamedTuple):
    """The last record of one key."""

    timestamp: int
    number: int
    key: bytes
    offset: dict[str, Any] | None


class TopicOffsetStore:
    """What the offset topic says.

    A partition of a source may be there under several keys: other writers order its fields differently, or escape its
    letters. They are in different partitions of the topic, so their offsets say nothing about which came last: the
    timestamps of the records do, also of tombstones. Writers keep to the key that came last, and save() removes the others,
    so that this is about what others wrote, and does not depend on clocks from then on.
    """

    def __init__(self) -> None:
        self._records: dict[bytes, dict[bytes, _Found]] = {}
        self._count = 0
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
            last = [max(found.values()) for found in self._records.values()]
        # Partitions have their fields in the order of the key: tasks write it again.
        known = [(orjson.loads(one.key), one.offset) for one in last if one.offset is not None]
        return [{"partition": key[1], "offset": offset} for key, offset in known if key[0] == name]

    def save(self, name: str, entries: Offsets) -> None:
        assert self._log is not None
        records: list[tuple[str | bytes, bytes | None]] = []
        for entry in entries:
            with self._lock:
                found = self._records.get(sorted_key(name, entry["partition"]), {})
                written = max(found.values()).key if found else offset_key(name, entry["partition"])
                others = [one.key for one in found.values() if one.key != written and one.offset is not None]
            offset = entry["offset"]
            records += [(other, None) for other in others]
            records.append((written, None if offset is None else orjson.dumps(offset)))
        # A source may let go of what its offsets say is delivered, so they have to be in Kafka first.
        self._log.write(records, read_back=False)

    def read(self, key: bytes, value: bytes | None, offset: int, timestamp: int = 0) -> None:
        """Takes in a record of the topic."""
        name, partition = orjson.loads(key)
        found = None if value is None else orjson.loads(value)
        with self._lock:
            self._count += 1
            same = self._records.setdefault(sorted_key(name, partition), {})
            same[key] = _Found(timestamp, self._count, key, found)
