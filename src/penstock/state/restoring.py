"""Rebuilding stores from their changelogs, record by record, into the rows they keep on disk."""

from __future__ import annotations

from typing import Any

from penstock.errors import ProcessorStateError
from penstock.records import Headers
from penstock.state.buffer_changelogs import KINDS as BUFFERS
from penstock.state.buffer_changelogs import Restore, buffer_restorer
from penstock.state.key_value import KeyValueStore
from penstock.state.ordered_bytes import INT, pack_long, unpack_long
from penstock.state.session import SessionStore
from penstock.state.subscription_store import SubscriptionStore
from penstock.state.versioned import VersionedKeyValueStore
from penstock.state.window import WindowStore

# ruff: noqa: SLF001 - the one place beside the stores that knows how they keep their rows


def restorer(store: Any) -> Restore:
    """A function that takes a changelog record (key, value, timestamp, headers) back into a store.

    The store must not be cached, and nobody else may use it meanwhile; flush it at the end. Records come in the order of
    the topic. What a store would have forgotten by now it forgets here, too, without counting it as dropped.

    Raises:
        ProcessorStateError: A store of this kind has no changelog.
    """
    if isinstance(store, VersionedKeyValueStore):
        return _versioned(store)
    if isinstance(store, KeyValueStore):
        return _key_value(store)
    if isinstance(store, WindowStore):
        return _window(store)
    if isinstance(store, SessionStore):
        return _session(store)
    if isinstance(store, SubscriptionStore):
        return _subscription(store)
    if getattr(store, "kind", None) in BUFFERS:
        return buffer_restorer(store)
    raise ProcessorStateError(
        f"the store {store.name}, a {type(store).__name__}, cannot be rebuilt from a changelog",
        hint="Give its builder with_logging_disabled(), so that it needs no changelog, or set penstock.restore=empty to "
        "start lost stores empty.",
    )


def store_time(store: Any) -> int | None:
    """The largest time written to a store that forgets by time; None for others."""
    return store.observed_time if isinstance(store, (WindowStore, SessionStore, VersionedKeyValueStore)) else None


def set_store_time(store: Any, time: int) -> None:
    """Move a restored store's time on: a deletion of what was not there moves it, too, and leaves no changelog record."""
    if time > store.observed_time:
        if isinstance(store, VersionedKeyValueStore):
            store._accept(time)
        else:
            store._segments.advance(time)


def _key_value(store: KeyValueStore[Any, Any]) -> Restore:
    rows, pack = store._rows, store._pack

    def restore(key: bytes, value: bytes | None, timestamp: int, headers: Headers) -> None:
        if value is None:
            rows.delete(key)
        else:
            rows.put(key, pack(value, timestamp, headers))

    return restore


def _window(store: WindowStore[Any, Any]) -> Restore:
    segments, pack = store._segments, store._pack

    def restore(key: bytes, value: bytes | None, timestamp: int, headers: Headers) -> None:
        raw_key, start = key[:-12], unpack_long(key, len(key) - 12)[0]
        if start > segments.observed_time:
            segments.advance(start)
        if start < segments.first_visible:
            return
        if store.retain_duplicates:
            if value is None:
                return
            segments.sequence = INT.unpack_from(key, len(key) - 4)[0] - 1  # the row takes the next one
        store._write_row(raw_key, start, None if value is None else pack(value, timestamp, headers))

    return restore


def _session(store: SessionStore[Any, Any]) -> Restore:
    pack = store._pack

    def restore(key: bytes, value: bytes | None, timestamp: int, headers: Headers) -> None:
        raw_key, end, start = key[:-16], unpack_long(key, len(key) - 16)[0], unpack_long(key, len(key) - 8)[0]
        if store._accept(end):
            store._write_row(raw_key, start, end, None if value is None else pack(value, end, headers))

    return restore


def _versioned(store: VersionedKeyValueStore[Any, Any]) -> Restore:
    # The values are serialised already.
    store._encode = _as_it_is

    def restore(key: bytes, value: bytes | None, timestamp: int, headers: Headers) -> None:
        if timestamp >= store.observed_time - store.history_retention:
            store._accept(timestamp)
            store._put(key, value, timestamp)

    return restore


def _subscription(store: SubscriptionStore) -> Restore:
    rows = store._rows

    def restore(key: bytes, value: bytes | None, timestamp: int, headers: Headers) -> None:
        if value is None:
            rows.delete(key)
        else:
            rows.put(key, pack_long(timestamp) + value)

    return restore


def _as_it_is(value: Any) -> Any:
    return value
