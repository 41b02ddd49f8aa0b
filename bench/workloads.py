"""What is measured: the input of each workload, and the table it has to end in."""

from __future__ import annotations

import itertools
import math
import random
import struct
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import orjson

PARTITIONS = 4
FIRST_TIMESTAMP = 1_700_000_000_000
WINDOW_MS, ADVANCE_MS = 5_000, 1_000

Input = tuple[bytes | None, bytes, int]
"""Key, value and timestamp of an input record."""
Row = tuple[float, ...]
"""A row of a result table; its first figure is the number of records behind it."""
Table = Mapping[Hashable, Row]


class Workload(Protocol):
    """One thing to do, the same for every system."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def size(self) -> int:
        """How many records are measured unless told otherwise."""

    @property
    def updates(self) -> int:
        """How many rows of the result a record counts in."""

    def records(self, count: int) -> Iterator[Input]:
        """The first records of the input, always the same ones."""

    def result(self, records: Iterable[Input]) -> Table:
        """The table that these records end in."""

    def read(self, key: bytes, value: bytes) -> tuple[Hashable, Row]:
        """A record of the output topic as a row of the table."""


def trades(count: int, keys: int) -> Iterator[Input]:
    """JSON trades, one each millisecond, of random tickers."""
    rng = random.Random(1).random
    for i in range(count):
        ticker = f"T{int(rng() * keys)}"
        value = f'{{"ticker":"{ticker}","price":{int(rng() * 10_000) / 100},"size":{i % 100}}}'
        yield ticker.encode(), value.encode(), FIRST_TIMESTAMP + i


@dataclass(frozen=True, slots=True)
class CountByKey:
    """W1: running count and sum of prices by ticker."""

    name: str = "w1"
    size: int = 1_000_000
    keys: int = 50_000
    updates: int = 1

    @property
    def title(self) -> str:
        return f"count and sum by key, {self.keys:,} keys"

    def records(self, count: int) -> Iterator[Input]:
        return trades(count, self.keys)

    def result(self, records: Iterable[Input]) -> Table:
        table: dict[Hashable, Row] = {}
        for key, value, _ in records:
            count, total = table.get(key, (0, 0.0))
            table[key] = (count + 1, total + orjson.loads(value)["price"])
        return table

    def read(self, key: bytes, value: bytes) -> tuple[Hashable, Row]:
        row = orjson.loads(value)
        return key, (row["count"], row["sum"])


@dataclass(frozen=True, slots=True)
class GrownTable(CountByKey):
    """W1 over a table that has all its keys: each comes once, then come random ones."""

    name: str = "w1-grown"

    def records(self, count: int) -> Iterator[Input]:
        for i in range(min(count, self.keys)):
            ticker = f"T{i}"
            value = f'{{"ticker":"{ticker}","price":{i % 10_000 / 100},"size":{i % 100}}}'
            yield ticker.encode(), value.encode(), FIRST_TIMESTAMP + i
        yield from trades(max(0, count - self.keys), self.keys)


@dataclass(frozen=True, slots=True)
class StockStatistics:
    """W2: least price, number of trades and mean price by ticker and hopping window.

    With as many tickers as this, most windows hold one trade: it measures how fast windows are made.
    """

    name: str = "w2"
    size: int = 200_000
    keys: int = 50_000
    updates: int = WINDOW_MS // ADVANCE_MS

    @property
    def title(self) -> str:
        return f"hopping windows {WINDOW_MS // 1000} s / {ADVANCE_MS // 1000} s, min + count + avg, {self.keys:,} keys"

    def records(self, count: int) -> Iterator[Input]:
        return trades(count, self.keys)

    def result(self, records: Iterable[Input]) -> Table:
        states: dict[Hashable, tuple[int, float, float]] = {}
        for key, value, timestamp in records:
            price = orjson.loads(value)["price"]
            last = timestamp // ADVANCE_MS * ADVANCE_MS
            for start in range(last, timestamp - WINDOW_MS, -ADVANCE_MS):
                count, least, total = states.get((key, start), (0, math.inf, 0.0))
                states[key, start] = (count + 1, min(least, price), total + price)
        return {group: (count, least, total / count) for group, (count, least, total) in states.items()}

    def read(self, key: bytes, value: bytes) -> tuple[Hashable, Row]:
        row = orjson.loads(value)
        return (key, row["start"]), (row["count"], row["min"], row["avg"])


@dataclass(frozen=True, slots=True)
class WordCount:
    """W3: lines of eight words that follow Zipf's law, counted by word; words have to be repartitioned first."""

    name: str = "w3"
    size: int = 300_000
    vocabulary: int = 20_000
    updates: int = 8

    @property
    def title(self) -> str:
        return f"word count, {self.updates} words a line, vocabulary {self.vocabulary:,}, with a repartition"

    def records(self, count: int) -> Iterator[Input]:
        rng = random.Random(2)
        words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(self.vocabulary)]
        weights = list(itertools.accumulate(1 / rank for rank in range(1, self.vocabulary + 1)))
        for i in range(count):
            line = " ".join(rng.choices(words, cum_weights=weights, k=self.updates))
            yield None, line.encode(), FIRST_TIMESTAMP + i

    def result(self, records: Iterable[Input]) -> Table:
        table: dict[Hashable, Row] = {}
        for _, line, _ in records:
            for word in line.split(b" "):
                table[word] = (table.get(word, (0,))[0] + 1,)
        return table

    def read(self, key: bytes, value: bytes) -> tuple[Hashable, Row]:
        return key, struct.unpack(">q", value)


WORKLOADS: Mapping[str, Workload] = {
    "w1": CountByKey(),
    "w1-5m": CountByKey("w1-5m", size=5_000_000),
    "w2": StockStatistics(),
    "w3": WordCount(),
}
