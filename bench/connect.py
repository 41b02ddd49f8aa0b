"""A file sink beside Kafka Connect standalone: the same records, converter, transform and one task, in turn on one broker.

python -m bench.connect [--systems penstock,kafka-connect] [--runs 3] [--records 500000] [--idle 1,10,50] [--save]

A run starts with a worker that has written the warm-up and is idle. Then the whole input becomes visible at once (see
GatedInput); that is the start. The end is the moment when the file has the last line. Lines are compared with the input.
The other part is what a worker costs whose connectors have nothing to do.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.machine import header
from bench.output import BenchmarkFailed
from bench.processes import MARK, Meter
from bench.report import save, spread, table
from bench.topics import GatedInput, Topics
from bench.workloads import trades
from penstock.broker import LocalBroker
from penstock.broker.ports import free_port
from penstock.jars import fetch, require_java

SYSTEMS = {"penstock": "penstock", "kafka-connect": "Kafka Connect 4.3.1 standalone"}
TICKERS = 50_000
WARM_UP = 300_000
PATIENCE = 180.0
IDLE_SECONDS = 15.0
SETTLE_SECONDS = 3.0


class Worker:
    """A running worker of one of the systems, and the file its first sink writes.

    Args:
        system: One of SYSTEMS.
        servers: The broker.
        topic: What the sinks read.
        sinks: How many of them.
    """

    def __init__(self, system: str, servers: str, topic: str, sinks: int = 1) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
        self.output = self.folder / "out-0.txt"
        self._counted, self._lines = 0, 0
        self.run = self.folder.name
        files = [self._worker_file(servers)] + [self._sink_file(topic, number) for number in range(sinks)]
        self._log = (self.folder / "worker.log").open("wb")
        self.started = time.time()
        self._process = subprocess.Popen(
            [*_command(system), *map(str, files)],
            stdout=self._log, stderr=self._log, env={**os.environ, MARK: self.run}, start_new_session=True,
        )  # fmt: skip
        self.meter = Meter(self.run)
        self.meter.start()

    def _worker_file(self, servers: str) -> Path:
        return self._file(
            "worker",
            {
                "bootstrap.servers": servers,
                "key.converter": "org.apache.kafka.connect.storage.StringConverter",
                "value.converter": "org.apache.kafka.connect.json.JsonConverter",
                "value.converter.schemas.enable": "false",
                "offset.storage.file.filename": str(self.folder / "offsets"),
                "listeners": f"http://localhost:{free_port()}",
                # The fastest way for Kafka Connect to find what is on its class path.
                "plugin.discovery": "service_load",
            },
        )

    def _sink_file(self, topic: str, number: int) -> Path:
        return self._file(
            f"sink-{number}",
            {
                "name": f"{self.run}-{number}",
                "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
                "tasks.max": "1",
                "topics": topic,
                "file": str(self.folder / f"out-{number}.txt"),
                "transforms": "tag",
                "transforms.tag.type": "org.apache.kafka.connect.transforms.InsertField$Value",
                "transforms.tag.static.field": "origin",
                "transforms.tag.static.value": "bench",
                "consumer.override.auto.offset.reset": "earliest",
                # The measured input becomes visible by a commit.
                "consumer.override.isolation.level": "read_committed",
            },
        )

    def _file(self, name: str, settings: dict[str, str]) -> Path:
        path = self.folder / f"{name}.properties"
        path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        return path

    def lines(self, output: Path | None = None) -> int:
        """Lines the first sink has written; reads only what is new."""
        path = output or self.output
        if not path.exists():
            return 0
        with path.open("rb") as file:
            file.seek(self._counted)
            while block := file.read(1 << 22):
                self._lines += block.count(b"\n")
                self._counted += len(block)
        return self._lines

    def wait_for(self, lines: int, patience: float = PATIENCE) -> float:
        """When the file had that many lines."""
        deadline = time.time() + patience
        while self.lines() < lines:
            if time.time() > deadline or self._process.poll() is not None:
                log = (self.folder / "worker.log").read_bytes()[-4000:].decode(errors="replace")
                raise BenchmarkFailed(f"{self.lines():,} of {lines:,} lines after {patience:g} s:\n{log}")
            time.sleep(0.02)
        return time.time()

    def close(self) -> None:
        """End the worker and remove its files."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self.meter.stop()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _command(system: str) -> list[str]:
    if system == "penstock":
        return [sys.executable, "-m", "bench.programs.connect_program"]
    class_path = os.pathsep.join(map(str, fetch("kafka-connect")))
    return [str(require_java()), "-Xmx1g", "-cp", class_path, "org.apache.kafka.connect.cli.ConnectStandalone"]


