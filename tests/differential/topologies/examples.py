"""Two applications as users write them: statistics of trades, and page views joined with profiles and searches."""

from __future__ import annotations

from penstock import JoinWindows, StreamsBuilder, TimeWindows
from tests.differential.catalog import Params, dsl
from tests.differential.functions import number, window_key
from tests.differential.parameters import one_of
from tests.differential.shapes import by_key, joined, stored_table, window_store, write


@dsl("trades", choose=one_of(grace=(0, 1, 500, 1000, 5000), size=(5000,), advance=(1000,)))
def stock_stats(b: StreamsBuilder, p: Params) -> None:
    windows = TimeWindows.of_size_and_grace("5s", p["grace"]).advance_by("1s")
    trades = by_key(b, "trades").windowed_by(windows).aggregate("", _with_trade, **window_store(p))
    write(trades.to_stream(lambda k, v: window_key(k)).map_values(_stats))


def _with_trade(_key: str, price: str | None, aggregate: str) -> str:
    """The aggregate reads lowest|count|sum."""
    if price is None:
        return aggregate
    if not aggregate:
        return f"{price}|1|{price}"
    lowest, count, total = map(number, aggregate.split("|"))
    return f"{min(number(price), lowest)}|{count + 1}|{total + number(price)}"


def _stats(aggregate: str | None) -> str | None:
    if not aggregate:
        return aggregate
    lowest, count, total = map(number, aggregate.split("|"))
    return f"{lowest},{count},{100 * total // count}"


_TOPICS = ("views", "searches", "profiles")


@dsl(*_TOPICS, choose=one_of(grace=(0, 1, 500, 1000), before=(0,), after=(1000,)))
def clickstream(b: StreamsBuilder, p: Params) -> None:
    known = joined("left", b.stream("views"), stored_table(b, "profiles"))
    write(joined("left", known, b.stream("searches"), JoinWindows(0, "1s", p["grace"])))


@dsl(*_TOPICS, choose=one_of(grace=(0, 1, 500, 1000), before=(1000,), after=(1000,)))
def clickstream_inner(b: StreamsBuilder, p: Params) -> None:
    pairs = joined("inner", b.stream("views"), b.stream("searches"), JoinWindows("1s", "1s", p["grace"]))
    write(joined("left", pairs, stored_table(b, "profiles")))
