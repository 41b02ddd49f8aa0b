"""A thousand connectors come and go in one worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.broker import LocalBroker
from penstock.kafka.admin import Admin
from tests.connect.running_worker import RunningWorker, eventually

pytestmark = [pytest.mark.broker, pytest.mark.slow]

COUNT = 1000


def held(worker: RunningWorker) -> tuple[int, int]:
    """Threads and open files of a worker."""
    process = Path("/proc") / str(worker.process.pid)
    return len(list((process / "task").iterdir())), len(list((process / "fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks into /proc")
def test_a_thousand_connectors_leave_nothing_behind(tmp_path: Path) -> None:
    config = {"connector.class": "FileStreamSink", "topics": "t", "file": str(tmp_path / "out.txt")}
    # With a broker of its own: what is counted here includes connections, and every connector asks for all topics.
    with LocalBroker() as broker, RunningWorker(tmp_path, {"bootstrap.servers": broker.bootstrap_servers}) as worker:
        Admin({"bootstrap.servers": broker.bootstrap_servers}).create_topic("t", partitions=1)
        # The first one opens what all share.
        assert worker.http.put("/connectors/first/config", json=config).status_code == 201
        eventually(lambda: worker.state("first") == "RUNNING")
        threads, files = held(worker)
        for i in range(COUNT):
            assert worker.http.put(f"/connectors/c{i}/config", json=config).status_code == 201
        states = worker.http.get("/connectors?expand=status").json().values()
        assert len(states) == COUNT + 1
        assert {one["status"]["connector"]["state"] for one in states} == {"RUNNING"}
        for i in range(COUNT):
            assert worker.http.delete(f"/connectors/c{i}").status_code == 204
        assert worker.http.get("/connectors").json() == ["first"]
        eventually(lambda: held(worker)[0] <= threads + 5 and held(worker)[1] <= files + 5)
        assert worker.state("first") == "RUNNING", worker.http.get("/connectors/first/status").text
        assert "Traceback" not in worker.log.read_text()
