"""Spark's JVM is killed under a worker: the worker stays, and every line arrives once."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import Self

from penstock.broker import LocalBroker
from tests.connect.running_worker import RunningWorker, eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.slow]


def jvm_of(worker: RunningWorker) -> int | None:
    """The process of Spark's JVM."""
    children = Path(f"/proc/{worker.process.pid}/task/{worker.process.pid}/children").parent.parent
    for thread in children.glob("*/children"):
        for child in thread.read_text().split():
            if b"org.apache.spark" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
    return None


class Growing:
    """A file that gets a line every few milliseconds, until it is enough."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._enough = threading.Event()
        self._writer = threading.Thread(target=self._write)
        self.lines = 0

    def _write(self) -> None:
        with self._file.open("w") as lines:
            while not self._enough.wait(0.01):
                lines.write(f"{self.lines}\n")
                lines.flush()
                self.lines += 1

    def __enter__(self) -> Self:
        self._writer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._writer.join()


@pytest.mark.parametrize("mode", ["standalone", "distributed"])
def test_connectors_go_on_in_a_new_jvm(mode: str, broker: LocalBroker, tmp_path: Path) -> None:
    name = f"{mode}-{tmp_path.name}"
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": f"group-{name}",
        **{f"{kind}.storage.topic": f"{kind}-{name}" for kind in ("config", "offset", "status")},
        **{f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")},
        "offset.storage.partitions": "1",
        "status.storage.partitions": "1",
    }
    read, written = tmp_path / "in.txt", tmp_path / "out.txt"
    source = {
        "connector.class": "FileStreamSource",
        "file": str(read),
        "topic": f"lines-{name}",
        "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "1",
    }
    sink = {"connector.class": "FileStreamSink", "topics": f"lines-{name}", "file": str(written)}

    def copied(count: int) -> bool:
        return written.exists() and written.read_text().count("\n") >= count

    def restarting() -> Any:
        status = worker.http.get("/connectors/lines/status").json()
        return status if status["tasks"][0]["state"] == "RESTARTING" else None

    with RunningWorker(tmp_path, settings, mode=mode) as worker:
        for connector, config in (("lines", source), ("copy", sink)):
            eventually(
                lambda connector=connector, config=config: (  # type: ignore[misc]
                    worker.http.put(f"/connectors/{connector}/config", json=config).status_code in {200, 201}
                )
            )
        with Growing(read) as growing:
            eventually(lambda: copied(20))
            killed = jvm_of(worker)
            assert killed is not None
            os.kill(killed, signal.SIGKILL)
            # It is seen in the status, not only in the log. Only of the connector that has something to do all the
            # time: the sink, if it had copied all that there was, does not notice before the source goes on.
            status = eventually(restarting)
            eventually(lambda: copied(growing.lines - 50))
        eventually(lambda: copied(growing.lines))
        eventually(lambda: worker.state("lines") == worker.state("copy") == "RUNNING")
        assert "Spark's JVM died; the connector goes on in a new one" in status["tasks"][0]["trace"]
        assert jvm_of(worker) not in {None, killed}
        assert "Spark's JVM was ended by SIGKILL. Connectors go on in a new one" in worker.log.read_text()
        assert worker.stop(signal.SIGTERM) == 0
    assert written.read_text().splitlines() == [str(number) for number in range(growing.lines)]
