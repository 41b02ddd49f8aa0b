"""Workers of a group in processes of their own: the one that leads is killed, the other goes on with its connectors."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from penstock.broker import LocalBroker
from tests.connect.running_worker import RunningWorker, eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.slow]

LINES = 2000


def test_the_next_worker_takes_over_when_the_leader_is_killed(broker: LocalBroker, tmp_path: Path) -> None:
    name = tmp_path.name
    topic = f"lines-{name}"
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": f"group-{name}",
        **{f"{kind}.storage.topic": f"{kind}-{name}" for kind in ("config", "offset", "status")},
        **{f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")},
        "offset.storage.partitions": "1",
        "status.storage.partitions": "1",
        "session.timeout.ms": "6000",
        "heartbeat.interval.ms": "1000",
    }
    read, written = tmp_path / "in.txt", tmp_path / "out.txt"
    read.write_text("".join(f"{i}\n" for i in range(LINES)))
    source = {
        "connector.class": "FileStreamSource",
        "file": str(read),
        "topic": topic,
        "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "1",
    }
    sink = {"connector.class": "FileStreamSink", "topics": topic, "file": str(written)}

    def copied(count: int) -> bool:
        return written.exists() and written.read_text().count("\n") >= count

    first_folder, second_folder = tmp_path / "first", tmp_path / "second"
    first_folder.mkdir()
    second_folder.mkdir()
    with RunningWorker(first_folder, settings, mode="distributed") as first:
        eventually(lambda: first.http.put("/connectors/lines/config", json=source).status_code == 201)
        with RunningWorker(second_folder, settings, mode="distributed") as second:
            assert second.http.put("/connectors/copy/config", json=sink).status_code == 201
            eventually(lambda: copied(LINES))
            assert first.process.poll() is None
            first.stop(signal.SIGKILL)
            with read.open("a") as more:
                more.write("".join(f"{i}\n" for i in range(LINES, 2 * LINES)))
            eventually(lambda: copied(2 * LINES))
            status = second.http.get("/connectors/lines/status").json()
            assert status["connector"]["worker_id"] in second.url
            assert second.http.put("/connectors/copy/stop").status_code == 204
            eventually(lambda: second.state("copy") == "STOPPED")
    assert written.read_text().splitlines() == [str(i) for i in range(2 * LINES)]
