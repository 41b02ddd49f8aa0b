"""Latency at a low, steady load: from the moment a record is produced until its result can be read.

python -m bench.latency [--systems penstock,ks] [--rate 200] [--seconds 60] [--runs 1] [--save]

The workload is W1 with exactly once. A record's result is the first output of its key whose count includes it, as a
read_committed consumer receives it; so records that a cache merges into one output count, too. `floor` is the same
producer and consumer without an application between them.
"""

from __future__ import annotations

import argparse
import random
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from bench.application import Application
from bench.machine import header
from bench.output import BenchmarkFailed
from bench.report import percentile, save, table
from bench.systems import EXACTLY_ONCE, SYSTEMS, program
from bench.throughput import chosen
from bench.trial import MEGABYTE, START_SECONDS, Bench
from bench.workloads import PARTITIONS, CountByKey
from penstock.broker import LocalBroker

WORKLOAD = CountByKey()
WARM_UP_SECONDS = 15.0
DRAIN_SECONDS = 60.0
FLOOR = "floor"


@dataclass(slots=True)
class Arrivals:
    """When each record was sent and when its result came."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    sent: defaultdict[bytes, list[float]] = field(default_factory=lambda: defaultdict(list))
    arrived: defaultdict[bytes, list[float]] = field(default_factory=lambda: defaultdict(list))

    def send(self, key: bytes, at: float) -> None:
        with self.lock:
            self.sent[key].append(at)

    def arrive(self, key: bytes, count: int | None, at: float) -> None:
        """An output came: it holds the first `count` records of its key; None for one more than the last."""
        with self.lock:
            known = self.arrived[key]
            known += [at] * (1 if count is None else count - len(known))

    def latencies(self, begin: float, end: float) -> tuple[list[float], int]:
        """Milliseconds of the records sent in a span of time, and how many of them have no result yet."""
        with self.lock:
            found, missing = [], 0
            for key, times in self.sent.items():
                results = self.arrived[key]
                for i, at in enumerate(times):
                    if begin <= at < end:
                        if i < len(results):
                            found.append((results[i] - at) * 1000)
                        else:
                            missing += 1
            return found, missing


class Listener(threading.Thread):
    """Receives outputs as soon as they are visible."""

    def __init__(self, servers: str, topic: str, arrivals: Arrivals, *, counted: bool) -> None:
        super().__init__(name="listener", daemon=True)
        self.first = threading.Event()
        self._ended = threading.Event()
        self._arrivals = arrivals
        self._counted = counted
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "log_level": 0,
                "group.id": f"{topic}-listener",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
            }
        )
        self._consumer.assign([TopicPartition(topic, p, 0) for p in range(PARTITIONS)])

    def run(self) -> None:
        while not self._ended.is_set():
            message = self._consumer.poll(0.1)
            if message is None or message.error() is not None:
                continue
            at, key, value = time.time(), message.key(), message.value()
            assert isinstance(key, bytes)
            assert isinstance(value, bytes)
            self._arrivals.arrive(key, int(WORKLOAD.read(key, value)[1][0]) if self._counted else None, at)
            self.first.set()
        self._consumer.close()

    def stop(self) -> None:
        self._ended.set()
        self.join()


def produce(bench: Bench, topic: str, arrivals: Arrivals, rate: int, *, go_on: Callable[[], bool]) -> None:
    """Send random trades at a steady rate as long as told."""
    producer = bench.topics.producer(**{"linger.ms": 0})
    rng, number, begin = random.Random(3), 0, time.time()
    while go_on():
        wait = begin + number / rate - time.time()
        if wait > 0:
            time.sleep(wait)
        key = f"T{rng.randrange(WORKLOAD.keys)}"
        value = f'{{"ticker":"{key}","price":{rng.randrange(10_000) / 100},"size":{number % 100}}}'
        arrivals.send(key.encode(), time.time())
        producer.produce(topic, value.encode(), key.encode())
        producer.poll(0)
        number += 1
    producer.flush()


def _window(listener: Listener, alive: Callable[[], bool], seconds: float) -> tuple[Callable[[], bool], list[float]]:
    """A condition that holds until `seconds` after the warm-up, and the list that gets the times of its two ends."""
    span: list[float] = []
    begun = time.time()

    def go_on() -> bool:
        now = time.time()
        if not span:
            if not alive():
                raise BenchmarkFailed("the application ended")
            if listener.first.is_set():
                span.extend([now + WARM_UP_SECONDS, now + WARM_UP_SECONDS + seconds])
            elif now - begun > START_SECONDS:
                raise BenchmarkFailed("no output came")
            return True
        return now < span[1]

    return go_on, span


def run(bench: Bench, system: str, rate: int, seconds: float) -> dict[str, Any]:
    """Measure one run of a system, or of none."""
    with bench.place(system, WORKLOAD, EXACTLY_ONCE) as place:
        arrivals = Arrivals()
        floor = system == FLOOR
        listener = Listener(bench.servers, place.input if floor else place.output, arrivals, counted=not floor)
        listener.start()
        try:
            if floor:
                go_on, span = _window(listener, lambda: True, seconds)
                produce(bench, place.input, arrivals, rate, go_on=go_on)
                return {"system": system, **_figures(arrivals, span)}
            with Application(place.run, program(system, place)) as application:
                return {
                    "system": system,
                    **_of_application(bench, application, place.input, listener, arrivals, rate, seconds),
                }
        finally:
            listener.stop()


def _of_application(
    bench: Bench,
    application: Application,
    topic: str,
    listener: Listener,
    arrivals: Arrivals,
    rate: int,
    seconds: float,
) -> dict[str, Any]:
    application.wait_for("RUNNING", START_SECONDS)
    go_on, span = _window(listener, application.alive, seconds)
    before = application.meter.cpu_seconds()
    begun = time.time()
    produce(bench, topic, arrivals, rate, go_on=go_on)
    used = (application.meter.cpu_seconds() - before) / (time.time() - begun)
    figures = _figures(arrivals, span)
    batches = [b for b in application.batches if b["records_in"]]
    figures["batches"] = batches[len(batches) // 4 :]  # the first ones belong to the warm-up
    figures["cpu_share"] = round(used, 2)
    figures["memory_mb"] = round(application.meter.peak.resident / MEGABYTE)
    figures["own_memory_mb"] = round(application.meter.peak.own / MEGABYTE)
    return figures


def _figures(arrivals: Arrivals, span: Sequence[float]) -> dict[str, Any]:
    begin, end = span
    deadline = time.monotonic() + DRAIN_SECONDS
    found, missing = arrivals.latencies(begin, end)
    while missing and time.monotonic() < deadline:
        time.sleep(0.1)
        found, missing = arrivals.latencies(begin, end)
    if missing:
        raise BenchmarkFailed(f"{missing} of {missing + len(found)} records have no result after {DRAIN_SECONDS:g} s")
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return {"records": len(found), **{name: round(percentile(found, share), 1) for name, share in shares.items()}}


def split(batches: Sequence[Mapping[str, Any]]) -> str:
    """Where the time of a batch goes: Spark's phases, and within addBatch the tasks."""
    phases = sorted({name for batch in batches for name in batch["durations_ms"]} - {"triggerExecution"})
    rows = [["whole batch", *_row([b["durations_ms"].get("triggerExecution", 0) for b in batches])]]
    rows += [[f"- {name}", *_row([b["durations_ms"].get(name, 0) for b in batches])] for name in phases]
    rows.append(["task time, summed over tasks", *_row([b["task_time_ms"] for b in batches])])
    rows.append(["records in a batch", *_row([b["records_in"] for b in batches])])
    return table([f"penstock, {len(batches)} batches", "p50", "p95", "max"], rows)


