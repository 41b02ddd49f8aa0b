"""The workloads with penstock.

python -m bench.programs.penstock_program WORKLOAD STYLE INPUT OUTPUT SETTINGS

STYLE is `expressions` or `functions`: the same topology, its aggregates written one way or the other. SETTINGS are those of
the application, as JSON.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from typing import Any

from bench.marks import mark, write
from penstock import KafkaStreams, Materialized, StreamsBuilder, fn, v


def w1_expressions(builder: StreamsBuilder, topic: str, output: str) -> None:
    trades = builder.stream(topic, key_serde="string", value_serde="json")
    totals = trades.group_by_key().agg(Materialized.as_("totals"), count=fn.count(), sum=fn.sum(v.price))
    totals.to_stream().to(output, key_serde="string", value_serde="json")


def w1_functions(builder: StreamsBuilder, topic: str, output: str) -> None:
    trades = builder.stream(topic, key_serde="string", value_serde="json")
    totals = trades.group_by_key().aggregate(
        lambda: {"count": 0, "sum": 0.0},
        lambda trade, total: {"count": total["count"] + 1, "sum": total["sum"] + trade["price"]},
        store="totals",
        value_serde="json",
    )
    totals.to_stream().to(output, key_serde="string", value_serde="json")


def w2_expressions(builder: StreamsBuilder, topic: str, output: str) -> None:
    trades = builder.stream(topic, key_serde="string", value_serde="json")
    windows = trades.group_by_key().hopping("5s", "1s")
    stats = windows.agg(Materialized.as_("stats"), min=fn.min(v.price), count=fn.count(), avg=fn.avg(v.price))
    (
        stats.to_stream()
        .map(lambda key, row: (key.key, {"start": key.window.start, **row}))
        .to(output, key_serde="string", value_serde="json")
    )


def _statistics(trade: dict[str, Any], stats: Any) -> Any:
    price = trade["price"]
    if stats is None:
        return [price, 1, price]
    least, count, total = stats
    return [price if price < least else least, count + 1, total + price]


def w2_functions(builder: StreamsBuilder, topic: str, output: str) -> None:
    trades = builder.stream(topic, key_serde="string", value_serde="json")
    windows = trades.group_by_key().hopping("5s", "1s")
    stats = windows.aggregate(None, _statistics, store="stats", value_serde="json")
    (
        stats.to_stream()
        .map(lambda k, s: (k.key, {"start": k.window.start, "min": s[0], "count": s[1], "avg": s[2] / s[1]}))
        .to(output, key_serde="string", value_serde="json")
    )


def w3_expressions(builder: StreamsBuilder, topic: str, output: str) -> None:
    words = builder.stream(topic, key_serde="string", value_serde="string").flat_map_values(fn.split(v, " "))
    words.group_by(v).count(store="counts").to_stream().to(output, key_serde="string", value_serde="long")


def w3_functions(builder: StreamsBuilder, topic: str, output: str) -> None:
    words = builder.stream(topic, key_serde="string", value_serde="string").flat_map_values(
        lambda line: line.split(" ")
    )
    counts = words.group_by(lambda word: word).count(store="counts")
    counts.to_stream().to(output, key_serde="string", value_serde="long")


TOPOLOGIES: dict[str, Callable[[StreamsBuilder, str, str], None]] = {
    f.__name__: f for f in (w1_expressions, w1_functions, w2_expressions, w2_functions, w3_expressions, w3_functions)
}


class _Batches(logging.Handler):
    """Hands the figures of each batch to the benchmark."""

    def emit(self, record: logging.LogRecord) -> None:
        write({"batch": json.loads(record.getMessage())})


def main() -> None:
    workload, style, topic, output, settings = sys.argv[1:]
    logging.basicConfig(level=logging.WARNING)
    batches = logging.getLogger("penstock.batches")
    batches.setLevel(logging.INFO)
    batches.propagate = False
    batches.addHandler(_Batches())
    builder = StreamsBuilder()
    TOPOLOGIES[f"{workload}_{style}"](builder, topic, output)
    streams = KafkaStreams(builder, json.loads(settings))
    streams.set_state_listener(lambda new, old: mark(new.value))
    streams.run(progress=mark)
    mark("closed")


if __name__ == "__main__":
    main()
