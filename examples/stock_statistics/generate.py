"""Trades of a few stocks whose prices wander; some reach Kafka a little late."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from examples.sending import Generated, generate
from examples.stock_statistics import STATISTICS, TRADES

TOPICS = {TRADES: 2, STATISTICS: 2}
PRICES = {"ACME": 120.0, "MILL": 40.0, "RIVR": 75.0, "TURB": 210.0, "WTR": 15.0}


def records(seed: int, start: int, rate: float) -> Iterator[Generated]:
    """Trades with a price and a size; one in ten is up to two seconds older than the one before."""
    random = Random(seed)
    prices = dict(PRICES)
    number = 0
    while True:
        ticker = random.choice(list(prices))
        prices[ticker] = max(1.0, round(prices[ticker] * random.uniform(0.99, 1.01), 2))
        late = random.randint(1, 2000) if random.random() < 0.1 else 0
        trade = {"price": prices[ticker], "size": random.randrange(100, 1000, 100)}
        yield Generated(TRADES, ticker, json.dumps(trade), max(start, start + int(number * 1000 / rate) - late))
        number += 1


if __name__ == "__main__":
    generate(__doc__, TOPICS, records)
