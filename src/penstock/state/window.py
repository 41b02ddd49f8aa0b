"""Window stores: a value for each key and window start, kept for a retention time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from penstock.durations import MAX_LONG, Instant, instant_ms
from penstock.records import KeyValue, ValueAndTimestamp, Window, Windowed
from penstock.serde import Serde
from penstock.state.iterators import StoreIterator
from penstock.state.ordered_bytes import END_OF_KEY, INT, escape, pack_long, prefix_end, unescape, unpack_long
from penstock.state.segments import Segments
from penstock.state.store import StoreEnvironment
from penstock.state.typed_store import TimestampedRows, TypedStore

K = TypeVar("K")
V = TypeVar("V")
FIRST_SEQUENCE = INT.pack(0)  # Kafka's changelog keys end with a sequence number, which is 0 unless duplicates are kept

_MAX_FRAMES = 1_000


class WindowStore(TypedStore[K, V]):
    """A map of (key, window start) to values that forgets old windows.

    Store time is the largest start written. Windows that start before store time - retention + 1 are not shown, and
    writing one is ignored and counted. All bounds are window starts, included; order is by start, then key bytes.

    Args:
        retention: Milliseconds of store time that windows are kept.
        window_size: End of a window minus its start; only used to name windows.
        retain_duplicates: Keep every value put for the same key and start, in order; a None is then ignored.
        on_close: The store belongs to an aggregation that emits closed windows: they are kept until then.
    """

    kind: ClassVar[str] = "window"

    def __init__(
        self,
        name: str,
        environment: StoreEnvironment,
        key_serde: Serde[Any],
        value_serde: Serde[Any],
        *,
        retention: int,
        window_size: int,
        retain_duplicates: bool = False,
        on_close: bool = False,
        persistent: bool = True,
    ) -> None:
        TypedStore.__init__(self, name, environment, key_serde, value_serde, persistent=persistent)
        self.retention = retention
        self.window_size = window_size
        self.retain_duplicates = retain_duplicates
        self._suffix = 12 if retain_duplicates else 8
        self._segments = Segments(
            self._rows,
            retention,
            suffix=self._suffix,
            persistent=persistent,
            on_close=on_close,
            shown_longer=int(on_close),  # as Kafka's stores of this kind do: one millisecond more
            drop=environment.drop("expired window"),
        )
        self._on_close = on_close
        self._frames: dict[int, tuple[bytes, bytes]] = {}  # what stands around a key, by window start

    @property
    def observed_time(self) -> int:
        """Store time: the largest window start written, -1 if there is none."""
        return self._segments.observed_time

    # One window

    def put(self, key: K, value: V | None, start: Instant) -> None:
        """Set the value of a key in the window that starts at `start`; None deletes it."""
        start = start if type(start) is int else instant_ms(start, "window start")
        if value is None:
            self.write(key, start, None, self._context.timestamp)
        else:
            self.write(key, start, *self._take(value))

    def write(self, key: K, start: int, value: Any, timestamp: int) -> None:
        """Set value and timestamp of a window; the value None deletes it. What operators call."""
        raw_key = self.raw_key(key)
        raw_value = None if value is None else self._encode(value)
        segments = self._segments
        if raw_value is None and self.retain_duplicates:
            if not self.persistent and start > segments.observed_time:
                segments.advance(start)  # only Kafka's stores in memory count it
            return
        if start > segments.observed_time:
            segments.advance(start)
        if start < segments.first_visible:
            segments.refuse(start)
            return
        row = None if raw_value is None else self._pack(raw_value, timestamp, self._context.headers)
        self._write_row(raw_key, start, row)
        if self.on_change is not None:
            sequence = INT.pack(segments.sequence) if self.retain_duplicates else FIRST_SEQUENCE
            self.on_change(raw_key + pack_long(start) + sequence, raw_value, timestamp)

    def _write_row(self, raw_key: bytes, start: int, row: bytes | None) -> None:
        segments = self._segments
        if self.retain_duplicates:
            assert row is not None
            segments.sequence = (segments.sequence + 1) & 0x7FFFFFFF
            self._rows.put(self._row_key(raw_key, start) + INT.pack(segments.sequence), row)
            return
        if row is None:
            self._rows.delete(self._row_key(raw_key, start))
        else:
            self._rows.put(self._row_key(raw_key, start), row)
        if self._on_close:
            segments.index(pack_long(start), raw_key, present=row is not None)

    def _row_key(self, raw_key: bytes, start: int) -> bytes:
        """Where the row of a window is; the calls of a while ask for few windows."""
        frame = self._frames.get(start)
        if frame is None:
            if len(self._frames) >= _MAX_FRAMES:
                self._frames.clear()
            frame = self._frames[start] = (self._segments.row_key(b"", start, b""), END_OF_KEY + pack_long(start))
        return frame[0] + raw_key.replace(b"\0", b"\0\xff") + frame[1]

    def _row(self, raw_key: bytes, start: int) -> bytes | None:
        """The row of a window, visible or not."""
        return self._rows.get(self._row_key(raw_key, start))

    def fetch(self, key: K, from_: Instant, to: Instant | None = None) -> Any:
        """One window or several of a key.

        `fetch(key, start)` gives the value of the window that starts then, or None; `fetch(key, from_, to)` an
        iterator of (start, value) for windows that start in that span, both ends included.
        """
        from_ = from_ if type(from_) is int else instant_ms(from_, "from_")
        if to is not None:
            to = to if type(to) is int else instant_ms(to, "to")
            return StoreIterator(map(KeyValue._make, self.find(key, from_, to)))
        if self.retain_duplicates:
            return next(iter(self.find(key, from_, from_)), (None, None))[1]
        return self.fetch_window(key, from_)

    def fetch_window(self, key: K, start: int) -> V | None:
        """The value of one window, or None."""
        if start < self._segments.first_visible:
            return None
        row = self._row(self.raw_key(key), start)
        return None if row is None else self._read(row)

    # Scans

    def find(self, key: K, from_: int, to: int, *, reverse: bool = False) -> list[tuple[int, V]]:
        """(start, value) of the windows of a key that start in a span. What operators call."""
        at, read = -self._suffix, self._read
        rows = self._segments.of_key(escape(self.raw_key(key)), from_, to, reverse=reverse)
        return [(unpack_long(row_key, len(row_key) + at)[0], read(row)) for row_key, row in rows]

    def backward_fetch(self, key: K, from_: Instant, to: Instant) -> StoreIterator[KeyValue[int, V]]:
        """As `fetch` of a span, latest window first."""
        found = self.find(key, instant_ms(from_, "from_"), instant_ms(to, "to"), reverse=True)
        return StoreIterator(map(KeyValue._make, found))

    def fetch_range(
        self, from_key: K | None, to_key: K | None, from_: Instant, to: Instant
    ) -> StoreIterator[KeyValue[Windowed[K], V]]:
        """Windows of a range of keys, both included, None for an open end, that start in a span."""
        return self._scan(from_key, to_key, from_, to)

    def backward_fetch_range(
        self, from_key: K | None, to_key: K | None, from_: Instant, to: Instant
    ) -> StoreIterator[KeyValue[Windowed[K], V]]:
        """As `fetch_range`, in the opposite order."""
        return self._scan(from_key, to_key, from_, to, reverse=True)

    def fetch_all(self, from_: Instant, to: Instant) -> StoreIterator[KeyValue[Windowed[K], V]]:
        """Windows of all keys that start in a span."""
        return self._scan(None, None, from_, to)

    def backward_fetch_all(self, from_: Instant, to: Instant) -> StoreIterator[KeyValue[Windowed[K], V]]:
        """As `fetch_all`, in the opposite order."""
        return self._scan(None, None, from_, to, reverse=True)

    def all(self) -> StoreIterator[KeyValue[Windowed[K], V]]:
        """All windows."""
        return self._scan(None, None, 0, MAX_LONG)

    def backward_all(self) -> StoreIterator[KeyValue[Windowed[K], V]]:
        """All windows, in the opposite order."""
        return self._scan(None, None, 0, MAX_LONG, reverse=True)

    def _scan(
        self, from_key: K | None, to_key: K | None, from_: Instant, to: Instant, *, reverse: bool = False
    ) -> StoreIterator[KeyValue[Windowed[K], V]]:
        self._check_open()
        lower = b"" if from_key is None else escape(self.raw_key(from_key))
        upper = None if to_key is None else prefix_end(escape(self.raw_key(to_key)))
        start, end = instant_ms(from_, "from_"), instant_ms(to, "to")
        # The segments are read now: the scan shows the store as it is at this moment.
        found = list(self._segments.by_segment(start, end, lower, upper, reverse=reverse))
        return StoreIterator(self._by_time(found, max(start, self._segments.first_visible), end, reverse=reverse))

    def _by_time(
        self, segments: Iterable[list[tuple[bytes, bytes]]], from_: int, to: int, *, reverse: bool
    ) -> Iterator[KeyValue[Windowed[K], V]]:
        size = self._suffix
        for rows in segments:
            ordered = [
                (start, row_key[9:-size], row_key[-size:], row)
                for row_key, row in rows
                if from_ <= (start := unpack_long(row_key, len(row_key) - size)[0]) <= to
            ]
            ordered.sort(reverse=reverse)
            for start, escaped, _, row in ordered:
                yield KeyValue(self.windowed(self._decode_key(unescape(escaped)), start), self._read(row))

    def windowed(self, key: Any, start: int) -> Windowed[Any]:
        """The key of a window."""
        return Windowed(key, self.window_at(start))

    def window_at(self, start: int) -> Window:
        """The window that starts then."""
        return Window(start, min(start + self.window_size, MAX_LONG))

    def find_closed(self, from_: int, to: int) -> Iterator[tuple[Windowed[K], V]]:
        """Windows that start in a span, in the order (start, key bytes), visible or not.

        Only for stores with `on_close`. The span counts as emitted when the iterator is exhausted.
        """
        for found in self._segments.indexed(from_, to):
            start, raw_key = unpack_long(found)[0], found[8:]
            row = self._row(raw_key, start)
            if row is not None:
                yield self.windowed(self._decode_key(raw_key), start), self._read(row)
        self._segments.emitted(to)

    def flush(self) -> None:
        self._segments.save()


class TimestampedWindowStore(TimestampedRows[K, V], WindowStore[K, ValueAndTimestamp[V]]):
    """A window store of `ValueAndTimestamp`: what windowed aggregations use."""

    kind: ClassVar[str] = "timestamped_window"
