"""Windowed aggregations, each kind of window with each aggregation and both emit strategies."""

from __future__ import annotations

from typing import Any

from penstock import EmitStrategy, StreamsBuilder, UnlimitedWindows
from tests.differential.catalog import Params, dsl
from tests.differential.functions import append, bucket, plus, plus_or_none
from tests.differential.parameters import all_of, hopping, modulus, one_of, session, sliding, tumbling
from tests.differential.shapes import (
    Table,
    by_key,
    history,
    session_store,
    session_windows,
    sliding_windows,
    time_windows,
    window_store,
    write_table,
    write_windowed,
)

_SHAPES: dict[str, tuple[Any, Any]] = {
    "tumbling": (tumbling, time_windows),
    "hopping": (hopping, time_windows),
    "sliding": (sliding, sliding_windows),
    "session": (session, session_windows),
}


def _enter(shape: str, what: str, suffix: str, emit: EmitStrategy) -> None:
    choose, windows = _SHAPES[shape]

    @dsl("in", choose=choose, name=f"{shape}_{what}{suffix}")
    def windowed(b: StreamsBuilder, p: Params) -> None:
        grouped = by_key(b).windowed_by(windows(p)).emit_strategy(emit)
        store = session_store(p) if shape == "session" else window_store(p)
        write_windowed(_aggregated(grouped, what, session=shape == "session", store=store))


def _aggregated(grouped: Any, what: str, *, session: bool, store: dict[str, Any]) -> Table:
    table: Table
    if what == "count":
        table = grouped.count(**store)
    elif what == "reduce":
        table = grouped.reduce(append, **store)
    elif session:
        table = grouped.aggregate("0", lambda k, v, a: append(a, v), lambda k, x, y: append(x, y), **store)
    else:
        table = grouped.aggregate("0", lambda k, v, a: append(a, v), **store)
    return table


for _shape in _SHAPES:
    for _what in ("count", "reduce", "aggregate"):
        _enter(_shape, _what, "", EmitStrategy.on_window_update())
        _enter(_shape, _what, "_close", EmitStrategy.on_window_close())


@dsl("in", choose=one_of(start=(0, 1, 10, 50)))
def unlimited_count(b: StreamsBuilder, p: Params) -> None:
    write_windowed(by_key(b).windowed_by(UnlimitedWindows.of().start_on(p["start"])).count(**window_store(p)))


@dsl("in", choose=all_of(modulus, hopping))
def tumbling_to_null(b: StreamsBuilder, p: Params) -> None:
    windowed = by_key(b).windowed_by(time_windows(p))
    write_windowed(windowed.aggregate("10", lambda k, v, a: plus_or_none(a, v, p["mod"]), **window_store(p)))


@dsl("in", choose=all_of(modulus, session))
def session_to_null(b: StreamsBuilder, p: Params) -> None:
    windowed = by_key(b).windowed_by(session_windows(p))
    table = windowed.aggregate(
        "1", lambda k, v, a: plus_or_none(a, v, p["mod"]), lambda k, x, y: plus(x, y), **session_store(p)
    )
    write_windowed(table)


@dsl("in", choose=all_of(modulus, tumbling))
def rekeyed_tumbling_count(b: StreamsBuilder, p: Params) -> None:
    grouped = b.stream("in").group_by(lambda k, v: k if v is None else bucket("g", v, p))
    write_windowed(grouped.windowed_by(time_windows(p)).count(**window_store(p)))


@dsl("in", choose=hopping)
def window_then_total(b: StreamsBuilder, p: Params) -> None:
    sums = by_key(b).windowed_by(time_windows(p)).reduce(plus, **window_store(p))
    write_table(sums.to_stream(lambda k, v: k.key).group_by_key().reduce(append, store="kv-agg"))


@dsl("in", choose=hopping)
def window_group_table(b: StreamsBuilder, p: Params) -> None:
    sums = by_key(b).windowed_by(time_windows(p)).reduce(plus, **window_store(p))
    write_table(history(sums.group_by(lambda k, v: (f"w{k.window.start}", v))))


@dsl("in", choose=session)
def session_group_table(b: StreamsBuilder, p: Params) -> None:
    sums = by_key(b).windowed_by(session_windows(p)).reduce(plus, **session_store(p))
    write_table(history(sums.group_by(lambda k, v: (f"k{k.key}", v))))
