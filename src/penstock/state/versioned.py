"""Versioned key-value stores: what a key was worth at a time.

Rows in the bytes store:

    00                                   store time, segment interval
    01 key                               the latest version: timestamp(8), then 00 for a tombstone or 01 value
    02 escaped-key inverted-time(8)      an older version: 00 for a tombstone or 01 value; newest first
    03 segment(8) key                    the key has versions that end in this segment of time: look at it when that is over
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Generic, TypeVar

from typing_extensions import NamedTuple

from penstock.durations import MAX_LONG, Instant, instant_ms
from penstock.serde import Serde
from penstock.state.ordered_bytes import LONG, escape, pack_long, unpack_long
from penstock.state.store import StoreEnvironment
from penstock.state.typed_store import TypedStore

K = TypeVar("K")
V = TypeVar("V")

LATEST = -1  # what put returns for a version that no newer one ends
NOT_PUT = -(2**63)  # what put returns for a version that is too old to be kept

_META = b"\x00"
_LATEST = b"\x01"
_OLDER = b"\x02"
_EXPIRY = b"\x03"


class VersionedRecord(NamedTuple, Generic[V]):
    """A version of a key: valid from `timestamp` (included) to `valid_to` (excluded, None if not known or no end)."""

    value: V
    timestamp: int
    valid_to: int | None = None


def default_segment_interval(history_retention: int) -> int:
    """How much time old versions are dropped together; the same steps as Kafka's."""
    for limit, parts, least in ((60_000, 3, 2_000), (300_000, 5, 20_000), (3_600_000, 12, 60_000)):
        if history_retention <= limit:
            return max(history_retention // parts, least)
    return max(history_retention // 24, 300_000)


class VersionedKeyValueStore(TypedStore[K, V]):
    """A map of keys to versions. Versions are kept for `history_retention` after a newer one ended them.

    Store time is the largest timestamp written. A version older than store time - history_retention is not stored
    and counted. The latest version of a key never expires.
    """

    kind: ClassVar[str] = "versioned"

    def __init__(
        self,
        name: str,
        environment: StoreEnvironment,
        key_serde: Serde[Any],
        value_serde: Serde[Any],
        *,
        history_retention: int,
        segment_interval: int | None = None,
        persistent: bool = True,
    ) -> None:
        TypedStore.__init__(self, name, environment, key_serde, value_serde, persistent=persistent)
        self.history_retention = history_retention
        self._interval = segment_interval or default_segment_interval(history_retention)
        self._drop = environment.drop("expired version")
        meta = self._rows.get(_META)
        self.observed_time = -1 if meta is None else unpack_long(meta)[0]
        self._first_kept = self._oldest_visible // self._interval
        if meta is not None and len(meta) > 8 and unpack_long(meta, 8)[0] != self._interval:
            self._note_again(unpack_long(meta, 8)[0])

    def _note_again(self, interval: int) -> None:
        """The history is another than when keys were noted, and so is the interval: their segments have other numbers."""
        for note, _ in self._rows.range(_EXPIRY, _EXPIRY + _END):
            self._rows.delete(note)
            last = (unpack_long(note, 1)[0] + 1) * interval - 1
            self._rows.put(_EXPIRY + pack_long(max(last // self._interval, self._first_kept)) + note[9:], b"")

    @property
    def _oldest_visible(self) -> int:
        return max(self.observed_time - self.history_retention, 0)

    # Writing

    def put(self, key: K, value: V | None, timestamp: Instant) -> int:
        """Add a version; None is a tombstone; the same timestamp again replaces the version.

        Returns:
            The timestamp at which a newer version ends it, `LATEST` (-1) if there is none, or `NOT_PUT` if it is
            older than the history that is kept.
        """
        time = timestamp if type(timestamp) is int else instant_ms(timestamp, "timestamp")
        raw_key = self.raw_key(key)
        if not self._accept(time):
            return NOT_PUT
        return self._put(raw_key, value, time)

    def delete(self, key: K, timestamp: Instant) -> VersionedRecord[V] | None:
        """Add a tombstone; gives the version that was valid at that time."""
        time = instant_ms(timestamp, "timestamp")
        raw_key = self.raw_key(key)
        if not self._accept(time):
            return None
        existing = self.get(key, time)
        self._put(raw_key, None, time)
        return existing

    def _accept(self, time: int) -> bool:
        if time < self.observed_time - self.history_retention:
            self._drop()
            return False
        if time > self.observed_time:
            self.observed_time = time
            if self._oldest_visible // self._interval > self._first_kept:
                self._free()
        return True

    def _put(self, raw_key: bytes, value: Any, time: int) -> int:
        raw_value = None if value is None else self._encode(value)
        row = _TOMBSTONE if raw_value is None else _VALUE + raw_value
        latest = self._rows.get(_LATEST + raw_key)
        latest_time = -1 if latest is None else unpack_long(latest)[0]
        if raw_value is not None and latest is not None and time == latest_time and latest[8:9] != _VALUE:
            row = _VALUE_AFTER_TOMBSTONE + raw_value
        if raw_value is None and time == latest_time and latest is not None and self._forgets(raw_key, latest):
            valid_to = LATEST
        elif latest is None or time >= latest_time:
            if latest is not None and time > latest_time:
                self._keep_older(raw_key, latest_time, latest[8:], ends=time)
            self._rows.put(_LATEST + raw_key, pack_long(time) + row)
            if raw_value is None:
                self._expect(raw_key, time)  # a tombstone itself goes away when it is out of the history
            valid_to = LATEST
        else:
            valid_to = self._end_of(raw_key, time, latest_time)
            self._keep_older(raw_key, time, _LATE_TOMBSTONE if raw_value is None else row, ends=valid_to)
        if self.on_change is not None:
            self.on_change(raw_key, raw_value, time)
        return valid_to

    def _forgets(self, raw_key: bytes, latest: bytes) -> bool:
        """Whether a tombstone at the time of the latest version is forgotten, and that version with it.

        Kafka Streams keeps a tombstone as the end of the version before it, and has no version for one that was the latest
        when it came. So one that takes the place of the latest version is kept only if a value, or a tombstone that came
        late, is directly before that version, or if there was one at that time before; else the key is as if neither had
        been put.
        """
        if latest[8:9] != _VALUE:
            return False
        prefix = _OLDER + escape(raw_key)
        before = self._rows.first(prefix, prefix + _END)
        if before is None:
            self._rows.delete(_LATEST + raw_key)
            return True
        row_key, row = before
        if row != _TOMBSTONE:
            return False
        self._rows.delete(row_key)
        self._rows.put(_LATEST + raw_key, pack_long(MAX_LONG - unpack_long(row_key, len(prefix))[0]) + row)
        return True

    def _keep_older(self, raw_key: bytes, time: int, row: bytes, *, ends: int) -> None:
        self._rows.put(_OLDER + escape(raw_key) + pack_long(MAX_LONG - time), row)
        self._expect(raw_key, ends)

    def _expect(self, raw_key: bytes, time: int) -> None:
        """Remember to look at a key when a time is out of the history."""
        note = _EXPIRY + pack_long(time // self._interval) + raw_key
        if self._rows.get(note) is None:
            self._rows.put(note, b"")

    def _end_of(self, raw_key: bytes, time: int, latest_time: int) -> int:
        """The timestamp of the version after a time, given that the latest one is after it."""
        prefix = _OLDER + escape(raw_key)
        after = self._rows.first(prefix, prefix + pack_long(MAX_LONG - time), reverse=True)
        return latest_time if after is None else MAX_LONG - unpack_long(after[0], len(prefix))[0]

    # Reading

    def get(self, key: K, as_of: Instant | None = None) -> VersionedRecord[V] | None:
        """The latest version of a key, or the one that was valid at a time; None if that is a tombstone or nothing.

        A time before the history gives nothing, unless the latest version is that old. `valid_to` is not filled.
        """
        raw_key = self.raw_key(key)
        latest = self._rows.get(_LATEST + raw_key)
        if latest is None:
            return None
        latest_time = unpack_long(latest)[0]
        if as_of is None:
            return self._record(latest_time, latest[8:])
        time = as_of if type(as_of) is int else instant_ms(as_of, "as_of")
        if latest_time <= time:
            return self._record(latest_time, latest[8:])
        if time < self.observed_time - self.history_retention:
            return None
        prefix = _OLDER + escape(raw_key)
        found = self._rows.first(prefix + pack_long(MAX_LONG - time), prefix + _END)
        return None if found is None else self._record(MAX_LONG - unpack_long(found[0], len(prefix))[0], found[1])

    def _record(self, time: int, row: bytes) -> VersionedRecord[V] | None:
        return None if _is_tombstone(row) else VersionedRecord(self._decode(row[1:]), time)

    def versions(
        self, key: K, from_: Instant = 0, to: Instant = MAX_LONG, *, ascending: bool = False
    ) -> list[VersionedRecord[V]]:
        """Versions of a key that were valid at some time of a closed span, newest first, with `valid_to`."""
        first, last = max(instant_ms(from_, "from_"), self._oldest_visible), instant_ms(to, "to")
        found = []
        valid_to: int | None = None
        for time, row in self._history(self.raw_key(key)):
            if valid_to is not None and valid_to <= first:
                break
            if time <= last and not _is_tombstone(row):
                found.append(VersionedRecord(self._decode(row[1:]), time, valid_to))
            valid_to = time
        return found[::-1] if ascending else found

    def _history(self, raw_key: bytes) -> Iterator[tuple[int, bytes]]:
        """All versions of a key, newest first."""
        latest = self._rows.get(_LATEST + raw_key)
        if latest is None:
            return
        yield unpack_long(latest)[0], latest[8:]
        prefix = _OLDER + escape(raw_key)
        for row_key, row in self._rows.range(prefix, prefix + _END):
            yield MAX_LONG - unpack_long(row_key, len(prefix))[0], row

    # Forgetting

    def _free(self) -> None:
        """Drop versions that ended in segments which are now out of the history."""
        oldest = self._oldest_visible
        self._first_kept = oldest // self._interval
        end = _EXPIRY + pack_long(self._first_kept)
        for note, _ in self._rows.range(_EXPIRY, end):
            self._forget(note[9:], oldest)
        self._rows.delete_range(_EXPIRY, end)

    def _forget(self, raw_key: bytes, oldest: int) -> None:
        """Drop what cannot be seen any more of a key: all before the version that is valid at the oldest time."""
        latest = self._rows.get(_LATEST + raw_key)
        if latest is None:
            return
        prefix = _OLDER + escape(raw_key)
        if unpack_long(latest)[0] <= oldest:
            self._rows.delete_range(prefix, prefix + _END)
            if _is_tombstone(latest[8:]):
                self._rows.delete(_LATEST + raw_key)
            return
        valid = self._rows.first(prefix + pack_long(MAX_LONG - oldest), prefix + _END)
        if valid is not None:
            row_key, row = valid
            self._rows.delete_range(row_key if _is_tombstone(row) else row_key + b"\0", prefix + _END)

    @property
    def approximate_num_entries(self) -> int:
        """How many keys there are, tombstones that are still in the history included."""
        return sum(1 for _ in self._rows.range(_LATEST, _OLDER))

    def flush(self) -> None:
        if self.observed_time >= 0:
            self._rows.put(_META, pack_long(self.observed_time) + pack_long(self._interval))


_END = LONG.pack(-1)  # sorts after every inverted timestamp
_TOMBSTONE = b"\0"
_LATE_TOMBSTONE = b"\0late"
_VALUE = b"\1"
_VALUE_AFTER_TOMBSTONE = b"\2"  # it took the place of a tombstone


def _is_tombstone(row: bytes) -> bool:
    return row[:1] == _TOMBSTONE
