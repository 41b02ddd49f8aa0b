"""The workloads with PySpark's own `transformWithStateInPandas`, grouped by record key, as one writes it by hand.

python -m bench.programs.pyspark_program WORKLOAD INPUT OUTPUT BOOTSTRAP_SERVERS FOLDER JARS

Spark's Kafka sink has no transactions, so this runs at least once whatever the others do.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from bench.marks import mark, write
from bench.workloads import ADVANCE_MS, WINDOW_MS

TRADE = "ticker STRING, price DOUBLE, size LONG"
Frames = Iterator[pd.DataFrame]


class Totals(StatefulProcessor):
    """W1."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._total = handle.getValueState("total", "count LONG, sum DOUBLE")

    def handleInputRows(self, key: Any, rows: Frames, timerValues: Any) -> Frames:  # noqa: N802, N803 - Spark's names
        count, total = self._total.get() or (0, 0.0)
        for frame in rows:
            count += len(frame)
            total += float(frame["price"].sum())
        self._total.update((count, total))
        yield pd.DataFrame({"key": [key[0]], "count": [count], "sum": [total]})


class Windows(StatefulProcessor):
    """W2: the windows of a key in a map by their start; those that are over are removed when the key comes again."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._stats = handle.getMapState("stats", "start LONG", "least DOUBLE, count LONG, sum DOUBLE")

    def handleInputRows(self, key: Any, rows: Frames, timerValues: Any) -> Frames:  # noqa: N802, N803 - Spark's names
        known = {start: stats for (start,), stats in self._stats.iterator()}
        changed: dict[int, tuple[float, int, float]] = {}
        now = 0
        for frame in rows:
            for timestamp, price in zip(frame["timestamp"], frame["price"], strict=True):
                at, now = int(timestamp), max(now, int(timestamp))
                for start in range(at // ADVANCE_MS * ADVANCE_MS, at - WINDOW_MS, -ADVANCE_MS):
                    least, count, total = changed.get(start) or known.get(start) or (price, 0, 0.0)
                    changed[start] = (min(least, price), count + 1, total + price)
        for start in known:
            if start + WINDOW_MS <= now:
                self._stats.removeKey((start,))
        for start, stats in changed.items():
            self._stats.updateValue((start,), stats)
        yield pd.DataFrame(
            [(key[0], start, s[0], s[1], s[2] / s[1]) for start, s in changed.items()],
            columns=["key", "start", "min", "count", "avg"],
        )


class Words(StatefulProcessor):
    """W3."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._count = handle.getValueState("count", "count LONG")

    def handleInputRows(self, key: Any, rows: Frames, timerValues: Any) -> Frames:  # noqa: N802, N803 - Spark's names
        (count,) = self._count.get() or (0,)
        count += sum(len(frame) for frame in rows)
        self._count.update((count,))
        yield pd.DataFrame({"key": [key[0]], "count": [count]})


def stateful(rows: DataFrame, processor: StatefulProcessor, schema: str) -> DataFrame:
    grouped: Any = rows.groupBy("key")
    found: DataFrame = grouped.transformWithStateInPandas(processor, schema, "Update", "None")
    return found


def topology(workload: str, rows: DataFrame) -> DataFrame:
    if workload == "w3":
        words = rows.select(F.explode(F.split(F.col("value").cast("string"), " ")).alias("key"))
        counts = stateful(words, Words(), "key STRING, count LONG")
        # Eight bytes, as Kafka's serde of longs writes them.
        return counts.select("key", F.unhex(F.lpad(F.hex("count"), 16, "0")).alias("value"))
    trades = rows.select(
        F.col("key").cast("string"),
        F.unix_millis("timestamp").alias("timestamp"),
        F.from_json(F.col("value").cast("string"), TRADE).alias("trade"),
    ).select("key", "timestamp", "trade.price")
    if workload == "w1":
        result = stateful(trades, Totals(), "key STRING, count LONG, sum DOUBLE")
    else:
        result = stateful(trades, Windows(), "key STRING, start LONG, min DOUBLE, count LONG, avg DOUBLE")
    return result.select("key", F.to_json(F.struct(*[c for c in result.columns if c != "key"])).alias("value"))


def session(jars: str) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[*]")
        .appName("pyspark-benchmark")
        .config("spark.jars", jars)
        .config("spark.driver.memory", "2g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")  # 200 by default, which would be unfair on a small machine
        .config(
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
        .getOrCreate()
    )


def main() -> None:
    workload, topic, output, servers, folder, jars = sys.argv[1:]
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    spark = session(jars)
    spark.sparkContext.setLogLevel("ERROR")
    mark("session")
    rows = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )
    query = (
        topology(workload, rows)
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("topic", output)
        .option("checkpointLocation", Path(folder).as_uri())
        .outputMode("update")
        .start()
    )
    mark("RUNNING")
    shown = -1
    while query.isActive and not stop.wait(0.1):
        last = query.lastProgress
        if last is not None and last["batchId"] != shown:
            shown = last["batchId"]
            write({"batch": {"batch": shown, "durations_ms": last["durationMs"], "records_in": last["numInputRows"]}})
    failure = query.exception()
    query.stop()
    spark.stop()
    if failure is not None:
        sys.exit(json.dumps(str(failure))[:2000])
    mark("closed")


if __name__ == "__main__":
    main()
