"""Soak: half of what the machine can do, for long; does memory, files or the time of a batch grow?

python -m bench.soak [--minutes 30] [--rate N] [--guarantee exactly_once_v2] [--save]

The workload is W1. Without --rate a short throughput run finds what the machine can do. At the end the last row of each key
is read, and all records must be in them.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.application import Application
from bench.machine import header
from bench.output import BenchmarkFailed
from bench.processes import folder_size
from bench.report import percentile, save, table
from bench.systems import EXACTLY_ONCE, Assignment, program
from bench.topics import NOW, Topics, send_all
from bench.trial import MEGABYTE, SILENT_SECONDS, START_SECONDS, Bench, Load, run_trial
from bench.workloads import CountByKey, trades
from penstock.broker import LocalBroker
from penstock.runtime.application import local_state

WORKLOAD = CountByKey()
POOL = 100_000
PROBE_RECORDS = 500_000
SHOWN_ROWS = 12
# Old input and output are of no use, and half an hour of them would fill the disk.
TOPIC_CONFIG = {"retention.ms": "300000", "segment.bytes": str(64 << 20)}
BROKER_CONFIG = {"log.retention.check.interval.ms": "30000"}


class Feed(threading.Thread):
    """Sends trades at a steady rate."""

    def __init__(self, topics: Topics, topic: str, rate: int) -> None:
        super().__init__(name="feed", daemon=True)
        self.sent = 0
        self._producer = topics.producer()
        self._topic = topic
        self._rate = rate
        self._ended = threading.Event()
        self._pool = [(key, value, NOW) for key, value, _ in trades(POOL, WORKLOAD.keys)]

    def run(self) -> None:
        begin, pick = time.monotonic(), random.Random(4).randrange
        while not self._ended.wait(0.02):
            due = int((time.monotonic() - begin) * self._rate) - self.sent
            at = pick(POOL)
            send_all(self._producer, self._topic, (self._pool[i % POOL] for i in range(at, at + due)))
            self.sent += due
            self._producer.poll(0)
        self._producer.flush()

    def stop(self) -> None:
        self._ended.set()
        self.join()


@dataclass(frozen=True, slots=True)
class Sample:
    """What was seen at one time; batches are those since the sample before. Memory in MB."""

    minute: float
    sent: int
    behind: int
    batches: int
    batch_p50_ms: float
    batch_p95_ms: float
    batch_max_ms: float
    slots_own: int
    slots_resident: int
    jvm_resident: int
    all_resident: int
    processes: int
    open_files: int
    local_files: int
    local_mb: int
    checkpoint_files: int
    checkpoint_mb: int


class Watch:
    """Takes samples of a running application."""

    def __init__(self, application: Application, assignment: Assignment, feed: Feed) -> None:
        self._application = application
        self._assignment = assignment
        self._feed = feed
        self._begin = time.monotonic()
        self._seen = len(application.batches)

    def sample(self) -> Sample:
        batches = self._application.batches
        new, self._seen = batches[self._seen :], len(batches)
        times = [batch["duration_ms"] for batch in new] or [0.0]
        usage = self._application.meter.look()
        memory = {kind: usage.by_kind.get(kind) for kind in ("slots", "jvm")}
        slots, jvm = memory["slots"], memory["jvm"]
        local = [folder_size(f) for f in local_state(str(self._assignment.folder), self._assignment.run)]
        kept = folder_size(self._assignment.folder / "checkpoints")
        sent = self._feed.sent
        return Sample(
            minute=round((time.monotonic() - self._begin) / 60, 2),
            sent=sent,
            behind=sent - sum(batch["records_in"] for batch in batches),
            batches=len(new),
            batch_p50_ms=percentile(times, 0.5),
            batch_p95_ms=percentile(times, 0.95),
            batch_max_ms=max(times),
            slots_own=round(slots.own / MEGABYTE) if slots else 0,
            slots_resident=round(slots.resident / MEGABYTE) if slots else 0,
            jvm_resident=round(jvm.resident / MEGABYTE) if jvm else 0,
            all_resident=round(usage.memory.resident / MEGABYTE),
            processes=usage.processes,
            open_files=sum(_open_files(process) for process in self._application.meter.processes()),
            local_files=sum(files for files, _ in local),
            local_mb=round(sum(size for _, size in local) / MEGABYTE),
            checkpoint_files=kept[0],
            checkpoint_mb=round(kept[1] / MEGABYTE),
        )


def _open_files(process: int) -> int:
    try:
        return len(list(Path(f"/proc/{process}/fd").iterdir()))
    except OSError:  # it has just ended
        return 0


def soak(bench: Bench, rate: int, minutes: float, every: float, guarantee: str) -> list[Sample]:
    """Run an application under a steady load.

    Raises:
        BenchmarkFailed: It ended, or its result is wrong.
    """
    with (
        bench.place("penstock", WORKLOAD, guarantee, TOPIC_CONFIG) as place,
        Application(place.run, program("penstock", place)) as application,
    ):
        try:
            application.wait_for("RUNNING", START_SECONDS)
            feed = Feed(bench.topics, place.input, rate)
            feed.start()
            watch = Watch(application, place, feed)
            samples = _sample_for(minutes, every, watch.sample, application.alive)
            feed.stop()
            output = bench.output(place, WORKLOAD)
            output.wait_for(feed.sent, alive=application.alive, timeout=SILENT_SECONDS)
            output.close()
        except BenchmarkFailed as failure:
            raise BenchmarkFailed(f"{failure}\n{application.said()}") from None
        return samples


def _sample_for(minutes: float, every: float, sample: Callable[[], Sample], alive: Callable[[], bool]) -> list[Sample]:
    samples: list[Sample] = []
    end = time.monotonic() + minutes * 60
    while time.monotonic() < end:
        time.sleep(min(every, max(0.0, end - time.monotonic())))
        if not alive():
            raise BenchmarkFailed("the application ended")
        samples.append(sample())
        print(_line(samples[-1]), flush=True)
    return samples


def _line(sample: Sample) -> str:
    return (
        f"minute {sample.minute:5.1f}: {sample.sent:,} sent, {sample.behind:,} behind, batch p50 {sample.batch_p50_ms:g} "
        f"p95 {sample.batch_p95_ms:g} ms, slots {sample.slots_own} MB, all {sample.all_resident} MB, "
        f"{sample.local_files + sample.checkpoint_files} files, {sample.local_mb + sample.checkpoint_mb} MB on disk"
    )


def per_hour(samples: Sequence[Sample], name: str) -> float:
    """How much a figure grows in an hour, by a straight line through the second half of the samples."""
    half = samples[len(samples) // 2 :]
    if len(half) < 2:
        return 0.0
    slope = statistics.linear_regression([s.minute for s in half], [float(getattr(s, name)) for s in half]).slope
    return slope * 60


def text_of(samples: Sequence[Sample], rate: int, guarantee: str) -> str:
    step = max(1, len(samples) // SHOWN_ROWS)
    shown = [*samples[step - 1 :: step]]
    rows = [
        [
            f"{s.minute:.0f}" if step > 1 else f"{s.minute:.1f}",
            f"{s.behind:,}",
            f"{s.batch_p50_ms:.0f} / {s.batch_p95_ms:.0f} / {s.batch_max_ms:.0f}",
            f"{s.slots_resident:,} / {s.slots_own:,}",
            f"{s.jvm_resident:,}",
            f"{s.all_resident:,}",
            s.processes,
            s.open_files,
            f"{s.local_files}, {s.local_mb} MB",
            f"{s.checkpoint_files}, {s.checkpoint_mb} MB",
        ]
        for s in shown
    ]
    titles = ["minute", "records behind", "batch ms p50 / p95 / max", "slots MB resident / own", "JVM MB", "all MB"]
    text = table([*titles, "processes", "open files", "local state", "checkpoint"], rows)
    trend = ", ".join(
        f"{label} {per_hour(samples, name):+,.0f} {unit}/h"
        for label, name, unit in (
            ("slots' own memory", "slots_own", "MB"),
            ("JVM", "jvm_resident", "MB"),
            ("all memory", "all_resident", "MB"),
            ("files of the checkpoint", "checkpoint_files", ""),
            ("median batch", "batch_p50_ms", "ms"),
        )
    )
    sent = samples[-1].sent
    head = f"### Soak, W1, {guarantee}: {rate:,} records/s, {sent:,} records, result verified"
    return f"{head}\n\n{text}\n\nIn the second half: {trend}.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rate", type=int, help="records a second; by default half of what a short run reaches")
    parser.add_argument("--every", type=float, default=15.0, help="seconds between two samples")
    parser.add_argument("--guarantee", default=EXACTLY_ONCE, choices=[EXACTLY_ONCE, "at_least_once"])
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results")
    options = parser.parse_args()
    machine = header()
    print(f"{machine}\n", flush=True)
    with LocalBroker(heap="1g", config=BROKER_CONFIG) as broker:
        bench = Bench(broker)
        rate = options.rate
        if rate is None:
            probe = run_trial(bench, "penstock", WORKLOAD, Load.of(PROBE_RECORDS), guarantee=options.guarantee)
            rate = max(1, probe["records_per_second"] // 2)
            print(f"{probe['records_per_second']:,} records/s at most: the load is {rate:,}", flush=True)
        try:
            samples = soak(bench, rate, options.minutes, options.every, options.guarantee)
        except BenchmarkFailed as failure:
            sys.exit(f"FAILED: {failure}")
    text = text_of(samples, rate, options.guarantee)
    print(f"\n{text}")
    if options.save:
        save("soak", machine, text, {"rate": rate, "samples": [asdict(sample) for sample in samples]})


if __name__ == "__main__":
    main()
