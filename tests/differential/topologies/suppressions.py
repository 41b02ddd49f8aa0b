"""suppress until a window closes, until a time limit, and with bounded buffers."""

from __future__ import annotations

from penstock import BufferConfig, StreamsBuilder, Suppressed
from tests.differential.catalog import Params, dsl
from tests.differential.functions import append
from tests.differential.parameters import all_of, hopping, modulus, session, sliding, suppression, tumbling
from tests.differential.shapes import (
    Table,
    by_key,
    groups,
    history,
    joined,
    session_store,
    session_windows,
    sliding_windows,
    stored_table,
    time_windows,
    window_store,
    write_table,
    write_windowed,
)


def _until_closed(t: Table) -> Table:
    return t.suppress(Suppressed.until_window_closes(BufferConfig.unbounded()))


def _waiting(t: Table, p: Params) -> Table:
    return t.suppress(Suppressed.until_time_limit(p["wait"], BufferConfig.unbounded()))


def _bounded(t: Table, p: Params) -> Table:
    return t.suppress(Suppressed.until_time_limit(p["wait"], BufferConfig.max_records(p["max"]).emit_early_when_full()))


@dsl("in", choose=tumbling)
def suppress_tumbling(b: StreamsBuilder, p: Params) -> None:
    write_windowed(_until_closed(by_key(b).windowed_by(time_windows(p)).count(**window_store(p))))


@dsl("in", choose=hopping)
def suppress_hopping(b: StreamsBuilder, p: Params) -> None:
    write_windowed(_until_closed(by_key(b).windowed_by(time_windows(p)).reduce(append, **window_store(p))))


@dsl("in", choose=sliding)
def suppress_sliding(b: StreamsBuilder, p: Params) -> None:
    write_windowed(_until_closed(by_key(b).windowed_by(sliding_windows(p)).count(**window_store(p))))


@dsl("in", choose=session)
def suppress_session(b: StreamsBuilder, p: Params) -> None:
    write_windowed(_until_closed(by_key(b).windowed_by(session_windows(p)).count(**session_store(p))))


@dsl("in", choose=all_of(tumbling, suppression))
def suppress_strict_full(b: StreamsBuilder, p: Params) -> None:
    counts = by_key(b).windowed_by(time_windows(p)).count(**window_store(p))
    strict = BufferConfig.max_records(p["max"]).shut_down_when_full()
    write_windowed(counts.suppress(Suppressed.until_window_closes(strict)))


@dsl("in", choose=suppression)
def suppress_limit(b: StreamsBuilder, p: Params) -> None:
    write_table(_waiting(by_key(b).count(store="kv-agg"), p))


@dsl("in", choose=suppression)
def suppress_limit_table(b: StreamsBuilder, p: Params) -> None:
    write_table(_waiting(stored_table(b, "in"), p))


@dsl("in", choose=suppression)
def suppress_max_records(b: StreamsBuilder, p: Params) -> None:
    write_table(_bounded(stored_table(b, "in"), p))


@dsl("in", choose=all_of(hopping, suppression))
def suppress_windowed_limit(b: StreamsBuilder, p: Params) -> None:
    write_windowed(_bounded(by_key(b).windowed_by(time_windows(p)).reduce(append, **window_store(p)), p))


@dsl("in", choose=all_of(modulus, suppression))
def suppress_then_group(b: StreamsBuilder, p: Params) -> None:
    write_table(history(groups(_waiting(stored_table(b, "in"), p), p)))


@dsl("left", "right", choose=suppression)
def suppress_then_join(b: StreamsBuilder, p: Params) -> None:
    write_table(joined("outer", _waiting(stored_table(b, "left"), p), stored_table(b, "right")))
