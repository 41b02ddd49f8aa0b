from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder
from penstock.errors import StreamsError
from penstock.spark.tasks import client
from tests.spark.fake_kafka import make_job


class Process:
    """A slot's process that never listens."""

    def __init__(self, returncode: int | None) -> None:
        self.returncode = returncode
        self.killed = False

    def poll(self) -> int | None:
        return self.returncode

    def kill(self) -> None:
        self.killed = True


@pytest.mark.parametrize(
    ("status", "said"),
    [(1, "ended at once on {host} with status 1. "), (None, "did not start within 0.01 seconds on {host}. ")],
)
def test_a_process_that_does_not_come_says_where_its_last_words_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int | None, said: str
) -> None:
    builder = StreamsBuilder()
    builder.stream("in").to("out")
    job = make_job(builder, {"in": 1}, tmp_path)
    Path(job.checkpoint, "query").mkdir(parents=True, exist_ok=True)
    process: Any = Process(status)
    monkeypatch.setattr(client, "_START_SECONDS", 0.01)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: process)
    with pytest.raises(StreamsError) as raised:
        client._start(job, tmp_path / "0.sock")
    assert str(raised.value).startswith("the process of a slot " + said.format(host=socket.gethostname()))
    assert "in the stderr of Spark's executor" in raised.value.hint
    assert process.killed == (status is None)
