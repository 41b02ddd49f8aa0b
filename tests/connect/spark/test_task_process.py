"""A task's own process, forked from this one instead of a Spark worker."""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from penstock.connect.api import OffsetReader, SinkConnector, SinkTask, SourceConnector, SourceRange, SourceTask
from penstock.connect.config.secrets import NO_SECRETS, Secrets
from penstock.connect.data import SinkRecord, SourceRecord
from penstock.connect.errors import ConnectError, RetriableError
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.reports import failure_report
from penstock.connect.spark.task_client import KIND, run_in_task, stop_tasks
from penstock.connect.validation import ConnectorKind
from penstock.kafka.errors import BrokerUnreachable, OffsetsGone, TopicMissing
from penstock.spark.resident import run_folder, socket_path, try_connect
from tests.connect.spark.conftest import wait_until

CONVERTERS = {"key.converter": "StringConverter", "value.converter": "StringConverter"}


class PidTask(SinkTask):
    """Fails to start with the number of its process, or dies."""

    def start(self) -> None:
        if self.config.get("mode") == "die":
            os._exit(3)
        if self.config.get("mode") == "log":
            logging.getLogger("org.example").warning(self.config["text"])
        raise ConnectError(f"pid {os.getpid()}")

    def put(self, records: list[SinkRecord]) -> None: ...


class PidSink(SinkConnector):
    TASK = PidTask


class NothingTask(SourceTask):
    def plan(self, offsets: OffsetReader) -> Sequence[SourceRange]:
        return ()

    def read(self, wanted: SourceRange) -> Iterator[SourceRecord]:
        Path(wanted.partition["file"]).write_text(str(os.getpid()))
        raise RetriableError("not now")

    def stop(self) -> None:
        Path(self.config["stopped"]).touch()


class NothingSource(SourceConnector):
    TASK = NothingTask


@pytest.fixture
def run() -> Iterator[str]:
    name = uuid.uuid4().hex
    yield name
    stop_tasks(name)
    assert not run_folder(KIND, name).exists()


def job(run: str, connector: type, secrets: Secrets = NO_SECRETS, **config: str) -> str:
    kind = ConnectorKind.SINK if issubclass(connector, SinkConnector) else ConnectorKind.SOURCE
    settings = {"connector.class": f"{__name__}:{connector.__name__}", **CONVERTERS, **config}
    kafka = {role: {"bootstrap.servers": "localhost:1"} for role in ("consumer", "producer", "admin")}
    return ConnectJob(run, "c", kind, settings, (settings,), kafka, secrets=secrets).encode()


def test_a_task_keeps_its_process(run: str) -> None:
    encoded = job(run, PidSink)
    reports = [run_in_task(run, encoded, {"task": 0, "batch": batch, "ranges": []}) for batch in range(2)]
    messages = [report["error"]["message"] for report in reports]
    assert messages[0] == messages[1]
    assert messages[0] != f"pid {os.getpid()}"
    assert reports[0]["error"]["transient"] is False
    assert "PidTask" in reports[0]["error"]["trace"] or "start" in reports[0]["error"]["trace"]


def test_what_a_task_logs_has_no_secrets(run: str, tmp_path: Path) -> None:
    # Not opened before the task's process has closed what it inherits.
    handler = logging.FileHandler(tmp_path / "log", delay=True)
    logging.getLogger().addHandler(handler)
    try:
        encoded = job(run, PidSink, Secrets(["hunter2secret"]), mode="log", text="no answer from u:hunter2secret@h")
        run_in_task(run, encoded, {"task": 0, "batch": 0, "ranges": []})
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    assert "no answer from u:[hidden]@h\n" in (tmp_path / "log").read_text()


def test_a_process_that_dies_is_an_error_and_a_new_one_follows(run: str) -> None:
    with pytest.raises(ConnectError, match="process of task 0 died in batch 7"):
        run_in_task(run, job(run, PidSink, mode="die"), {"task": 0, "batch": 7, "ranges": []})
    wait_until(lambda: try_connect(socket_path(KIND, run, 0)) is None, 10)
    again = run_in_task(run, job(run, PidSink), {"task": 0, "batch": 7, "ranges": []})
    assert again["error"]["message"].startswith("pid ")


def test_a_source_is_stopped_with_its_process(run: str, tmp_path: Path) -> None:
    stopped, seen = tmp_path / "stopped", tmp_path / "seen"
    encoded = job(run, NothingSource, stopped=str(stopped))
    plan = {"task": 0, "batch": 0, "ranges": [[{"file": str(seen)}, None, {"n": 1}]]}
    report = run_in_task(run, encoded, plan)
    assert report["error"]["transient"] is True
    process = int(seen.read_text())
    stop_tasks(run)
    assert stopped.exists()
    wait_until(lambda: not Path(f"/proc/{process}").exists(), 10)


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (RetriableError("x"), True),
        (BrokerUnreachable("b:1"), True),
        (OffsetsGone("t", 0, start=1, end=2, available=(5, 6)), True),
        (TopicMissing("t"), False),
        (ConnectError("x"), False),
        (ValueError("x"), False),
    ],
)
def test_what_may_pass_by_itself(error: Exception, transient: bool) -> None:
    assert failure_report(0, error)["error"]["transient"] is transient
