"""Kafka Streams behind a pipe: compiles the Java side once, keeps one JVM for all requests."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from typing_extensions import Self

from penstock.jars import fetch, require_java
from penstock.jars.cache import cache_folder

Request = dict[str, Any]
Answer = dict[str, Any]

SOURCES = Path(__file__).parent / "java"
_JAVA_OPTIONS = ("-Xmx768m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


class Oracle:
    """A running JVM that answers requests; a context manager that ends it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            _command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._process.kill()
        self._input.close()
        self._process.wait()
        self._output.close()

    @staticmethod
    def names() -> list[str]:
        """The names of the topologies on the Java side."""
        done = subprocess.run([*_command(), "--list"], capture_output=True, text=True, check=True)
        return done.stdout.split()

    def ask(self, request: Request) -> Answer:
        """Kafka's answer to one request."""
        return next(self.answers([request]))

    def answers(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Kafka's answers in order; requests are sent ahead, so that the JVM never waits for the reader."""
        waiting = list(requests)
        feeder = threading.Thread(target=self._feed, args=(waiting,), daemon=True)
        feeder.start()
        for _ in waiting:
            line = self._output.readline()
            if not line:
                raise RuntimeError(f"the oracle ended early with exit status {self._process.wait()}")
            yield json.loads(line)
        feeder.join()

    def _feed(self, requests: list[Request]) -> None:
        try:
            for request in requests:
                self._input.write(json.dumps(request) + "\n")
            self._input.flush()
        except (BrokenPipeError, ValueError):
            pass  # the JVM has ended; the reader reports it

    @property
    def _input(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _output(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout


def _command() -> list[str]:
    jars = fetch("kafka-streams-test")
    class_path = os.pathsep.join(map(str, [compiled(jars), *jars]))
    return [str(require_java()), *_JAVA_OPTIONS, "-cp", class_path, "oracle.Oracle"]


def compiled(jars: list[Path]) -> Path:
    """The folder of compiled classes, named after the content of the sources and the jars they are built against."""
    sources = sorted(SOURCES.glob("*.java"))
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    for jar in jars:
        digest.update(jar.name.encode() + b"\0")
    target = cache_folder() / "oracle" / digest.hexdigest()[:16]
    if not target.is_dir():
        _compile(sources, jars, target)
    return target


def _compile(sources: list[Path], jars: list[Path], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    # A folder appears under its final name only when complete: several processes may compile at once.
    work = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        command = [_javac(), "-nowarn", "-cp", os.pathsep.join(map(str, jars)), "-d", str(work), *map(str, sources)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"javac refuses the oracle:\n{done.stdout}{done.stderr}")
        try:
            work.rename(target)
        except OSError:
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _javac() -> str:
    beside = require_java().resolve().with_name("javac")
    found = str(beside) if beside.is_file() else shutil.which("javac")
    if found is None:
        raise RuntimeError("the differential test compiles Java and needs a JDK, but there is only a Java runtime")
    return found
