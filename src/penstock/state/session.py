"""Session stores: an aggregate for each key and session, kept for a retention time after the session's end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, TypeVar

from penstock.durations import MAX_LONG, Instant, instant_ms
from penstock.records import KeyValue, Window, Windowed
from penstock.serde import Serde
from penstock.state.bytes_store import Item
from penstock.state.iterators import StoreIterator
from penstock.state.ordered_bytes import escape, pack_long, prefix_end, unescape, unpack_long
from penstock.state.segments import Segments
from penstock.state.store import StoreEnvironment
from penstock.state.typed_store import TypedStore

K = TypeVar("K")
V = TypeVar("V")
Sessions = StoreIterator[KeyValue[Windowed[K], V]]


class SessionStore(TypedStore[K, V]):
    """A map of (key, session) to aggregates that forgets old sessions.

    Store time is the largest session end written. Sessions that end before store time - retention + 1 are not shown,
    and writing one is ignored and counted. The sessions of a key are ordered by end, then start.
    """

    kind: ClassVar[str] = "session"

    def __init__(
        self,
        name: str,
        environment: StoreEnvironment,
        key_serde: Serde[Any],
        value_serde: Serde[Any],
        *,
        retention: int,
        on_close: bool = False,
        persistent: bool = True,
    ) -> None:
        TypedStore.__init__(self, name, environment, key_serde, value_serde, persistent=persistent)
        self.retention = retention
        self._on_close = on_close
        self._segments = Segments(
            self._rows,
            retention,
            suffix=16,
            persistent=persistent,
            on_close=on_close,
            shown_longer=0,
            drop=environment.drop("expired session"),
        )

    @property
    def observed_time(self) -> int:
        """Store time: the largest session end written, -1 if there is none."""
        return self._segments.observed_time

    # One session

    def put(self, windowed: Windowed[K], aggregate: V | None) -> None:
        """Set the aggregate of a session; None removes it."""
        self.write(windowed.key, windowed.window.start, windowed.window.end, aggregate)

    def remove(self, windowed: Windowed[K]) -> None:
        """Remove a session."""
        self.write(windowed.key, windowed.window.start, windowed.window.end, None)

    def write(self, key: K, start: int, end: int, aggregate: Any) -> None:
        """Set or remove (None) a session. What operators call."""
        raw_key = self.raw_key(key)
        if not self._accept(end):
            self._segments.refuse(end)
            return
        raw_value = None if aggregate is None else self._encode(aggregate)
        row = None if raw_value is None else self._pack(raw_value, end, self._context.headers)
        self._write_row(raw_key, start, end, row)
        if self.on_change is not None:
            self.on_change(raw_key + pack_long(end) + pack_long(start), raw_value, self._context.timestamp)

    def _accept(self, end: int) -> bool:
        """Move store time; False for a session that is too old.

        An aggregation accepts a session one millisecond longer than the store shows it: where closed sessions are
        emitted, such a session is kept for that.
        """
        segments = self._segments
        if end > segments.observed_time:
            segments.advance(end)
        return end >= segments.first_visible or segments.is_awaited(end)

    def _write_row(self, raw_key: bytes, start: int, end: int, row: bytes | None) -> None:
        segments, suffix = self._segments, pack_long(end) + pack_long(start)
        row_key = segments.row_key(escape(raw_key), end, suffix)
        if row is None:
            self._rows.delete(row_key)
        else:
            self._rows.put(row_key, row)
        if self._on_close:
            segments.index(suffix, raw_key, present=row is not None)

    def _row(self, raw_key: bytes, start: int, end: int) -> bytes | None:
        """The row of a session, visible or not."""
        return self._rows.get(self._segments.row_key(escape(raw_key), end, pack_long(end) + pack_long(start)))

    def fetch_session(self, key: K, start: Instant, end: Instant) -> V | None:
        """The aggregate of exactly this session, or None."""
        start_ms, end_ms = instant_ms(start, "session start"), instant_ms(end, "session end")
        if end_ms < self._segments.first_visible:
            return None
        row = self._row(self.raw_key(key), start_ms, end_ms)
        return None if row is None else self._read(row)

    # Scans

    def find(self, key: K, earliest_end: int, latest_start: int, *, reverse: bool = False) -> list[tuple[int, int, V]]:
        """(start, end, aggregate) of the sessions of a key that meet a span of time. What operators call."""
        rows = self._segments.of_key(escape(self.raw_key(key)), earliest_end, MAX_LONG, reverse=reverse)
        return [
            (start, unpack_long(row_key, len(row_key) - 16)[0], self._read(row))
            for row_key, row in rows
            if (start := unpack_long(row_key, len(row_key) - 8)[0]) <= latest_start
        ]

    def find_sessions(self, key: K, earliest_end: Instant, latest_start: Instant) -> Sessions[K, V]:
        """Sessions of a key that end at `earliest_end` or later and start at `latest_start` or before."""
        return self._of_key(key, earliest_end, latest_start)

    def backward_find_sessions(self, key: K, earliest_end: Instant, latest_start: Instant) -> Sessions[K, V]:
        """As `find_sessions`, latest session first."""
        return self._of_key(key, earliest_end, latest_start, reverse=True)

    def fetch(self, key: K) -> Sessions[K, V]:
        """All sessions of a key."""
        return self._of_key(key, 0, MAX_LONG)

    def backward_fetch(self, key: K) -> Sessions[K, V]:
        """All sessions of a key, latest first."""
        return self._of_key(key, 0, MAX_LONG, reverse=True)

    def _of_key(self, key: K, earliest_end: Instant, latest_start: Instant, *, reverse: bool = False) -> Sessions[K, V]:
        self._check_open()
        found = self.find(
            key, instant_ms(earliest_end, "earliest_end"), instant_ms(latest_start, "latest_start"), reverse=reverse
        )
        return StoreIterator([KeyValue(Windowed(key, Window(start, end)), value) for start, end, value in found])

    def fetch_range(self, from_key: K | None, to_key: K | None) -> Sessions[K, V]:
        """All sessions of a range of keys, both included, None for an open end; in the order (key bytes, end, start)."""
        return self._of_keys(from_key, to_key)

    def backward_fetch_range(self, from_key: K | None, to_key: K | None) -> Sessions[K, V]:
        """As `fetch_range`, in the opposite order."""
        return self._of_keys(from_key, to_key, reverse=True)

    def all(self) -> Sessions[K, V]:
        """All sessions, in the order (key bytes, end, start)."""
        return self._of_keys(None, None)

    def _of_keys(self, from_key: K | None, to_key: K | None, *, reverse: bool = False) -> Sessions[K, V]:
        self._check_open()
        lower = b"" if from_key is None else escape(self.raw_key(from_key))
        upper = None if to_key is None else prefix_end(escape(self.raw_key(to_key)))
        visible = self._segments.first_visible
        found = [
            (row_key[9:], row)
            for rows in self._segments.by_segment(0, MAX_LONG, lower, upper)
            for row_key, row in rows
            if unpack_long(row_key, len(row_key) - 16)[0] >= visible
        ]
        found.sort(reverse=reverse)
        return StoreIterator(map(self._entry, found))

    def _entry(self, item: Item) -> KeyValue[Windowed[K], V]:
        suffix = len(item[0]) - 16
        end, start = unpack_long(item[0], suffix)[0], unpack_long(item[0], suffix + 8)[0]
        key = self._decode_key(unescape(item[0][:suffix]))
        return KeyValue(Windowed(key, Window(start, end)), self._read(item[1]))  # type: ignore[arg-type] # never None

    def find_closed(self, earliest_end: int, latest_end: int) -> Iterator[tuple[Windowed[K], V]]:
        """Sessions that end in a span, in the order (end, start, key bytes), visible or not.

        Only for stores with `on_close`. The span counts as emitted when the iterator is exhausted.
        """
        for found in self._segments.indexed(earliest_end, latest_end):
            end, start, raw_key = unpack_long(found)[0], unpack_long(found, 8)[0], found[16:]
            row = self._row(raw_key, start, end)
            if row is not None:
                key = self._decode_key(raw_key)
                yield Windowed(key, Window(start, end)), self._read(row)  # type: ignore[arg-type] # never None
        self._segments.emitted(latest_end)

    def flush(self) -> None:
        self._segments.save()
