"""Stores that keep the headers of the record that wrote a row beside its value."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from typing_extensions import NamedTuple

from penstock.errors import ProcessorStateError
from penstock.records import NO_HEADERS, Headers, Windowed
from penstock.state.caching import Caching, Forward
from penstock.state.caching_key_value import CachingKeyValueStore
from penstock.state.caching_session import CachingSessionStore
from penstock.state.caching_window import CachingWindowStore
from penstock.state.cells import HEADERS, Cell
from penstock.state.key_value import KeyValueStore
from penstock.state.ordered_bytes import INT, frame, pack_long, unpack_long
from penstock.state.packed_headers import pack_headers, unpack_headers
from penstock.state.session import SessionStore
from penstock.state.typed_store import TypedStore, Unpacked
from penstock.state.window import WindowStore

K = TypeVar("K")
V = TypeVar("V")


class ValueTimestampHeaders(NamedTuple, Generic[V]):
    """A row of a table with the timestamp and the headers of its last change."""

    value: V
    timestamp: int
    headers: Headers = NO_HEADERS


class AggregationWithHeaders(NamedTuple, Generic[V]):
    """A session's aggregate with the headers of its last change."""

    aggregation: V
    headers: Headers = NO_HEADERS


class _HeaderRows(TypedStore[K, ValueTimestampHeaders[V]]):
    """A row is the framed headers, the timestamp as 8 bytes, then the serialised value."""

    def _pack(self, raw_value: bytes, timestamp: int, headers: Headers) -> bytes:
        return frame(pack_headers(headers)) + pack_long(timestamp) + raw_value

    def _unpack(self, row: bytes) -> Unpacked:
        end = 4 + INT.unpack_from(row)[0]
        return row[end + 8 :], unpack_long(row, end)[0], unpack_headers(row[4:end])

    def _give(self, value: Any, timestamp: int, headers: Headers) -> ValueTimestampHeaders[V]:
        return ValueTimestampHeaders(value, timestamp, headers)

    def _take(self, value: Any) -> tuple[Any, int]:
        return value[0], value[1]

    def _set_headers(self, value: Any, wanted: type[Any]) -> Headers:
        """Make the headers of what is put those of the record being processed; gives those to restore."""
        before = self._context.headers
        if value is not None:
            if not isinstance(value, wanted):
                raise ProcessorStateError(
                    f"the store {self.name} keeps headers, but {value!r} was put",
                    hint=f"Put {wanted.__name__}({', '.join(wanted._fields)}).",
                )
            self._context.headers = Headers(value.headers)
        return before


class TimestampedKeyValueStoreWithHeaders(_HeaderRows[K, V], KeyValueStore[K, ValueTimestampHeaders[V]]):
    """A map of keys to `ValueTimestampHeaders`."""

    kind: ClassVar[str] = "timestamped_key_value_with_headers"

    def put(self, key: K, value: ValueTimestampHeaders[V] | None) -> None:
        before = self._set_headers(value, ValueTimestampHeaders)
        try:
            KeyValueStore.put(self, key, value)
        finally:
            self._context.headers = before


class TimestampedWindowStoreWithHeaders(_HeaderRows[K, V], WindowStore[K, ValueTimestampHeaders[V]]):
    """A window store of `ValueTimestampHeaders`."""

    kind: ClassVar[str] = "timestamped_window_with_headers"

    def put(self, key: K, value: ValueTimestampHeaders[V] | None, start: Any) -> None:
        before = self._set_headers(value, ValueTimestampHeaders)
        try:
            WindowStore.put(self, key, value, start)
        finally:
            self._context.headers = before


class SessionStoreWithHeaders(_HeaderRows[K, V], SessionStore[K, Any]):
    """A session store of `AggregationWithHeaders`."""

    kind: ClassVar[str] = "session_with_headers"

    def _give(self, value: Any, timestamp: int, headers: Headers) -> Any:
        return AggregationWithHeaders(value, headers)

    def put(self, windowed: Windowed[K], aggregate: AggregationWithHeaders[V] | None) -> None:
        before = self._set_headers(aggregate, AggregationWithHeaders)
        try:
            SessionStore.put(self, windowed, None if aggregate is None else aggregate.aggregation)
        finally:
            self._context.headers = before


class _CachedHeaders(Caching[K, V]):
    """A cache that hands over the headers of each change, as a store without one does: as those of the record in hand."""

    def _write_all(self, changed: list[Cell]) -> Forward:
        before = self._context.headers
        try:
            return super()._write_all(changed)
        finally:
            self._context.headers = before

    def _log_key(self, cell: Cell) -> Any:
        self._context.headers = cell[HEADERS] or NO_HEADERS
        return super()._log_key(cell)  # type: ignore[safe-super] # the next class is the cache of a kind of store


class CachingKeyValueStoreWithHeaders(
    _CachedHeaders[K, ValueTimestampHeaders[V]],
    TimestampedKeyValueStoreWithHeaders[K, V],
    CachingKeyValueStore[K, ValueTimestampHeaders[V]],
):
    """The cached form."""


class CachingWindowStoreWithHeaders(
    _CachedHeaders[K, ValueTimestampHeaders[V]],
    TimestampedWindowStoreWithHeaders[K, V],
    CachingWindowStore[K, ValueTimestampHeaders[V]],
):
    """The cached form."""


class CachingSessionStoreWithHeaders(
    _CachedHeaders[K, Any], SessionStoreWithHeaders[K, V], CachingSessionStore[K, Any]
):
    """The cached form."""
