"""Windowed joins of two streams."""

from __future__ import annotations

from penstock import StreamsBuilder
from tests.differential.catalog import Params, dsl
from tests.differential.functions import number
from tests.differential.parameters import JOIN_KINDS, all_of, join_window, kinds, tumbling
from tests.differential.shapes import join_windows, joined, time_windows, window_store, write, write_windowed


def _enter(kind: str) -> None:
    @dsl("left", "right", choose=join_window, name=f"ss_{kind}")
    def plain(b: StreamsBuilder, p: Params) -> None:
        write(joined(kind, b.stream("left"), b.stream("right"), join_windows(p)))

    @dsl("left", "right", choose=join_window, name=f"ss_{kind}_rekeyed")
    def rekeyed(b: StreamsBuilder, p: Params) -> None:
        left = b.stream("left").select_key(lambda k, v: None if v is not None and number(v) == 0 else k)
        right = b.stream("right").map(lambda k, v: (k, v))
        write(joined(kind, left, right, join_windows(p)))


for _kind in JOIN_KINDS:
    _enter(_kind)


@dsl("in", choose=join_window, optimized=True)
def ss_self(b: StreamsBuilder, p: Params) -> None:
    one = b.stream("in")
    write(joined("inner", one, one, join_windows(p)))


@dsl("left", "right", choose=all_of(join_window, kinds))
def ss_chain(b: StreamsBuilder, p: Params) -> None:
    right = b.stream("right")
    first = joined(p["k1"], b.stream("left"), right, join_windows(p))
    write(joined(p["k2"], first, right, join_windows(p)))


@dsl("left", "right", choose=all_of(tumbling, join_window))
def ss_join_window_count(b: StreamsBuilder, p: Params) -> None:
    pairs = joined("inner", b.stream("left"), b.stream("right"), join_windows(p))
    write_windowed(pairs.group_by_key().windowed_by(time_windows(p)).count(**window_store(p)))
