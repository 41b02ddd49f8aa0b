"""The processors of topologies that are about the graph around them."""

from __future__ import annotations

from typing import Any

from penstock import ContextualFixedKeyProcessor, ContextualProcessor, FixedKeyRecord, Record
from tests.differential.functions import number, pair


class Pass(ContextualProcessor[Any, Any, Any, Any]):
    def process(self, record: Record[Any, Any]) -> None:
        self.context.forward(record)


class Same(ContextualFixedKeyProcessor[Any, Any, Any]):
    def process(self, record: FixedKeyRecord[Any, Any]) -> None:
        self.context.forward(record)


class Echo:
    """A value transformer that changes nothing."""

    def init(self, context: Any) -> None:
        pass

    def transform(self, key: str, value: str | None) -> str | None:
        return value

    def close(self) -> None:
        pass


class Writer(ContextualProcessor[Any, Any, Any, Any]):
    """Keeps the last value of each key, as a table would."""

    def __init__(self, store: str) -> None:
        self._store = store

    def process(self, record: Record[Any, Any]) -> None:
        if record.key is not None:
            self.context.get_state_store(self._store).put(record.key, record.value)


class Lookup(ContextualProcessor[Any, Any, Any, Any]):
    """Joins with the row of a store that another processor writes."""

    def __init__(self, store: str) -> None:
        self._store = store

    def process(self, record: Record[Any, Any]) -> None:
        store = self.context.get_state_store(self._store)
        found = None if record.key is None else store.get(record.key)
        self.context.forward(record.with_value(pair(record.value, found)))


class Reader(ContextualFixedKeyProcessor[Any, Any, Any]):
    """The same as Lookup, where the key cannot change."""

    def __init__(self, store: str) -> None:
        self._store = store

    def process(self, record: FixedKeyRecord[Any, Any]) -> None:
        store = self.context.get_state_store(self._store)
        found = None if record.key is None else store.get(record.key)
        self.context.forward(record.with_value(pair(record.value, found)))


class Chooser(ContextualProcessor[Any, Any, Any, Any]):
    """Even numbers go on; numbers above five go to the named child only."""

    def __init__(self, rest: int, child: str | None) -> None:
        self._rest, self._child = rest, child

    def process(self, record: Record[Any, Any]) -> None:
        value = number(record.value)
        if self._child is not None and value > 5:
            self.context.forward(record, self._child)
        elif value % 2 == self._rest or self._child is None:
            self.context.forward(record)


class Keeper(ContextualProcessor[Any, Any, Any, Any]):
    """Forwards the value the store held before."""

    def __init__(self, store: str) -> None:
        self._store = store

    def process(self, record: Record[Any, Any]) -> None:
        if record.key is None:
            return
        store = self.context.get_state_store(self._store)
        before = store.get(record.key)
        store.put(record.key, record.value)
        self.context.forward(record.with_value(pair(before, record.value)))
