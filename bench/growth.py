"""Growth: throughput, memory and files with more and more keys, and how long a restart takes with the most.

python -m bench.growth [--keys 10000,100000,1000000,5000000] [--records 1000000] [--systems penstock,...] [--save]

The workload is W1. First each key comes once (the load), then the records that are measured come with random keys. After
the largest table the application is closed and started again twice: with its local state, and with that removed, so that it
is rebuilt from the checkpoint (Kafka Streams: from the changelog).

With few keys a cache merges most updates, with many keys it merges none, so a table of more keys also means more output. With
caches off each record is one update for any number of keys: that shows what the size of the state alone costs.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from bench.application import Application
from bench.machine import header
from bench.output import POLL_SECONDS, BenchmarkFailed, Output
from bench.processes import Memory, folder_size
from bench.report import save, table
from bench.systems import EXACTLY_ONCE, SYSTEMS, Assignment, program
from bench.throughput import chosen
from bench.topics import send_all
from bench.trial import MEGABYTE, SILENT_SECONDS, START_SECONDS, Bench, Load, measure
from bench.workloads import GrownTable, trades
from penstock.broker import LocalBroker
from penstock.runtime.application import local_state

AFTER_RESTART = 1_000
Figures = dict[str, Any]


def run(bench: Bench, system: str, keys: int, measured: int, *, restart: bool) -> Figures:
    """Load a table, measure with it, and start again with it."""
    workload, load = GrownTable(keys=keys), Load(keys, measured)
    with bench.place(system, workload, EXACTLY_ONCE) as place:
        assignment = replace(place, warm_up=load.warm_up, updates=load.total)
        gate = bench.gate(assignment, workload, load)
        output = bench.output(assignment, workload)
        started = program(system, assignment)
        with Application(assignment.run, started) as application:
            figures = measure(bench, started, application, assignment, gate, output)
            now = application.meter.look()
        if len(output.table) != keys:
            raise BenchmarkFailed(f"the result has {len(output.table):,} rows instead of {keys:,}")
        figures |= {"system": system, "keys": keys, "records": measured}
        figures["memory"] = {kind: _megabytes(memory) for kind, memory in now.by_kind.items()}
        figures["files"] = {name: folder_size(folder) for name, folder in _folders(system, assignment).items()}
        if restart:
            figures["restarts"] = [
                _restart(bench, system, assignment, output, removed=removed) for removed in (False, True)
            ]
        output.close()
    return figures


def _megabytes(memory: Memory) -> tuple[int, int]:
    return round(memory.resident / MEGABYTE), round(memory.own / MEGABYTE)


def _folders(system: str, assignment: Assignment) -> Mapping[str, Path]:
    """Where an application keeps its files: local state, and what survives the loss of that."""
    if system.startswith("ks"):
        return {"local": assignment.folder}
    local = local_state(str(assignment.folder), assignment.run)
    return {"local": local[0] if local else Path("none"), "checkpoint": assignment.folder / "checkpoints"}


def _restart(bench: Bench, system: str, assignment: Assignment, output: Output, *, removed: bool) -> Figures:
    """Start an application that was closed, with some new records waiting for it."""
    folders = _folders(system, assignment)
    local = folder_size(folders["local"])[1]
    if removed:
        shutil.rmtree(folders["local"])
    producer = bench.topics.producer()
    keys = len(output.table)
    send_all(producer, assignment.input, islice(trades(AFTER_RESTART, keys), AFTER_RESTART))
    producer.flush()
    before = bench.topics.visible(assignment.output)
    expected = output.total + AFTER_RESTART
    with Application(assignment.run, program(system, assignment)) as application:
        try:
            running = application.wait_for("RUNNING", START_SECONDS)
            first = _first_output(bench, assignment.output, before, application)
            last = output.wait_for(expected, alive=application.alive, timeout=SILENT_SECONDS)
        except BenchmarkFailed as failure:
            raise BenchmarkFailed(f"after a restart: {failure}\n{application.said()}") from None
        began = application.started
    # Kafka Streams restores before it is RUNNING, penstock in its first batch: Spark's start does not count.
    seconds = first - (began if system.startswith("ks") else running)
    return {
        "local_state": "removed" if removed else "kept",
        "running_seconds": round(running - began, 2),
        "first_output_seconds": round(first - began, 2),
        "from_ready_seconds": round(seconds, 2),
        "all_output_seconds": round(last - began, 2),
        "state_mb": round(local / MEGABYTE),
        "restored_mb_per_second": round(local / MEGABYTE / seconds, 1) if removed else None,
    }


def _first_output(bench: Bench, topic: str, before: int, application: Application) -> float:
    deadline = time.monotonic() + START_SECONDS
    while bench.topics.visible(topic) == before:
        if time.monotonic() > deadline or not application.alive():
            raise BenchmarkFailed("no output came")
        time.sleep(POLL_SECONDS)
    return time.time()


def text_of(results: Sequence[Figures]) -> str:
    rows = [
        [
            SYSTEMS[r["system"]],
            f"{r['keys']:,}",
            f"{r['keys'] / r['warm_up_seconds']:,.0f}",
            f"{r['records'] / r['seconds']:,.0f}",
            _pair(r["memory"].get("slots")),
            _pair(r["memory"].get("jvm")),
            f"{r['memory_mb']:,} / {r['own_memory_mb']:,}",
            *(_files(r["files"].get(name)) for name in ("local", "checkpoint")),
        ]
        for r in results
    ]
    titles = ["system", "keys", "load, keys/s", "records/s", "slots MB", "JVM MB", "peak of all MB"]
    text = table([*titles, "local state", "checkpoint"], rows)
    restarts = [(r, again) for r in results for again in r.get("restarts", [])]
    shown = [
        [
            SYSTEMS[r["system"]],
            f"{r['keys']:,}",
            again["local_state"],
            f"{again['state_mb']:,}",
            again["first_output_seconds"],
            again["from_ready_seconds"],
            again["restored_mb_per_second"] or "",
        ]
        for r, again in restarts
    ]
    names = ["system", "keys", "local state", "its MB", "s to first output", "s of that without Spark's start", "MB/s"]
    heading = f"### Growth of the table, W1, {EXACTLY_ONCE}\n\nMemory as resident / own. Files as number, MB."
    return f"{heading}\n\n{text}\n" + (f"\n{table(names, shown)}\n" if shown else "")


def _pair(figures: tuple[int, int] | None) -> str:
    return "" if figures is None else f"{figures[0]:,} / {figures[1]:,}"


def _files(found: tuple[int, int] | None) -> str:
    return "" if found is None else f"{found[0]:,}, {found[1] / MEGABYTE:,.0f} MB"


def main() -> None:
    known = [s for s in SYSTEMS if s != "pyspark"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", default="10000,100000,1000000,5000000")
    parser.add_argument("--records", type=int, default=1_000_000, help="measured records after the load")
    parser.add_argument("--systems", default="penstock,penstock-every-update", help=f"of {', '.join(known)}")
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results")
    options = parser.parse_args()
    systems = chosen(options.systems, known, "system")
    sizes = sorted(int(text) for text in options.keys.split(","))
    machine = header()
    print(f"{machine}\n", flush=True)
    results: list[Figures] = []
    with LocalBroker(heap="1g") as broker:
        bench = Bench(broker)
        for keys in sizes:
            for system in systems:
                results.append(run(bench, system, keys, options.records, restart=keys == sizes[-1]))
                rate = options.records / results[-1]["seconds"]
                print(f"{system} with {keys:,} keys: {rate:,.0f} records/s", flush=True)
    text = text_of(results)
    print(f"\n{text}")
    if options.save:
        save("growth", machine, text, {"results": results})


if __name__ == "__main__":
    main()
