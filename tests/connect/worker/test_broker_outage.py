"""Kafka goes away under a worker, for longer than a group waits, and comes back."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from penstock.broker import LocalBroker
from tests.connect.running_worker import RunningWorker, eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.slow]

LINES = 500


def test_connectors_wait_for_kafka_and_go_on(tmp_path: Path) -> None:
    read, written = tmp_path / "in.txt", tmp_path / "out.txt"
    read.write_text("".join(f"{number}\n" for number in range(LINES)))
    source = {
        "connector.class": "FileStreamSource",
        "file": str(read),
        "topic": "lines",
        "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "1",
    }
    sink = {"connector.class": "FileStreamSink", "topics": "lines", "file": str(written)}

    def copied(count: int) -> bool:
        return written.exists() and written.read_text().count("\n") >= count

    with LocalBroker() as broker:
        settings = {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "group",
            **{f"{kind}.storage.topic": kind for kind in ("config", "offset", "status")},
            **{f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")},
            "offset.storage.partitions": "1",
            "status.storage.partitions": "1",
            "session.timeout.ms": "6000",
            "heartbeat.interval.ms": "1000",
        }
        with RunningWorker(tmp_path, settings, mode="distributed") as worker:
            for name, config in (("lines", source), ("copy", sink)):
                eventually(
                    lambda name=name, config=config: (  # type: ignore[misc]
                        worker.http.put(f"/connectors/{name}/config", json=config).status_code in {200, 201}
                    )
                )
            eventually(lambda: copied(LINES))
            broker.kill()
            with read.open("a") as more:
                more.write("".join(f"{number}\n" for number in range(LINES, 2 * LINES)))
            time.sleep(8)
            assert worker.process.poll() is None
            assert worker.http.get("/connectors").json() == ["copy", "lines"]
            # It waits; it has not failed, and the log says what for.
            assert worker.state("lines") == worker.state("copy") == "RUNNING"
            eventually(lambda: "tries again in" in worker.log.read_text())
            broker.start()
            eventually(lambda: copied(2 * LINES), 240)
            eventually(lambda: worker.state("lines") == worker.state("copy") == "RUNNING")
            assert worker.http.put("/connectors/copy/pause").status_code == 202
            eventually(lambda: worker.state("copy") == "PAUSED")
            assert worker.stop(signal.SIGTERM) == 0
    assert written.read_text().splitlines() == [str(number) for number in range(2 * LINES)]
