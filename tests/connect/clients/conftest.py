from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.broker import LocalBroker
from tests.connect.running_worker import RunningWorker


@pytest.fixture(scope="package")
def running(broker: LocalBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningWorker]:
    """One worker for all clients."""
    folder = tmp_path_factory.mktemp("connect")
    with RunningWorker(folder, {"bootstrap.servers": broker.bootstrap_servers}) as worker:
        yield worker


@pytest.fixture
def source(tmp_path: Path) -> dict[str, str]:
    """A connector that has something to do."""
    lines = tmp_path / "lines.txt"
    lines.write_text("one\ntwo\nthree\n")
    return {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "tasks.max": "1",
        "file": str(lines),
        "topic": f"lines-{tmp_path.name}",
        "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "1",
    }
