"""Processors that write to a store and forward what it then answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock import ContextualProcessor, Record, Window, Windowed
from tests.differential.functions import number, show, window_key

Params = dict[str, Any]
NOT_STORED = -(2**63)


class _Caller(ContextualProcessor[Any, Any, Any, Any]):
    def __init__(self, p: Params | None = None) -> None:
        self._p = p or {}

    def process(self, record: Record[Any, Any]) -> None:
        if record.key is not None:
            self.context.forward(record.with_value(self.call(record.key, record.value, record.timestamp)))

    def call(self, key: str, value: str | None, timestamp: int) -> str:
        raise NotImplementedError


class OfKeys(_Caller):
    def call(self, key: str, value: str | None, timestamp: int) -> str:
        store = self.context.get_state_store("kv-p")
        calls = {
            0: lambda: "del " + show(store.delete(key)),
            1: lambda: "pia " + show(store.put_if_absent(key, value)),
            2: lambda: "rng " + _rows(store.range(key, None)),
            3: lambda: "rev " + _rows(store.reverse_all()),
            4: lambda: "rrg " + _rows(store.reverse_range(None, key)),
        }
        call = calls.get(number(value) % 6)
        if call is not None:
            return call()
        store.put(key, value)
        return "put " + show(store.get(key))


class OfWindows(_Caller):
    def call(self, key: str, value: str | None, timestamp: int) -> str:
        store = self.context.get_state_store("win-p")
        store.put(key, value, timestamp)
        look = self._p["look"]
        earliest = max(0, timestamp - look)
        answer = "".join(f"{start}={found} " for start, found in store.fetch(key, earliest, timestamp + look)) + "| "
        # the order between keys is the store's own affair
        answer += "".join(sorted({f"{window_key(w)}={found} " for w, found in store.fetch_all(earliest, timestamp)}))
        if not self._p["dups"]:
            answer += "| " + show(store.fetch(key, timestamp))
        return answer.strip()


class OfSessions(_Caller):
    def call(self, key: str, value: str | None, timestamp: int) -> str:
        store = self.context.get_state_store("ses-p")
        look = self._p["look"]
        start = max(0, timestamp - number(value) * self._p["unit"])
        store.put(Windowed(key, Window(start, timestamp)), value)
        found = store.find_sessions(key, max(0, timestamp - look), timestamp + look)
        rows = "".join(f"{window_key(windowed)}={aggregate} " for windowed, aggregate in found)
        return rows + "| " + show(store.fetch_session(key, start, timestamp))


class OfVersions(_Caller):
    def call(self, key: str, value: str | None, timestamp: int) -> str:
        store = self.context.get_state_store("ver-p")
        if number(value) == 9:
            answer = "del " + _version(store.delete(key, timestamp))
        else:
            valid_to = store.put(key, value, timestamp)
            answer = "put " + ("MIN" if valid_to == NOT_STORED else str(valid_to))
        look = self._p["look"]
        for distance in (0, -1, 1, look, -look):
            answer += " " + _version(store.get(key, max(0, timestamp + distance)))
        return answer + " latest " + _version(store.get(key))


def _rows(found: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"{key}={value}" for key, value in found)


def _version(found: Any) -> str:
    if found is None:
        return "none"
    until = "" if found.valid_to is None else f"-{found.valid_to}"
    return f"{found.value}@{found.timestamp}{until}"
