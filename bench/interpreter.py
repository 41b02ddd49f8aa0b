"""How much the interpreter costs: two topologies against hand-written loops that do the same work, in one run.

python -m bench.interpreter [--records N] [--rounds R]

Work of both sides, for each record: decode the key, parse the JSON value, look at the timestamp, aggregate by key (or by key
and hopping window); at the end serialise every result and its key. Rounds alternate, so that a noisy machine hits both.
"""

from __future__ import annotations

import argparse
import statistics
import struct
import time
from collections.abc import Callable
from typing import Any

import orjson

from bench.machine import header
from penstock import StreamsBuilder, TimeWindows, TopologyTestDriver
from penstock.interpreter.sink import Collector
from penstock.interpreter.task import Task
from penstock.records import Headers
from penstock.runtime.settings import Settings
from penstock.state.bytes_store import MemoryBytesStore

Raw = tuple[int, int, bytes, bytes, None]
SIZE, ADVANCE = 5000, 1000


def records(count: int, keys: int) -> list[Raw]:
    """JSON trades, ten a millisecond."""
    return [
        (
            i,
            1_700_000_000_000 + i // 10,
            f"key-{(i * 7919) % keys}".encode(),
            orjson.dumps({"symbol": f"S{i % 100}", "price": (i * 31 % 1000) / 10, "quantity": i % 50, "id": i}),
            None,
        )
        for i in range(count)
    ]


class Discard(Collector):
    """A collector that counts."""

    def __init__(self) -> None:
        self.count = 0

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: Headers,
        partition: int | None,
    ) -> None:
        self.count += 1

    def partition_count(self, topic: str) -> int:
        return 1


def count_by_key() -> StreamsBuilder:
    builder = StreamsBuilder()
    stream = builder.stream("in", key_serde="string", value_serde="json")
    stream.group_by_key().count(store="counts").to_stream().to("out", key_serde="string", value_serde="long")
    return builder


def count_by_key_loop(raw: list[Raw]) -> int:
    rows: dict[str, list[int]] = {}
    loads, stream_time = orjson.loads, -1
    for _offset, timestamp, key, value, _headers in raw:
        name = key.decode()
        parsed = loads(value)
        if parsed is None:
            continue
        if timestamp > stream_time:
            stream_time = timestamp
        row = rows.get(name)
        if row is None:
            rows[name] = [1, timestamp]
        else:
            row[0] += 1
            if timestamp > row[1]:
                row[1] = timestamp
    pack = struct.Struct(">q").pack
    return len([(name.encode(), pack(count), at) for name, (count, at) in rows.items()])


def stats(value: dict[str, Any], aggregate: Any) -> Any:
    price = value["price"]
    if aggregate is None:
        return (price, 1, price)
    low, count, total = aggregate
    return (price if price < low else low, count + 1, total + price)


def hopping() -> StreamsBuilder:
    builder = StreamsBuilder()
    windows = TimeWindows(SIZE, advance=ADVANCE)
    (
        builder.stream("in", key_serde="string", value_serde="json")
        .group_by_key()
        .windowed_by(windows)
        .aggregate(lambda: None, stats, store="stats", value_serde="json")
        .to_stream(lambda k, v: f"{k.key}@{k.window.start}")
        .to("out", key_serde="string", value_serde="json")
    )
    return builder


def hopping_loop(raw: list[Raw]) -> int:
    rows: dict[tuple[str, int], list[Any]] = {}
    loads, stream_time = orjson.loads, -1
    for _offset, timestamp, key, value, _headers in raw:
        name = key.decode()
        parsed = loads(value)
        if timestamp > stream_time:
            stream_time = timestamp
        start = max(0, timestamp - SIZE + ADVANCE) // ADVANCE * ADVANCE
        while start <= timestamp:
            if start + SIZE > stream_time:
                at = (name, start)
                row = rows.get(at)
                if row is None:
                    rows[at] = [stats(parsed, None), timestamp]
                else:
                    row[0] = stats(parsed, row[0])
                    if timestamp > row[1]:
                        row[1] = timestamp
            start += ADVANCE
    dumps = orjson.dumps
    return len([(f"{name}@{start}".encode(), dumps(row), at) for (name, start), (row, at) in rows.items()])


def interpreted(builder: StreamsBuilder) -> Callable[[list[Raw]], int]:
    """A run of a topology over fresh in-memory stores, cache on, flushed at the end."""
    settings = Settings({"application.id": "bench"})
    topology = builder.build(settings)

    def run(raw: list[Raw]) -> int:
        out = Discard()
        task = Task(topology, config=settings.task_config(), collector=out, bytes_store=lambda name: MemoryBytesStore())
        source = task.source("in", 0)
        source.enter()
        accept = source.accept
        for offset, timestamp, key, value, headers in raw:
            accept(offset, timestamp, key, value, headers)
        task.flush()
        return out.count

    return run


def pipe_rate(seconds: float = 2.0) -> float:
    """Records a second through `pipe_input` on a three-operator topology."""
    builder = StreamsBuilder()
    stream = builder.stream("in", key_serde="string", value_serde="string")
    stream.filter(lambda v: True).map_values(str.upper).group_by_key().count().to_stream().to(
        "out", key_serde="string", value_serde="long"
    )
    with TopologyTestDriver(builder) as driver:
        topic = driver.create_input_topic("in")
        count, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds:
            for i in range(200):
                topic.pipe_input(f"k{i}", "value", count)
            count += 200
        return count / (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(header())
    raw = records(options.records, 50_000)
    few = records(options.records, 1_000)
    for name, data, loop, run in (
        ("count by key", raw, count_by_key_loop, interpreted(count_by_key())),
        ("hopping window aggregate", few, hopping_loop, interpreted(hopping())),
    ):
        ratios, loops, runs = [], [], []
        for _ in range(options.rounds):
            begin = time.perf_counter()
            by_hand = loop(data)
            middle = time.perf_counter()
            by_penstock = run(data)
            end = time.perf_counter()
            assert by_hand == by_penstock, (by_hand, by_penstock)
            loops.append(middle - begin)
            runs.append(end - middle)
            ratios.append((end - middle) / (middle - begin))
        print(
            f"{name}: {len(data)} records, loop {statistics.median(loops):.2f} s, "
            f"penstock {statistics.median(runs):.2f} s, ratio {statistics.median(ratios):.2f} "
            f"({', '.join(f'{r:.2f}' for r in ratios)})"
        )
    print(f"test driver: {pipe_rate():.0f} pipe_input/s on three operators")


if __name__ == "__main__":
    main()