def throughput(system: str, topics: Topics, servers: str, records: int, run: int) -> dict[str, Any]:
    """One run of the sink."""
    topic = topics.create(f"bench-connect-{system}-{run}-{int(time.time())}")
    gate = GatedInput(topics, topic)
    everything = list(trades(WARM_UP + records, TICKERS))
    gate.write(everything[:WARM_UP], everything[WARM_UP:])
    worker = Worker(system, servers, topic)
    try:
        first = worker.wait_for(1) - worker.started
        worker.wait_for(WARM_UP)
        time.sleep(SETTLE_SECONDS)
        cpu = worker.meter.cpu_seconds()
        begin = gate.open()
        end = worker.wait_for(WARM_UP + records)
        used = worker.meter.cpu_seconds() - cpu
        _check(worker.output, everything)
        if "BENCH_LOG" in os.environ:
            print((worker.folder / "worker.log").read_text(errors="replace"))
        return {
            "system": system,
            "records": records,
            "records_per_second": records / (end - begin),
            "cpu_seconds": used,
            "memory": worker.meter.peak.own,
            "first_record_seconds": first,
        }
    finally:
        worker.close()
        topics.remove_all_of(topic)


def _check(output: Path, records: Sequence[tuple[Any, bytes, int]]) -> None:
    """The file has a line for each record, with what the transform added: sizes and tickers add up."""
    tickers = sum(int(key[1:]) for key, _, _ in records)
    with output.open() as lines:
        found = [line for line in lines if line.endswith("origin=bench}\n")]
    written = sum(int(line.partition("ticker=T")[2].partition(",")[0]) for line in found)
    if len(found) != len(records) or written != tickers:
        raise BenchmarkFailed(f"{len(found):,} good lines of {len(records):,}; the sum of their tickers is {written}")


def idle(system: str, topics: Topics, servers: str, connectors: int) -> dict[str, Any]:
    """What a worker costs whose sinks have written one record each and wait."""
    topic = topics.create(f"bench-connect-idle-{system}-{connectors}-{int(time.time())}")
    producer = topics.producer()
    producer.produce(topic, b'{"ticker":"T1"}')
    producer.flush()
    worker = Worker(system, servers, topic, sinks=connectors)
    try:
        deadline = time.time() + PATIENCE
        outputs = [worker.folder / f"out-{number}.txt" for number in range(connectors)]
        while not all(path.exists() and path.stat().st_size for path in outputs):
            if time.time() > deadline:
                raise BenchmarkFailed(f"{system}: not all of {connectors} sinks wrote their first record")
            time.sleep(0.1)
        ready = time.time() - worker.started
        time.sleep(SETTLE_SECONDS + 62)  # tasks that nobody asks for a minute end
        cpu = worker.meter.cpu_seconds()
        time.sleep(IDLE_SECONDS)
        used = worker.meter.cpu_seconds() - cpu
        usage = worker.meter.look()
        return {
            "system": system,
            "connectors": connectors,
            "ready_seconds": ready,
            "cores": used / IDLE_SECONDS,
            "memory": usage.memory.own,
            "processes": usage.processes,
        }
    finally:
        worker.close()
        topics.remove_all_of(topic)


def sink_table(trials: Sequence[dict[str, Any]]) -> str:
    by_system = {s: [t for t in trials if t["system"] == s] for s in SYSTEMS}
    rates = {s: statistics.median(t["records_per_second"] for t in found) for s, found in by_system.items() if found}
    rows = []
    for system, found in by_system.items():
        if found:
            ratio = f"{rates[system] / rates['kafka-connect']:.2f}" if "kafka-connect" in rates else ""
            rows.append(
                [
                    SYSTEMS[system],
                    spread([t["records_per_second"] for t in found]),
                    ratio,
                    f"{statistics.median(t['cpu_seconds'] for t in found):.1f}",
                    f"{max(t['memory'] for t in found) / 1e6:,.0f}",
                    spread([t["first_record_seconds"] for t in found], 1),
                ]
            )
    titles = ["system", "records/s", "ratio", "CPU s", "peak memory MB", "start to first record, s"]
    return table(titles, rows)


def idle_table(trials: Sequence[dict[str, Any]]) -> str:
    rows = [
        [
            SYSTEMS[t["system"]],
            t["connectors"],
            f"{t['ready_seconds']:.1f}",
            f"{t['cores']:.3f}",
            f"{t['memory'] / 1e6:,.0f}",
            t["processes"],
        ]
        for t in trials
    ]
    return table(["system", "idle connectors", "all ready after s", "cores used", "memory MB", "processes"], rows)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--idle", default="1,10,50", help="numbers of idle connectors; empty for none")
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    machine = header()
    print(f"{machine}\n", flush=True)
    systems = [system for system in options.systems.split(",") if system]
    trials: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    with LocalBroker(heap="1g") as broker:
        topics, servers = Topics(broker.bootstrap_servers), broker.bootstrap_servers
        for run in range(options.runs):
            for system in systems:
                trials.append(throughput(system, topics, servers, options.records, run))
                print(trials[-1], flush=True)
        for number in [int(text) for text in options.idle.split(",") if text]:
            for system in systems:
                waiting.append(idle(system, topics, servers, number))
                print(waiting[-1], flush=True)
    text = "\n\n".join([sink_table(trials)] * bool(trials) + [idle_table(waiting)] * bool(waiting))
    print(f"\n{text}")
    if options.save:
        save("connect", machine, text, {"sink": trials, "idle": waiting})


if __name__ == "__main__":
    main()
