"""Tasks that die at any point: every record is in one file once."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from penstock.connect.api import CONNECTORS
from penstock.connect.connectors.storage.stores.local import LocalStore
from penstock.connect.errors import ConnectError, RetriableError
from tests.connect.storage.running_sink import T0, RunningSink, files, left_over, local, record

BY_CITY = {"partitioner.class": "FieldPartitioner", "partition.field.name": "city", "flush.size": "30"}


def ids(folder: Path) -> list[int]:
    """The records in all files."""
    return sorted(orjson.loads(line)["id"] for data in files(folder).values() for line in data.splitlines())


def test_a_new_task_leaves_out_what_is_in_files(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        assert sink.put(map(record, range(25))) == 20
        assert len(left_over(tmp_path)) == 1
    assert left_over(tmp_path) == []
    before = files(tmp_path)
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        assert sink.put(map(record, range(18))) == 18  # Kafka's offset was older
        assert sink.put(map(record, range(18, 31))) == 30
    assert ids(tmp_path) == list(range(30))
    assert {path: data for path, data in files(tmp_path).items() if path in before} == before


def test_other_settings_after_a_restart_do_not_matter(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        sink.put(map(record, range(25)))
    with RunningSink("FileSystemSink", local(tmp_path, flush_size="7")) as sink:
        sink.put(map(record, range(41)))
    assert ids(tmp_path) == list(range(41))


def test_files_of_kafka_connect_tell_where_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "topics" / "orders" / "city=Oslo"
    folder.mkdir(parents=True)
    (folder / "orders+0+0000000000+0000000012.json").write_bytes(b"")
    (folder / "orders+1+0000000000+0000000099.json").write_bytes(b"")
    (folder / "orders2+0+0000000000+0000000099.json").write_bytes(b"")
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        assert sink.put(map(record, range(23))) == 23
    assert ids(tmp_path) == list(range(13, 23))


def test_files_that_somebody_took_away_are_written_again_if_kafka_gives_them(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        sink.put(map(record, range(20)))
    for path in files(tmp_path):
        (tmp_path / "topics" / path).unlink()
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        sink.put(map(record, range(20)))
    assert ids(tmp_path) == list(range(20))


def test_offsets_that_are_set_count_more_than_files(tmp_path: Path) -> None:
    config = {"name": "archive", "topics": "orders", "flush.size": "10", **local(tmp_path)}
    connector: Any = CONNECTORS.find("FileSystemSink")
    with RunningSink("FileSystemSink", config) as sink:
        sink.put(map(record, range(20)))
    connector.alter_offsets(config, {("orders", 0): 10})
    for path in list(files(tmp_path)):
        (tmp_path / "topics" / path).write_bytes(b"")
    with RunningSink("FileSystemSink", config) as sink:
        sink.put(map(record, range(10, 20)))
    assert ids(tmp_path) == list(range(10, 20))
    connector.reset_offsets(config)
    with RunningSink("FileSystemSink", config) as sink:
        sink.put(map(record, range(20)))
    assert ids(tmp_path) == list(range(20))


def test_a_task_that_was_replaced_writes_nothing_more(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path)) as old:
        old.put(map(record, range(15)))
        with RunningSink("FileSystemSink", local(tmp_path, flush_size="17")) as new:
            assert new.put(map(record, range(9))) == 9
            with pytest.raises(ConnectError, match="Another task writes to logs/orders/0/archive since this one began"):
                old.put(map(record, range(15, 20)))
            new.put(map(record, range(9, 27)))
    assert ids(tmp_path) == list(range(27))


def test_a_partition_that_was_elsewhere_is_begun_anew(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        sink.put(map(record, range(15)))
        with RunningSink("FileSystemSink", local(tmp_path)) as elsewhere:
            assert elsewhere.put(map(record, range(10, 24))) == 20
        sink.task.open([T0])
        assert sink.put(map(record, range(20, 30))) == 30
    assert ids(tmp_path) == list(range(30))


class Dying(Exception):
    """The process is gone."""


@pytest.mark.parametrize("after", range(45))
def test_a_task_that_dies_between_any_two_steps(tmp_path: Path, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dies before the n-th change to the store; the next task finds what is there, and so on."""
    left = after

    def dying(name: str) -> Any:
        real = getattr(LocalStore, name)

        def step(self: LocalStore, *given: Any) -> Any:
            nonlocal left
            if left == 0:
                raise Dying
            left -= 1
            return real(self, *given)

        return step

    for name in ("create", "complete", "move", "move_new", "delete"):
        monkeypatch.setattr(LocalStore, name, dying(name))
    monkeypatch.setattr("os.fsync", lambda _: None)
    config = {**local(tmp_path), **BY_CITY}
    committed = rounds = 0
    while committed < 90:
        rounds += 1
        assert rounds < 10
        sink = RunningSink("FileSystemSink", config)
        try:
            sink.task.start()
            for begin in range(committed, 90, 13):
                committed = sink.put(map(record, range(begin, min(begin + 13, 90))))
        except Dying:
            left = -1  # the others live
            for file in (file for writer in sink.task._writers.values() for file in writer.files):
                for new in file.new:
                    new.file.close()
    assert ids(tmp_path) == list(range(90))
    assert len(files(tmp_path)) == 9


