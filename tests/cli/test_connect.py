"""`penstock connect` as a user runs it, with Kafka and Spark."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from penstock.broker import LocalBroker
from tests.connect.running_worker import PENSTOCK, RunningWorker, eventually

WORKER = """
bootstrap.servers={servers}
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.storage.StringConverter
offset.storage.file.filename={folder}/connect.offsets
listeners=http://127.0.0.1:0
"""
CREATED = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}


def source(folder: Path, topic: str) -> Path:
    file = folder / "source.properties"
    file.write_text(
        f"name=lines\nconnector.class=FileStreamSource\nfile={folder}/in.txt\ntopic={topic}\n"
        "topic.creation.default.partitions=1\ntopic.creation.default.replication.factor=1\n"
        "transforms=hoist\ntransforms.hoist.type=HoistField$Value\ntransforms.hoist.field=line\n"
    )
    return file


def sink(folder: Path, topic: str) -> Path:
    file = folder / "sink.json"
    file.write_text(
        f'{{"name": "copy", "config": {{"connector.class": "FileStreamSinkConnector", "topics": "{topic}", '
        f'"file": "{folder}/out.txt", "tasks.max": 1}}}}'
    )
    return file


@pytest.mark.broker
@pytest.mark.spark
def test_lines_go_from_a_file_to_a_topic_to_a_file(broker: LocalBroker, tmp_path: Path) -> None:
    topic = f"lines-{tmp_path.name}"
    read, written = tmp_path / "in.txt", tmp_path / "out.txt"
    read.write_text("one\ntwo\n")
    files = [source(tmp_path, topic), sink(tmp_path, topic)]
    settings = {"bootstrap.servers": broker.bootstrap_servers}

    def copied(count: int) -> bool:
        return written.exists() and written.read_text().count("\n") >= count

    with RunningWorker(tmp_path, settings, connectors=files) as worker:
        assert worker.http.get("/health").json()["status"] == "healthy"
        assert worker.http.get("/connectors").json() == ["copy", "lines"]
        eventually(lambda: copied(2))
        assert worker.state("lines") == worker.state("copy") == "RUNNING"
        assert worker.http.get("/connectors/lines/topics").json() == {"lines": {"topics": [topic]}}
        assert worker.http.get("/connectors/lines").json()["tasks"] == [{"connector": "lines", "task": 0}]
        assert worker.http.put("/connectors/copy/pause").status_code == 202
        eventually(lambda: worker.state("copy") == "PAUSED")
        with read.open("a") as more:
            more.write("three\n")

        def position() -> int:
            (entry,) = worker.http.get("/connectors/lines/offsets").json()["offsets"]
            assert entry["partition"] == {"filename": str(read)}
            return int(entry["offset"]["position"])

        eventually(lambda: position() == 14)
        assert not copied(3)
        worker.http.put("/connectors/copy/resume")
        eventually(lambda: copied(3))
        assert worker.stop(signal.SIGTERM) == 0
    assert not (tmp_path / "connect.offsets.new").exists()
    with read.open("a") as more:
        more.write("four\n")
    with RunningWorker(tmp_path, settings, connectors=files) as worker:
        eventually(lambda: copied(4))
        assert worker.stop(signal.SIGINT) == 0
    assert written.read_text() == "".join(f"Struct{{line={line}}}\n" for line in ("one", "two", "three", "four"))


@pytest.mark.broker
@pytest.mark.spark
def test_one_failing_connector_leaves_the_others_alone(broker: LocalBroker, tmp_path: Path) -> None:
    topic = f"poison-{tmp_path.name}"
    (tmp_path / "in.txt").write_text("one\n")
    with RunningWorker(tmp_path, {"bootstrap.servers": broker.bootstrap_servers}) as worker:
        failing = {
            "connector.class": "FileStreamSink",
            "topics": topic,
            "file": str(tmp_path / "never.txt"),
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        }
        lines = {"connector.class": "FileStreamSource", "file": str(tmp_path / "in.txt"), "topic": topic, **CREATED}
        good = {"connector.class": "FileStreamSink", "topics": topic, "file": str(tmp_path / "out.txt")}
        for name, config in (("failing", failing), ("lines", lines), ("good", good)):
            assert worker.http.put(f"/connectors/{name}/config", json=config).status_code == 201
        eventually(lambda: worker.state("failing") == "FAILED")
        eventually(lambda: (tmp_path / "out.txt").exists() and (tmp_path / "out.txt").read_text() == "one\n")
        trace = worker.http.get("/connectors/failing/status").json()["tasks"][0]["trace"]
        assert "Tolerance exceeded in error handler" in trace
        assert topic in trace
        tolerant = {**failing, "errors.tolerance": "all"}
        assert worker.http.put("/connectors/failing/config", json=tolerant).status_code == 200
        eventually(lambda: worker.state("failing") == "RUNNING")

        def skipped() -> object:
            (task,) = worker.http.get("/connectors/failing/status").json()["tasks"]
            return task.get("metrics", {}).get("skipped")

        assert eventually(skipped) == {"VALUE_CONVERTER DataException": 1}
        assert worker.state("good") == "RUNNING"


def run(*arguments: object, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [PENSTOCK, "connect", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stderr


def worker_file(folder: Path, servers: str = "127.0.0.1:1", more: str = "") -> Path:
    file = folder / "worker.properties"
    file.write_text(WORKER.format(servers=servers, folder=folder) + more)
    return file


def test_a_connector_file_without_a_name_ends_the_start(tmp_path: Path) -> None:
    nameless = tmp_path / "nameless.properties"
    nameless.write_text("connector.class=FileStreamSource\n")
    code, printed = run("standalone", worker_file(tmp_path), nameless)
    assert code == 3
    assert 'nameless.properties: Missing required configuration "name"' in printed


@pytest.mark.slow
def test_settings_that_cannot_be_used_end_the_start(tmp_path: Path) -> None:
    code, printed = run("distributed", worker_file(tmp_path))
    assert code == 1
    assert printed.endswith('Missing required configuration "group.id" which has no default value.\n')
    code, printed = run("standalone", tmp_path / "missing.properties")
    assert (code, "No such file" in printed) == (1, True)


@pytest.mark.slow
def test_a_broker_that_does_not_answer_ends_the_start(tmp_path: Path) -> None:
    code, printed = run("standalone", worker_file(tmp_path))
    assert code == 1
    assert re.search(r"penstock: No Kafka broker .*127\.0\.0\.1:1", printed)


@pytest.mark.broker
def test_an_invalid_connector_ends_the_start(broker: LocalBroker, tmp_path: Path) -> None:
    file = tmp_path / "bad.properties"
    file.write_text("name=bad\nconnector.class=FileStreamSource\n")
    code, printed = run("standalone", worker_file(tmp_path, broker.bootstrap_servers), file)
    assert code == 3
    assert 'Missing required configuration "topic" which has no default value.' in printed


def test_two_connectors_of_one_name_end_the_start(tmp_path: Path) -> None:
    files = []
    for number in (1, 2):
        files.append(tmp_path / f"{number}.properties")
        files[-1].write_text(
            f"name=twice\nconnector.class=FileStreamSource\nfile={tmp_path}/{number}\ntopic=t{number}\n"
        )
    code, printed = run("standalone", worker_file(tmp_path), *files)
    assert code == 3
    assert f"{files[1]}: Connector twice already exists: {files[0]} has the same name" in printed
