"""Rows that are forgotten by time: store time, visibility, and segments that are freed as a whole.

Window and session stores keep their rows in segments of time, so that the rows of one key in a span of time are a
few short ranges, and old rows go away by deleting a range of keys:

    00                                        store time, sequence number, segment interval
    01 segment(8) escaped-key time...         a row; the segment is the row's time divided by the segment interval
    02 time(8)... key                         index of rows by time, in stores that are emitted when windows close
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from penstock.state.bytes_store import BytesStore
from penstock.state.ordered_bytes import LONG, pack_long, unpack_long

_META = b"\x00"
_ROW = b"\x01"
_INDEX = b"\x02"
_INTERVAL = 16  # where the interval is in what is kept under _META


def default_segment_interval(retention: int) -> int:
    """How much time a segment spans: half the retention, at least a minute."""
    return max(retention // 2, 60_000)


class Segments:
    """The time of a store and the segments of its rows.

    A row is visible while its time is not before `first_visible`; rows written before that are refused. Rows of a
    store that emits closed windows stay until they were emitted, although nobody sees them any more.

    Attributes:
        observed_time: The largest time written (store time); -1 if nothing was written.
        first_visible: Rows with an earlier time are not shown.
        sequence: A counter that is kept with the store.
    """

    def __init__(
        self,
        rows: BytesStore,
        retention: int,
        *,
        suffix: int,
        persistent: bool,
        on_close: bool,
        shown_longer: int,
        drop: Callable[[], None],
    ) -> None:
        self._rows = rows
        self._suffix = suffix
        self._interval = default_segment_interval(retention)
        self._retention = retention
        self._shown = retention - 1 + shown_longer
        self._persistent = persistent
        self._on_close = on_close
        self._drop = drop
        self._emitted = -1
        meta = rows.get(_META)
        self.observed_time, self.sequence = (-1, 0) if meta is None else _read_meta(meta)
        self._saved = meta
        if meta is not None and len(meta) > _INTERVAL and unpack_long(meta, _INTERVAL)[0] != self._interval:
            self._move()
        self.first_visible = self.observed_time - self._shown
        self._first_kept = max(self.first_visible, 0) // self._interval

    def _move(self) -> None:
        """The retention is another than when the rows were written, and so is the interval: they belong into others."""
        for key, row in self._rows.range(_ROW, _INDEX):
            time = unpack_long(key, len(key) - self._suffix)[0]
            place = _ROW + pack_long(time // self._interval) + key[9:]
            if place != key:
                self._rows.delete(key)
                self._rows.put(place, row)

    # Time

    def advance(self, time: int) -> None:
        """Move store time to a later time, and free what nobody can see any more."""
        self.observed_time = time
        self.first_visible = time - self._shown
        if self.first_visible // self._interval > self._first_kept:
            self._free()

    def _free(self) -> None:
        keep_from = max(self.first_visible, 0)
        if self._on_close:
            keep_from = min(keep_from, self._emitted + 1)
            self._rows.delete_range(_INDEX, _INDEX + pack_long(keep_from))
        segment = keep_from // self._interval
        if segment > self._first_kept:
            self._first_kept = segment
            self._rows.delete_range(_ROW, _ROW + pack_long(segment))

    def emitted(self, time: int) -> None:
        """All rows up to this time were emitted and need not be kept for that."""
        self._emitted = max(time, self._emitted)
        self._free()

    def is_awaited(self, time: int) -> bool:
        """Whether a row of this time is still to be emitted as closed."""
        return self._on_close and time > self._emitted

    def refuse(self, time: int) -> None:
        """Count a row that is too old to be written.

        Kafka's persistent stores count it only if its whole segment is gone, those in memory at once.
        """
        if not self._persistent or time // self._interval < (self.observed_time - self._retention) // self._interval:
            self._drop()

    def save(self) -> None:
        """Write store time, sequence number and interval, if they changed."""
        now = LONG.pack(self.observed_time) + LONG.pack(self.sequence) + LONG.pack(self._interval)
        if now != self._saved and self.observed_time >= 0:
            self._rows.put(_META, now)
            self._saved = now

    # Rows

    @property
    def is_empty(self) -> bool:
        """Whether there is no row at all."""
        return self._rows.first(_ROW, _INDEX) is None

    def row_key(self, escaped_key: bytes, time: int, suffix: bytes) -> bytes:
        """Where a row is kept. The suffix starts with the time."""
        return _ROW + pack_long(time // self._interval) + escaped_key + suffix

    def of_key(
        self, escaped_key: bytes, from_: int, to: int, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Visible rows of a key with a time in a closed span, in the order of their suffixes."""
        lower, upper = pack_long(max(from_, self.first_visible, 0)), pack_long(max(min(to, self.observed_time), -1) + 1)
        for segment in self._span(from_, to, reverse=reverse):
            prefix = _ROW + pack_long(segment) + escaped_key
            yield from self._rows.range(prefix + lower, prefix + upper, reverse=reverse)

    def by_segment(
        self, from_: int, to: int, lower: bytes, upper: bytes | None, *, reverse: bool = False
    ) -> Iterator[list[tuple[bytes, bytes]]]:
        """Rows of all escaped keys in a range, segment by segment; times outside the span may be among them."""
        for segment in self._span(from_, to, reverse=reverse):
            prefix = _ROW + pack_long(segment)
            end = _ROW + pack_long(segment + 1) if upper is None else prefix + upper
            yield list(self._rows.range(prefix + lower, end))

    def _span(self, from_: int, to: int, *, reverse: bool) -> Iterable[int]:
        first, last = max(from_, self.first_visible, 0), min(to, self.observed_time)
        if first > last:
            return ()
        segments = range(first // self._interval, last // self._interval + 1)
        return reversed(segments) if reverse else segments

    # The index by time

    def index(self, times: bytes, key: bytes, *, present: bool) -> None:
        """Note a row under its time, or forget it."""
        if present:
            self._rows.put(_INDEX + times + key, b"")
        else:
            self._rows.delete(_INDEX + times + key)

    def indexed(self, from_: int, to: int) -> Iterator[bytes]:
        """Each times + key of the noted rows in a closed span of time, in that order, visible or not."""
        for key, _ in self._rows.range(_INDEX + pack_long(max(from_, 0)), _INDEX + pack_long(max(to, -1) + 1)):
            yield key[1:]


def _read_meta(meta: bytes) -> tuple[int, int]:
    return LONG.unpack_from(meta, 0)[0], LONG.unpack_from(meta, 8)[0]
