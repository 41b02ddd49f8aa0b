"""Statistics of trades: lowest price, number and average price of the last five seconds, every second.

    penstock run examples.stock_statistics:topology

Windows of five seconds that start every second: each trade counts in five of them. The answer for a window is sent
again whenever a trade changes it; add `emit="close"` or `suppress(until="window_closes")` to get only the last one.
"""

from __future__ import annotations

from typing import Any

from penstock import StreamsBuilder, Topology, Windowed, fn, v

TRADES, STATISTICS = "trades", "stock-statistics"


def topology() -> Topology:
    """Trades `{"price": 10.5, "size": 100}` by ticker in, statistics by ticker out."""
    builder = StreamsBuilder()
    trades = builder.stream(TRADES, value_serde="json")
    statistics = (
        trades.group_by_key()
        .hopping("5s", "1s", grace="1s")
        .agg(lowest=fn.min(v.price), trades=fn.count(), average=fn.avg(v.price))
    )
    (
        statistics.to_stream()
        .map(lambda window, values: (window.key, with_window(window, values)))
        .to(STATISTICS, value_serde="json")
    )
    return builder.build()


def with_window(window: Windowed[str], statistics: dict[str, Any]) -> dict[str, Any]:
    """The statistics, and which five seconds they are of."""
    return {"start": window.window.start, "end": window.window.end, **statistics}
