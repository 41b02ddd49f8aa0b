"""Stores as tests see them: by kind, table stores also without their timestamps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from penstock.errors import PenstockError
from penstock.records import KeyValue, ValueAndTimestamp
from penstock.state.iterators import StoreIterator
from penstock.state.without_headers import without_headers

_GETTERS = {
    "key_value": "get_key_value_store",
    "timestamped_key_value": "get_timestamped_key_value_store",
    "versioned": "get_versioned_key_value_store",
    "window": "get_window_store",
    "timestamped_window": "get_timestamped_window_store",
    "session": "get_session_store",
}


def typed_store(store: Any, kind: str) -> Any:
    """The store if it is of that kind, a view if only timestamps or headers are too many, else None."""
    store = without_headers(store)
    found = getattr(store, "kind", None)
    if found == kind:
        return store
    if found == f"timestamped_{kind}":
        return _Plain(store)
    return None


def untyped_store(store: Any, name: str) -> Any:
    """A custom store; built-in kinds are refused with the name of their getter."""
    kind = getattr(store, "kind", None)
    if kind in _GETTERS:
        raise PenstockError(
            f"the store {name!r} is a {kind.replace('_', ' ')} store", hint=f"Use {_GETTERS[kind]}({name!r})."
        )
    return store


class _Plain:
    """A timestamped store without the timestamps; writes get the timestamp -1, as unknown."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._store, name)
        if not callable(attribute):
            return attribute

        def call(*arguments: Any, **keywords: Any) -> Any:
            return _strip(attribute(*arguments, **keywords))

        return call

    def put(self, key: Any, value: Any, *start: int) -> None:
        """Write a row without a timestamp."""
        self._store.put(key, None if value is None else ValueAndTimestamp(value, -1), *start)

    def put_if_absent(self, key: Any, value: Any) -> Any:
        """Write a row if the key has none; gives the value it had."""
        return _strip(self._store.put_if_absent(key, ValueAndTimestamp(value, -1)))

    def put_all(self, entries: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """Write several rows, in order."""
        for key, value in entries.items() if isinstance(entries, Mapping) else entries:
            self.put(key, value)

    def __getitem__(self, key: Any) -> Any:
        return _strip(self._store[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.put(key, value)

    def __delitem__(self, key: Any) -> None:
        del self._store[key]

    def __contains__(self, key: Any) -> bool:
        return key in self._store

    def __iter__(self) -> Iterator[Any]:
        return iter(self._store)


def _strip(result: Any) -> Any:
    """The value of a row; the values of all rows of an iterator."""
    if isinstance(result, ValueAndTimestamp):
        return result.value
    if isinstance(result, Iterator):
        return StoreIterator(KeyValue(key, _strip(row)) for key, row in result)
    return result
