"""One measured run of one system: from an idle, warmed-up application to its last output."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from bench.application import Application
from bench.output import BenchmarkFailed, Output
from bench.processes import machine_cpu, process_cpu
from bench.systems import EXACTLY_ONCE, Assignment, Program, achieved, program
from bench.topics import GatedInput, Topics
from bench.workloads import Table, Workload
from penstock.broker import LocalBroker

START_SECONDS = 300.0
SILENT_SECONDS = 180.0
MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Load:
    """How much input a trial has.

    Attributes:
        warm_up: Records that are processed before the measurement.
        measured: Records that are measured.
    """

    warm_up: int
    measured: int

    @classmethod
    def of(cls, measured: int) -> Load:
        """With a tenth as much before it, so that just-in-time compilers have seen the topology."""
        return cls(max(500, measured // 10), measured)

    @property
    def total(self) -> int:
        return self.warm_up + self.measured


class Bench:
    """The broker that all trials share, and what they do there."""

    def __init__(self, broker: LocalBroker) -> None:
        self.broker = broker
        self.servers = broker.bootstrap_servers
        self.topics = Topics(self.servers)
        self._expected: dict[tuple[str, int], Table] = {}
        self._runs = 0

    def expected(self, workload: Workload, records: int) -> Table:
        """The table a workload ends in; the same for all systems, so it is made once."""
        key = (workload.name, records)
        if key not in self._expected:
            self._expected.clear()
            self._expected[key] = workload.result(workload.records(records))
        return self._expected[key]

    @contextmanager
    def place(
        self, system: str, workload: Workload, guarantee: str, topic_config: Mapping[str, str] | None = None
    ) -> Iterator[Assignment]:
        """Topics and a folder for one run, removed after it."""
        self._runs += 1
        run = f"bench-{system}-{workload.name}-{os.getpid()}-{self._runs}-x"
        folder = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
        try:
            yield Assignment(
                run=run,
                workload=workload.name,
                input=self.topics.create(f"{run}-in", topic_config),
                output=self.topics.create(f"{run}-out", topic_config),
                bootstrap_servers=self.servers,
                folder=folder / "state",
                guarantee=guarantee,
            )
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            self.topics.remove_all_of(run)

    def output(self, assignment: Assignment, workload: Workload) -> Output:
        return Output(self.topics, self.servers, assignment.output, workload)

    def gate(self, assignment: Assignment, workload: Workload, load: Load) -> GatedInput:
        """Fill the input topic: the warm-up's records to be seen, the measured ones behind a gate."""
        gate = GatedInput(self.topics, assignment.input)
        records = workload.records(load.total)
        gate.write(islice(records, load.warm_up), records)
        return gate


def run_trial(
    bench: Bench,
    system: str,
    workload: Workload,
    load: Load,
    *,
    guarantee: str = EXACTLY_ONCE,
    profile: Path | None = None,
) -> dict[str, Any]:
    """Measure one run.

    Raises:
        BenchmarkFailed: The application failed, or its result is wrong.
    """
    with bench.place(system, workload, guarantee) as place:
        assignment = replace(place, warm_up=load.warm_up * workload.updates, updates=load.total * workload.updates)
        gate = bench.gate(assignment, workload, load)
        output = bench.output(assignment, workload)
        started = program(system, assignment, profile)
        with Application(assignment.run, started) as application:
            figures = measure(bench, started, application, assignment, gate, output)
        output.check(bench.expected(workload, load.total))
        output.close()
    return {
        "system": system,
        "workload": workload.name,
        "guarantee": achieved(system, guarantee),
        **figures,
        "records": load.measured,
        "records_per_second": round(load.measured / figures["seconds"]),
        "warm_up_records": load.warm_up,
    }


def measure(
    bench: Bench, started: Program, application: Application, assignment: Assignment, gate: GatedInput, output: Output
) -> dict[str, Any]:
    """Let a started application warm up, open its input and wait for the end of its output."""
    try:
        running = application.wait_for("RUNNING", START_SECONDS)
        if started.closes:  # its output may wait for its end
            warm = application.wait_for("warm", START_SECONDS)
        else:
            warm = output.wait_for(assignment.warm_up, alive=application.alive, timeout=SILENT_SECONDS)
        before = _Spent.until_now(bench, application)
        opened = gate.open()
        end = output.wait_for(assignment.updates, alive=application.alive, timeout=SILENT_SECONDS)
        spent = _Spent.until_now(bench, application).since(before)
    except BenchmarkFailed as failure:
        raise BenchmarkFailed(f"{failure}\n{application.said()}") from None
    peak = application.meter.peak
    return {
        "seconds": round(end - opened, 3),
        "outputs": output.records,
        "start_up_seconds": round(running - application.started, 2),
        "warm_up_seconds": round(warm - running, 2),
        "batches": [[b["records_in"], b.get("duration_ms")] for b in application.batches if b["records_in"]],
        "memory_mb": round(peak.resident / MEGABYTE),
        "own_memory_mb": round(peak.own / MEGABYTE),
        **spent.as_dict(),
    }


@dataclass(frozen=True, slots=True)
class _Spent:
    """Processor seconds: of the application, of the broker, of the whole machine, and those its host took away."""

    application: float
    broker: float
    machine: float
    stolen: float

    @classmethod
    def until_now(cls, bench: Bench, application: Application) -> _Spent:
        process = bench.broker.pid
        return cls(application.meter.cpu_seconds(), 0.0 if process is None else process_cpu(process), *machine_cpu())

    def since(self, before: _Spent) -> _Spent:
        return _Spent(
            self.application - before.application,
            self.broker - before.broker,
            self.machine - before.machine,
            self.stolen - before.stolen,
        )

    def as_dict(self) -> Mapping[str, float]:
        return {
            "cpu_seconds": round(self.application, 1),
            "broker_cpu_seconds": round(self.broker, 1),
            "machine_cpu_seconds": round(self.machine, 1),
            "stolen_cpu_seconds": round(self.stolen, 1),
        }
