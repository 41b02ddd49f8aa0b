"""A program as a user writes it, in a folder of its own, started as a process: the same one for every master."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from penstock.broker import LocalBroker
from penstock.jars import require_java
from tests.chaos.processes import SPARK_HOME, below, kill, no_executor_folders_left
from tests.spark.application import Kafka, until

# The topology's functions are in a module beside the program: they reach the executors by their names.
MODULE = '''
import penstock
from penstock import StreamsBuilder


def marked(line):
    """The line, and where the code that handled it comes from."""
    return f"{line} {__file__} {penstock.__file__}"


def topology(lines, echo, counts):
    builder = StreamsBuilder()
    stream = builder.stream(lines)
    stream.map_values(marked).to(echo)
    words = stream.flat_map_values(str.split).group_by(lambda word: word)
    words.count(name="counts").to_stream().to(counts, value_serde="long")
    return builder.build()
'''

PROGRAM = """
import json
import sys

from penstock import KafkaStreams
from wording import topology

if __name__ == "__main__":
    topics, settings = json.loads(sys.argv[1])
    KafkaStreams(topology(*topics), settings).run()
"""

_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")


class Program:
    """The program, running.

    Args:
        folder: For its files, logs and state.
        kafka: The broker.
        topics: What it reads, and the two topics it writes.
        settings: Of the application.
    """

    def __init__(self, folder: Path, kafka: Kafka, topics: list[str], settings: dict[str, Any]) -> None:
        source = folder / "source"
        source.mkdir()
        (source / "wording.py").write_text(MODULE)
        (source / "program.py").write_text(PROGRAM)
        (folder / "elsewhere").mkdir(exist_ok=True)
        self.kafka = kafka
        self.log = folder / "program.log"
        config = {
            **kafka.settings,
            "application.id": folder.name,
            "state.dir": str(folder / "local"),
            "penstock.checkpoint": str(folder / "checkpoint"),
            "commit.interval.ms": 50,
            "spark.driver.memory": "1g",
            **settings,
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(source / "program.py"), json.dumps([topics, config])],
                cwd=folder / "elsewhere",
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._seen: set[int] = set()

    def processes(self, mark: str) -> list[int]:
        """Those below the program whose command says so."""
        found = below(self.process.pid)
        self._seen |= set(found)
        return [pid for pid, command in found.items() if mark in command]

    @staticmethod
    def below(pid: int) -> set[int]:
        """All processes below one of its own."""
        return set(below(pid))

    def until(self, reached: Callable[[], bool]) -> None:
        """Wait for something, or for the program's end."""

        def look() -> bool:
            assert self.process.poll() is None, self.log.read_text()[-4000:]
            return reached()

        try:
            until(look)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log.read_text()[-4000:]}") from None

    def stop(self) -> int:
        """End it as a user does; its exit code. Nothing that it started may stay."""
        self.processes("")
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(300)
        until(lambda: not any(map(is_running, self._seen)))
        return code

    def kill(self) -> None:
        """Whatever went wrong, nothing stays."""
        for pid in (*below(self.process.pid), *self._seen, self.process.pid):
            if is_running(pid):
                kill(pid)
        self.process.wait()


def is_running(pid: int) -> bool:
    """Whether a process does anything yet; one that nobody has waited for does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@contextmanager
def program(folder: Path, broker: LocalBroker, topics: list[str], **settings: Any) -> Iterator[Program]:
    """Run it until the block ends."""
    with no_executor_folders_left(settings["spark.master"]):
        running = Program(folder, Kafka(broker.bootstrap_servers), topics, settings)
        try:
            yield running
        finally:
            running.kill()


@contextmanager
def standalone_cluster(folder: Path, *, workers: int) -> Iterator[str]:
    """A master and workers of one core, as Spark's own scripts start them; the master's URL.

    Each worker stands for a node: it has a working folder `work-0`, `work-1`... and a temporary directory of its own, so that
    its slots have processes of their own.
    """
    common = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    with ExitStack() as stack:
        said = stack.enter_context(_daemon("org.apache.spark.deploy.master.Master", common, folder / "master.log"))
        until(lambda: _MASTER.search(said.read_text()) is not None)
        found = _MASTER.search(said.read_text())
        assert found is not None
        started = []
        for number in range(workers):
            node = ["--cores", "1", "--memory", "2g", "--work-dir", str(folder / f"work-{number}"), found[1]]
            # Not in the test's folder: the names of sockets in it may not be long.
            temporary = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            log = folder / f"worker-{number}.log"
            worker = _daemon("org.apache.spark.deploy.worker.Worker", [*common, *node], log, TMPDIR=temporary)
            started.append(stack.enter_context(worker))
        until(lambda: all("Successfully registered with master" in log.read_text() for log in started))
        yield found[1]


@contextmanager
def _daemon(name: str, arguments: list[str], log: Path, **environment: str) -> Iterator[Path]:
    home = require_java().resolve().parents[1]
    environment |= {"SPARK_HOME": str(SPARK_HOME), "JAVA_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [str(SPARK_HOME / "bin" / "spark-class"), name, *arguments]
    with log.open("wb") as file:
        process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=file, stderr=file)
    try:
        yield log
    finally:
        process.terminate()
        process.wait(180)