@pytest.mark.parametrize("name", ["complete", "move_new", "move"])
@pytest.mark.parametrize("is_done", [True, False])
def test_a_store_that_is_away_for_a_while(
    tmp_path: Path, name: str, is_done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is lost before or after the store did what it was asked for."""
    real, failures = getattr(LocalStore, name), 3

    def step(self: LocalStore, *given: Any) -> Any:
        nonlocal failures
        if failures and "archive" in str(given) and sink.safe:
            failures -= 1
            if is_done:
                real(self, *given)
            raise RetriableError("away")
        return real(self, *given)

    monkeypatch.setattr(LocalStore, name, step)
    with RunningSink("FileSystemSink", {**local(tmp_path), **BY_CITY}) as sink:
        sink.put(map(record, range(25)))
        tries = 0
        while True:
            tries += 1
            try:
                sink.task.put(list(map(record, range(25, 65))))
                break
            except RetriableError:
                assert sink.commit(25) in {0, 25}  # what was given before
        assert tries > 1
        assert sink.commit(65) == 60
    assert failures == 0
    assert ids(tmp_path) == list(range(60))


_WRITER = """
import sys
from tests.connect.storage.running_sink import RunningSink, local, record
from pathlib import Path
folder, begin, end = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
config = {**local(folder, "ParquetFormat"), "partitioner.class": "FieldPartitioner", "partition.field.name": "city",
          "flush.size": "1000"}
with RunningSink("FileSystemSink", config) as sink:
    while begin < end:
        stop = min(begin + 700, end)
        print(sink.put(map(record, range(begin, stop))), flush=True)
        begin = stop
"""


@pytest.mark.slow
def test_kill_9(tmp_path: Path) -> None:
    """A process is killed at random moments; the next one begins where the last one said that everything is safe."""
    chance, committed, kills, end = random.Random(7), 0, 0, 30_000
    lake = tmp_path / "lake"
    while committed < end:
        process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(lake), str(committed), str(end)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()  # it runs
        if kills < 3:
            time.sleep(chance.random() / 2)
            process.send_signal(signal.SIGKILL)
            kills += 1
        told = process.stdout.read().split()
        process.wait()
        process.stdout.close()
        # What it said last may be older than what it did: as if the commit to Kafka was lost.
        committed = max(committed, int(told[len(told) // 2 if process.returncode else -1])) if told else committed
    paths = (lake / "topics" / "orders").rglob("*.parquet")
    found = sorted(i for path in paths for i in pq.read_table(path, partitioning=None).column("id").to_numpy().tolist())
    assert kills == 3
    assert found == list(range(end))
