"""How each measured system is started: the same topology, guarantee and caching, each with its own defaults for the rest."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.output import BenchmarkFailed
from penstock.jars import fetch, require_java
from penstock.jars.cache import cache_folder, exclusive

EXACTLY_ONCE = "exactly_once_v2"
JAVA_SOURCE = Path(__file__).parent / "programs" / "StreamsProgram.java"
PROFILER = Path(__file__).parent / "profiler"

SYSTEMS: Mapping[str, str] = {
    "penstock": "penstock, aggregates as expressions",
    "penstock-functions": "penstock, aggregates as Python functions",
    "penstock-every-update": "penstock, caches off",
    "ks": "Kafka Streams 4.3.1",
    "ks-1s": "Kafka Streams 4.3.1, commit.interval.ms=1000",
    "ks-every-update": "Kafka Streams 4.3.1, caches off",
    "pyspark": "PySpark transformWithStateInPandas, at least once",
}

# Kafka's own setting: nothing is merged, so each record costs a read, a write and an output, however many keys there are.
_EVERY_UPDATE = {"statestore.cache.max.bytes": "0"}
_VARIANTS: Mapping[str, Mapping[str, str]] = {
    "penstock-every-update": _EVERY_UPDATE,
    "ks-1s": {"commit.interval.ms": "1000"},
    "ks-every-update": _EVERY_UPDATE,
}


@dataclass(frozen=True, slots=True)
class Assignment:
    """What an application has to do, and where.

    Attributes:
        run: Names the application and everything it makes.
        warm_up: Updates of the result that belong to the warm-up.
        updates: Updates of the result in all; 0 if the application runs until it is stopped.
        settings: Further settings, by Kafka Streams' keys.
    """

    run: str
    workload: str
    input: str
    output: str
    bootstrap_servers: str
    folder: Path
    guarantee: str = EXACTLY_ONCE
    warm_up: int = 0
    updates: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def topology(self) -> str:
        """w1, w2 or w3: workloads of different sizes share one."""
        return self.workload[:2]


@dataclass(frozen=True, slots=True)
class Program:
    """A command to run.

    Attributes:
        closes: It ends by itself when the input is processed, and its output may wait for that.
    """

    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    closes: bool = False


def achieved(system: str, guarantee: str) -> str:
    """The guarantee a system gives when it is asked for one: Spark's Kafka sink knows no transactions."""
    return "at_least_once" if system == "pyspark" else guarantee


def program(system: str, assignment: Assignment, profile: Path | None = None) -> Program:
    """The program of a system.

    Args:
        system: One of SYSTEMS.
        assignment: What to do.
        profile: Folder for profiles of penstock's slots; None measures without.
    """
    assignment = replace(assignment, settings={**assignment.settings, **_VARIANTS.get(system, {})})
    if system.startswith("penstock"):
        return _penstock(assignment, "functions" if system.endswith("functions") else "expressions", profile)
    return _kafka_streams(assignment) if system.startswith("ks") else _pyspark(assignment)


def _common(assignment: Assignment) -> dict[str, str]:
    return {
        "application.id": assignment.run,
        "bootstrap.servers": assignment.bootstrap_servers,
        "processing.guarantee": assignment.guarantee,
        "state.dir": str(assignment.folder),
        # Also at least once: the measured input becomes visible by a commit.
        "consumer.isolation.level": "read_committed",
        **assignment.settings,
    }


def _penstock(assignment: Assignment, style: str, profile: Path | None) -> Program:
    settings = {**_common(assignment), "penstock.log.batches": "json"}
    command = [sys.executable, "-m", "bench.programs.penstock_program", assignment.topology, style]
    environment = {} if profile is None else {"PENSTOCK_PROFILE": str(profile), "PYTHONPATH": _with_profiler()}
    return Program([*command, assignment.input, assignment.output, json.dumps(settings)], environment)


def _with_profiler() -> str:
    return os.pathsep.join(filter(None, [str(PROFILER), os.environ.get("PYTHONPATH", "")]))


def _kafka_streams(assignment: Assignment) -> Program:
    closes = assignment.guarantee != EXACTLY_ONCE and assignment.updates > 0
    settings = {**_common(assignment), "num.stream.threads": str(os.cpu_count())}
    if assignment.guarantee == EXACTLY_ONCE:
        del settings["consumer.isolation.level"]  # Kafka Streams sets it, and warns of whoever does
    assignment.folder.mkdir(parents=True, exist_ok=True)
    file = assignment.folder / "streams.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    jars = fetch("kafka-streams-test")
    class_path = os.pathsep.join(map(str, [_compiled(jars), *jars]))
    return Program(
        [
            *(str(require_java()), "-Xmx2g", "-cp", class_path, "StreamsProgram"),
            *(assignment.topology, assignment.input, assignment.output, str(file)),
            *(str(assignment.warm_up), str(assignment.updates if closes else 0)),
        ],
        closes=closes,
    )


def _compiled(jars: list[Path]) -> Path:
    """The folder with the compiled Java program, compiled on first use."""
    source = JAVA_SOURCE.read_bytes()
    folder = cache_folder() / "bench" / hashlib.sha256(source).hexdigest()[:12]
    with exclusive(folder.with_suffix(".lock")):
        if not (folder / "StreamsProgram.class").is_file():
            compiler = require_java().resolve().with_name("javac")
            command = [str(compiler), "-d", str(folder), "-cp", os.pathsep.join(map(str, jars)), str(JAVA_SOURCE)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=False)
            except FileNotFoundError:
                raise BenchmarkFailed(f"{compiler} does not exist: install a JDK, not only a Java runtime") from None
            if done.returncode != 0:
                raise BenchmarkFailed(f"{JAVA_SOURCE} does not compile:\n{done.stderr}")
    return folder


def pyspark_has_state() -> bool:
    """Whether this Python has what PySpark's stateful functions need beside PySpark."""
    return importlib.util.find_spec("google") is not None and importlib.util.find_spec("google.protobuf") is not None


def _pyspark(assignment: Assignment) -> Program:
    if not pyspark_has_state():
        raise BenchmarkFailed("transformWithStateInPandas needs protobuf: install it, or leave the system pyspark out")
    jars = ",".join(map(str, fetch("spark-kafka")))
    command = [sys.executable, "-m", "bench.programs.pyspark_program", assignment.topology]
    place = [assignment.bootstrap_servers, str(assignment.folder), jars]
    return Program([*command, assignment.input, assignment.output, *place])
