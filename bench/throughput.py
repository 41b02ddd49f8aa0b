"""Throughput, side by side: the same topology, input, guarantee and caching on each system, in turn on one broker.

python -m bench.throughput [--workloads w1,w2,w3] [--systems penstock,ks,pyspark] [--runs 3] [--records N] [--save]

A run starts with an application that has processed the warm-up and is idle. Then the whole input becomes visible at once
(see GatedInput); that is the start. The end is the moment when a read_committed reader can see the last row of the result.
Every run's result is compared with the one the input has to give. Systems take turns, so that a noisy machine hits all.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.machine import header
from bench.output import BenchmarkFailed
from bench.report import save, spread, table
from bench.systems import EXACTLY_ONCE, SYSTEMS, pyspark_has_state
from bench.trial import Bench, Load, run_trial
from bench.workloads import WORKLOADS, Workload
from penstock.broker import LocalBroker

# About 1,000 records a second: with the others' input a run would take a quarter of an hour.
PYSPARK_SHARE = 50
PYSPARK_LARGEST = 20_000

Trial = dict[str, Any]


def load_of(system: str, workload: Workload, records: int | None) -> Load:
    measured = records or workload.size
    if system == "pyspark":
        measured = max(500, min(PYSPARK_LARGEST, measured // PYSPARK_SHARE))
    return Load.of(measured)


def summary(workload: Workload, trials: Sequence[Trial]) -> str:
    """The table of a workload: a row for each system, with ratios to Kafka Streams if that was measured."""
    by_system = {s: [t for t in trials if t["system"] == s] for s in SYSTEMS}
    rate = {s: statistics.median(t["records_per_second"] for t in ts) for s, ts in by_system.items() if ts}
    rows = []
    for system, found in by_system.items():
        if not found:
            continue

        def middle(name: str, found: Sequence[Trial] = found) -> float:
            return float(statistics.median(t[name] for t in found))

        rows.append(
            [
                SYSTEMS[system],
                f"{found[0]['records']:,}",
                spread([t["records_per_second"] for t in found]),
                f"{rate[system] / rate['ks']:.2f}" if "ks" in rate else "",
                f"{middle('outputs'):,.0f}",
                f"{middle('cpu_seconds'):.1f} + {middle('broker_cpu_seconds'):.1f}",
                f"{middle('memory_mb'):,.0f} / {middle('own_memory_mb'):,.0f}",
                f"{middle('start_up_seconds'):.1f} + {middle('warm_up_seconds'):.1f}",
                _others(found),
            ]
        )
    titles = ["system", "records", "records/s", "vs. KS", "outputs", "CPU s app + broker", "MB resident / own"]
    text = table([*titles, "start-up + warm-up s", "CPU s of others"], rows)
    return f"### {workload.name}: {workload.title}, {trials[0]['guarantee']}\n\n{text}\n{_verdict(rate)}"


def _verdict(rate: Mapping[str, float]) -> str:
    """The better of penstock's two ways to write the topology against each other system."""
    own = [rate[s] for s in rate if s.startswith("penstock")]
    others = [s for s in rate if not s.startswith("penstock")]
    if not own or not others:
        return ""
    ratios = ", ".join(f"{max(own) / rate[s]:.2f} times {SYSTEMS[s]}" for s in others)
    return f"\nThe better of penstock's two: {ratios}.\n"


def _others(trials: Sequence[Trial]) -> str:
    """Processor time that neither application nor broker used, at worst: much of it says that a run was disturbed."""
    worst = max(t["machine_cpu_seconds"] - t["cpu_seconds"] - t["broker_cpu_seconds"] for t in trials)
    stolen = max(t["stolen_cpu_seconds"] for t in trials)
    return f"{max(0.0, worst):.1f}" + (f", {stolen:.1f} stolen" if stolen >= 0.1 else "")


def measure(bench: Bench, workload: Workload, options: argparse.Namespace) -> tuple[list[Trial], int]:
    """All runs of a workload, and how many failed."""
    trials, failures = [], 0
    for number in range(options.runs):
        for system in options.systems:
            if system == "pyspark" and workload.size > 1_000_000:
                continue  # it has its own size, which w1 has measured already
            load = load_of(system, workload, options.records)
            try:
                trial = run_trial(bench, system, workload, load, guarantee=options.guarantee, profile=options.profile)
            except BenchmarkFailed as failure:
                failures += 1
                print(f"{workload.name} {system} run {number + 1} FAILED: {failure}", flush=True)
                continue
            trials.append(trial)
            print(
                f"{workload.name} {system} run {number + 1}: {trial['records_per_second']:,} records/s "
                f"({trial['records']:,} in {trial['seconds']:.2f} s), {trial['outputs']:,} outputs, verified",
                flush=True,
            )
    return trials, failures


def chosen(text: str, known: Sequence[str], what: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in known:
            sys.exit(f"unknown {what} '{name}'; there are {', '.join(known)}")
    return names


def _default_systems() -> list[str]:
    systems = [system for system in SYSTEMS if not system.endswith("every-update")]
    if pyspark_has_state():
        return systems
    print("pyspark is left out: transformWithStateInPandas needs protobuf, which is not installed")
    return [system for system in systems if system != "pyspark"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default=",".join(WORKLOADS), help=f"of {', '.join(WORKLOADS)}")
    parser.add_argument("--systems", help=f"of {', '.join(SYSTEMS)}; by default all with caches")
    parser.add_argument("--guarantee", default=EXACTLY_ONCE, choices=[EXACTLY_ONCE, "at_least_once"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--records", type=int, help="measured records, instead of each workload's own number")
    parser.add_argument(
        "--profile", type=Path, help="folder for profiles of penstock's slots; figures are then worthless"
    )
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results")
    options = parser.parse_args()
    options.workloads = chosen(options.workloads, list(WORKLOADS), "workload")
    options.systems = chosen(options.systems, list(SYSTEMS), "system") if options.systems else _default_systems()
    return options


def main() -> None:
    options = arguments()
    machine = header()
    print(f"{machine}\n", flush=True)
    texts, trials, failures = [], [], 0
    with LocalBroker(heap="1g") as broker:
        bench = Bench(broker)
        for name in options.workloads:
            measured, failed = measure(bench, WORKLOADS[name], options)
            trials += measured
            failures += failed
            if measured:
                texts.append(summary(WORKLOADS[name], measured))
                print(f"\n{texts[-1]}", flush=True)
    if options.save:
        save(f"throughput-{options.guarantee}", machine, "\n".join(texts), {"trials": trials})
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
