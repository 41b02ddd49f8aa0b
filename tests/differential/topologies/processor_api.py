"""Processors inside the DSL: punctuation, changed timestamps, and what the stores answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import (
    ContextualFixedKeyProcessor,
    ContextualProcessor,
    FixedKeyRecord,
    Record,
    Serdes,
    Stores,
    StreamsBuilder,
)
from tests.differential.catalog import Params, dsl
from tests.differential.functions import append, number, show
from tests.differential.parameters import all_of, one_of, session_store, tumbling, window_store
from tests.differential.processors import punctuators, store_calls
from tests.differential.shapes import time_windows, write, write_table, write_windowed
from tests.differential.shapes import window_store as materialized


def texts(p: Params, name: str) -> Any:
    """The builder of a store of texts."""
    supplier = Stores.in_memory_key_value_store if p["memory"] else Stores.persistent_key_value_store
    return Stores.key_value_store_builder(supplier(name), Serdes.string(), Serdes.string())


def _with_store(b: StreamsBuilder, builder: Any, processor: Callable[[], Any]) -> None:
    b.add_state_store(builder)
    write(b.stream("in").process(processor, builder.name))


@dsl("in", choose=one_of(interval=(1, 2, 5, 10, 20), clear=(True, False)))
def papi_stream_punct(b: StreamsBuilder, p: Params) -> None:
    _with_store(b, texts(p, "kv-p"), lambda: punctuators.Totals(p))


@dsl("in", choose=one_of(interval=(1, 3, 10, 25)), wall_clock=True)
def papi_wall_punct(b: StreamsBuilder, p: Params) -> None:
    write(b.stream("in").process(lambda: punctuators.WallClock(p)))


@dsl("in", choose=one_of(i1=(1, 2, 5, 10), i2=(1, 3, 5, 10), i3=(1, 5, 20), cancel_after=(0, 1, 2, 3)), wall_clock=True)
def papi_two_puncts(b: StreamsBuilder, p: Params) -> None:
    write(b.stream("in").process(lambda: punctuators.Several(p)))


@dsl("in", choose=all_of(tumbling, one_of(shift=(0, 1, 5, 10, 20))))
def papi_retime_window(b: StreamsBuilder, p: Params) -> None:
    class Retime(ContextualProcessor[Any, Any, Any, Any]):
        """Moves each record back by its value; odd ones also give a copy that lies ahead."""

        def process(self, record: Record[Any, Any]) -> None:
            value = number(record.value)
            self.context.forward(record.with_timestamp(max(0, record.timestamp - value)))
            if value % 2 == 1:
                self.context.forward(record.with_value("0").with_timestamp(record.timestamp + p["shift"]))

    retimed = b.stream("in").process(Retime)
    write_windowed(retimed.group_by_key().windowed_by(time_windows(p)).count(**materialized(p)))


@dsl("in", choose=all_of(tumbling, one_of(shift=(0, 1, 5, 10, 20))))
def papi_repeat_window(b: StreamsBuilder, p: Params) -> None:
    class Repeat(ContextualFixedKeyProcessor[Any, Any, Any]):
        """Forwards each record now, later and now again: several updates of one store within one record."""

        def process(self, record: FixedKeyRecord[Any, Any]) -> None:
            self.context.forward(record)
            self.context.forward(record.with_timestamp(record.timestamp + p["shift"]))
            self.context.forward(record.with_value(f"{show(record.value)}!"))

    repeated = b.stream("in").process_values(Repeat)
    write_windowed(repeated.group_by_key().windowed_by(time_windows(p)).reduce(append, **materialized(p)))


class _OnlyChanges(ContextualFixedKeyProcessor[Any, Any, Any]):
    """Forwards a value only when it differs from the last one of its key."""

    def process(self, record: FixedKeyRecord[Any, Any]) -> None:
        if record.key is None:
            self.context.forward(record.with_value("nokey"))
            return
        last = self.context.get_state_store("kv-p")
        before = last.get(record.key)
        last.put(record.key, record.value)
        if before != record.value:
            self.context.forward(record.with_value(f"{show(before)}>{show(record.value)}"))


@dsl("in")
def process_values(b: StreamsBuilder, p: Params) -> None:
    b.add_state_store(texts(p, "kv-p"))
    write_table(b.stream("in").process_values(_OnlyChanges, "kv-p").group_by_key().count(store="kv-agg"))


@dsl("in")
def papi_kv_ops(b: StreamsBuilder, p: Params) -> None:
    _with_store(b, texts(p, "kv-p"), store_calls.OfKeys)


@dsl("in", choose=window_store)
def papi_window_store(b: StreamsBuilder, p: Params) -> None:
    supplier = Stores.in_memory_window_store if p["memory"] else Stores.persistent_window_store
    store = supplier("win-p", p["retention"], p["size"], p["dups"])
    builder = Stores.window_store_builder(store, Serdes.string(), Serdes.string())
    _with_store(b, builder, lambda: store_calls.OfWindows(p))


@dsl("in", choose=session_store)
def papi_session_store(b: StreamsBuilder, p: Params) -> None:
    supplier = Stores.in_memory_session_store if p["memory"] else Stores.persistent_session_store
    builder = Stores.session_store_builder(supplier("ses-p", p["retention"]), Serdes.string(), Serdes.string())
    _with_store(b, builder, lambda: store_calls.OfSessions(p))


@dsl("in", choose=one_of(history=(0, 1, 5, 10, 100, 10_000), look=(1, 5, 10, 100, 5000)))
def papi_versioned_store(b: StreamsBuilder, p: Params) -> None:
    store = Stores.persistent_versioned_key_value_store("ver-p", p["history"])
    builder = Stores.versioned_key_value_store_builder(store, Serdes.string(), Serdes.string())
    _with_store(b, builder, lambda: store_calls.OfVersions(p))
