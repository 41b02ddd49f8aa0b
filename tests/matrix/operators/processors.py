from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock import (
    ContextualFixedKeyProcessor,
    ContextualProcessor,
    FixedKeyRecord,
    ProcessorContext,
    PunctuationType,
    Record,
    Serdes,
    Stores,
)
from tests.matrix.catalog import Corner, operator
from tests.matrix.functions import number


class _Totals(ContextualProcessor[Any, Any, Any, Any]):
    """Sums by key in a store, sent on when stream time has moved on; late records are sent at once."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self._store = context.get_state_store("matrix-totals")
        context.schedule(400, PunctuationType.STREAM_TIME, self._send)

    def process(self, record: Record[Any, Any]) -> None:
        if record.key is None:
            return
        self._store.put(record.key, str(number(self._store.get(record.key)) + number(record.value)))
        if record.timestamp < self.context.current_stream_time_ms():
            self.context.forward(record.with_value(f"late {record.value}"))

    def _send(self, now: int) -> None:
        for key, total in list(self._store.all()):
            self.context.forward(Record(key, total, now))
            if number(total) > 20:
                self._store.delete(key)


@operator(cached="nothing")
def process_with_stream_time_punctuation(c: Corner) -> None:
    supplier = Stores.persistent_key_value_store("matrix-totals")
    c.builder.add_state_store(Stores.key_value_store_builder(supplier, Serdes.string(), Serdes.string()))
    c.write(c.stream().process(_Totals, "matrix-totals"))


class _OnlyChanges(ContextualFixedKeyProcessor[Any, Any, Any]):
    """Lets a value pass only if it differs from the last one of its key."""

    def process(self, record: FixedKeyRecord[Any, Any]) -> None:
        last = self.context.get_state_store("matrix-last")
        if record.key is None or last.get(record.key) == record.value:
            return
        last.put(record.key, record.value)
        self.context.forward(record)


@operator()
def process_values(c: Corner) -> None:
    supplier = Stores.persistent_key_value_store("matrix-last")
    c.builder.add_state_store(Stores.key_value_store_builder(supplier, Serdes.string(), Serdes.string()))
    c.write(c.stream().process_values(_OnlyChanges, "matrix-last"))


def _twice(record: Record[Any, Any], context: ProcessorContext) -> Iterator[Record[Any, Any]]:
    yield record
    yield record.with_timestamp(record.timestamp + 7)


@operator(cached="rows")
def process_generator_then_count(c: Corner) -> None:
    c.write(c.stream().process(_twice).group_by_key().count())


class _LastWindows(ContextualProcessor[Any, Any, Any, Any]):
    """Keeps records by time in a window store, and says what it finds shortly before each."""

    def process(self, record: Record[Any, Any]) -> None:
        if record.key is None:
            return
        store = self.context.get_state_store("matrix-windows")
        store.put(record.key, record.value, record.timestamp)
        found = store.fetch(record.key, record.timestamp - 500, record.timestamp)
        self.context.forward(record.with_value(" ".join(f"{start}={value}" for start, value in found)))


@operator()
def process_with_window_store(c: Corner) -> None:
    supplier = Stores.persistent_window_store("matrix-windows", 5000, 500)
    c.builder.add_state_store(Stores.window_store_builder(supplier, Serdes.string(), Serdes.string()))
    c.write(c.stream().process(_LastWindows, "matrix-windows"))


class _LookBack(ContextualProcessor[Any, Any, Any, Any]):
    """Keeps versions, and says which one was valid half a second before each record."""

    def process(self, record: Record[Any, Any]) -> None:
        if record.key is None:
            return
        store = self.context.get_state_store("matrix-versions")
        store.put(record.key, record.value, record.timestamp)
        found = store.get(record.key, record.timestamp - 500)
        self.context.forward(record.with_value("none" if found is None else f"{found.value}@{found.timestamp}"))


@operator()
def process_with_versioned_store(c: Corner) -> None:
    supplier = Stores.persistent_versioned_key_value_store("matrix-versions", 5000)
    c.builder.add_state_store(Stores.versioned_key_value_store_builder(supplier, Serdes.string(), Serdes.string()))
    c.write(c.stream().process(_LookBack, "matrix-versions"))
