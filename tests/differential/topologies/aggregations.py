"""count, reduce, aggregate and cogroup of streams; cogroup also with windows."""

from __future__ import annotations

from typing import Any

from penstock import CogroupedKStream, KGroupedStream, StreamsBuilder
from tests.differential.catalog import Params, dsl
from tests.differential.functions import append, bucket, number, plus_or_none, remove
from tests.differential.parameters import hopping, modulus, session, sliding
from tests.differential.shapes import (
    by_key,
    session_store,
    session_windows,
    sliding_windows,
    time_windows,
    window_store,
    write_table,
    write_windowed,
)


@dsl("in")
def count_by_key(b: StreamsBuilder, p: Params) -> None:
    write_table(by_key(b).count(store="kv-agg"))


@dsl("in")
def reduce_by_key(b: StreamsBuilder, p: Params) -> None:
    write_table(by_key(b).reduce(append, store="kv-agg"))


@dsl("in", choose=modulus)
def reduce_to_null(b: StreamsBuilder, p: Params) -> None:
    write_table(by_key(b).reduce(lambda a, v: plus_or_none(a, v, p["mod"]), store="kv-agg"))


@dsl("in")
def aggregate_by_key(b: StreamsBuilder, p: Params) -> None:
    write_table(by_key(b).aggregate("0", lambda k, v, a: append(a, v), store="kv-agg"))


@dsl("in", choose=modulus)
def aggregate_to_null(b: StreamsBuilder, p: Params) -> None:
    write_table(by_key(b).aggregate("10", lambda k, v, a: plus_or_none(a, v, p["mod"]), store="kv-agg"))


@dsl("in", choose=modulus)
def count_group_by(b: StreamsBuilder, p: Params) -> None:
    def group(k: str | None, v: str | None) -> str | None:
        if v is None:
            return k
        return None if number(v) == 0 else bucket("g", v, p)

    write_table(b.stream("in").group_by(group).count(store="kv-agg"))


@dsl("in", choose=modulus)
def select_key_reduce(b: StreamsBuilder, p: Params) -> None:
    rekeyed = b.stream("in").filter(lambda k, v: k is not None).select_key(lambda k, v: bucket("z", v, p))
    write_table(rekeyed.group_by_key().reduce(append, store="kv-agg"))


@dsl("left", "right")
def cogroup(b: StreamsBuilder, p: Params) -> None:
    write_table(
        by_key(b, "left")
        .cogroup(lambda k, v, a: remove(a, v))
        .cogroup(by_key(b, "right"), lambda k, v, a: None if number(v) == 0 else append(a, v))
        .aggregate("", store="kv-agg")
    )


@dsl("left", "right", choose=modulus)
def cogroup_rekeyed(b: StreamsBuilder, p: Params) -> None:
    left = b.stream("left").group_by(lambda k, v: None if v is None else bucket("g", v, p))
    write_table(_both(left, by_key(b, "right")).aggregate("", store="kv-agg"))


@dsl("left", "right", choose=hopping)
def cogroup_tumbling(b: StreamsBuilder, p: Params) -> None:
    both = _both(by_key(b, "left"), by_key(b, "right"))
    write_windowed(both.windowed_by(time_windows(p)).aggregate("", **window_store(p)))


@dsl("left", "right", choose=sliding)
def cogroup_sliding(b: StreamsBuilder, p: Params) -> None:
    both = _both(by_key(b, "left"), by_key(b, "right"))
    write_windowed(both.windowed_by(sliding_windows(p)).aggregate("", **window_store(p)))


@dsl("left", "right", choose=session)
def cogroup_session(b: StreamsBuilder, p: Params) -> None:
    both = _both(by_key(b, "left"), by_key(b, "right"))
    merged = both.windowed_by(session_windows(p)).aggregate("", lambda k, x, y: f"[{x}|{y}]", **session_store(p))
    write_windowed(merged)


def _both(left: KGroupedStream[Any, Any], right: KGroupedStream[Any, Any]) -> CogroupedKStream[Any, Any]:
    return left.cogroup(lambda k, v, a: remove(a, v)).cogroup(right, lambda k, v, a: append(a, v))