def _row(values: Sequence[float]) -> list[str]:
    return [f"{percentile(values, share):.1f}" for share in (0.5, 0.95, 1.0)]


def text_of(results: Sequence[Mapping[str, Any]], rate: int) -> str:
    by_system: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        by_system.setdefault(result["system"], []).append(result)
    rows = []
    for system, found in by_system.items():
        figures = [statistics.median(r[name] for r in found) for name in ("p50", "p95", "p99", "max")]
        name = "producer to consumer, no application" if system == FLOOR else SYSTEMS[system]
        cpu = statistics.median(r.get("cpu_share", 0) for r in found)
        rows.append([name, *(f"{value:.1f}" for value in figures), sum(r["records"] for r in found), f"{cpu:.2f}"])
    title = f"### Latency in ms, W1 at {rate} records/s, {EXACTLY_ONCE}"
    text = table(["system", "p50", "p95", "p99", "max", "records", "cores used"], rows)
    batches = [b for r in by_system.get("penstock", []) for b in r["batches"]]
    return f"{title}\n\n{text}\n" + (f"\n{split(batches)}\n" if batches else "")


def main() -> None:
    known = [FLOOR, *(s for s in SYSTEMS if s != "pyspark")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", default="floor,penstock,ks", help=f"of {', '.join(known)}")
    parser.add_argument("--rate", type=int, default=200, help="records a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results")
    options = parser.parse_args()
    systems = chosen(options.systems, known, "system")
    machine = header()
    print(f"{machine}\n", flush=True)
    results = []
    with LocalBroker(heap="1g") as broker:
        bench = Bench(broker)
        for number in range(options.runs):
            for system in systems:
                results.append(run(bench, system, options.rate, options.seconds))
                shown = {name: results[-1][name] for name in ("p50", "p95", "p99", "max", "records")}
                print(f"{system} run {number + 1}: {shown}", flush=True)
    text = text_of(results, options.rate)
    print(f"\n{text}")
    if options.save:
        save("latency", machine, text, {"results": results})


if __name__ == "__main__":
    main()
