"""A topic that was deleted and made again has other records under the same offsets: they are not taken for old ones."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import orjson
import pytest

from penstock.connect.api import CONNECTORS
from penstock.connect.data import SinkRecord
from penstock.connect.errors import ConnectError
from tests.connect.storage.running_sink import FIRST_TIME, RunningSink, files, local, order, record
from tests.connect.storage.test_recovery import ids

LATER = FIRST_TIME + 10**9


def new(offset: int) -> SinkRecord:
    """The record at an offset of the topic that was made again."""
    return record(offset, order(offset, city="new"), timestamp=LATER + offset)


def cities(folder: Path) -> set[str]:
    return {orjson.loads(line)["city"] for data in files(folder).values() for line in data.splitlines()}


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING, "penstock.connect")
    return caplog


def test_a_topic_made_again_is_refused_until_offsets_are_reset(
    tmp_path: Path, warnings: pytest.LogCaptureFixture
) -> None:
    config = {"name": "archive", "topics": "orders", "flush.size": "10", **local(tmp_path)}
    with RunningSink("FileSystemSink", config) as sink:
        sink.put(map(record, range(25)))
    before = files(tmp_path)
    for _ in range(2):  # a restart changes nothing
        with (
            RunningSink("FileSystemSink", config) as sink,
            pytest.raises(
                ConnectError,
                match=r"offset 0 of orders-0 is another than the one that is in files: the topic was deleted and made again"
                r".*reset its offsets .*topics\.dir is another folder",
            ),
        ):
            sink.put(map(new, range(5)))
    assert files(tmp_path) == before
    connector: Any = CONNECTORS.find("FileSystemSink")
    connector.reset_offsets(config)
    with RunningSink("FileSystemSink", {**config, "topics.dir": "new/topics"}) as sink:
        assert sink.put(map(new, range(10))) == 10
    assert cities(tmp_path / "new") == {"new"}
    assert {path: data for path, data in files(tmp_path).items() if path in before} == before


def test_it_is_noticed_at_the_last_record_where_the_first_one_is_unknown(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        sink.put(map(record, range(100, 120)))  # retention had removed the others
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        assert sink.put(map(new, range(50))) == 50
        assert sink.put(map(new, range(50, 100))) == 100
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        sink.put(map(new, range(101, 119)))
        with pytest.raises(ConnectError, match="offset 119 of orders-0 is another"):
            sink.put(map(new, range(119, 130)))


def test_what_cannot_be_told_is_logged_once_with_counts(tmp_path: Path, warnings: pytest.LogCaptureFixture) -> None:
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        sink.put(map(record, range(100, 120)))
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        sink.put(map(new, range(5)))
        sink.put(map(new, range(5, 50)))
    (warning,) = warnings.messages
    assert warning.startswith("120 offsets of orders-0 (0 to 119) are in files already, and left out. If the topic was")
    assert "DELETE /connectors/{name}/offsets" in warning


def test_the_same_time_and_another_value_is_no_proof(tmp_path: Path, warnings: pytest.LogCaptureFixture) -> None:
    """So it is if a transform was added while the connector was stopped."""
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        sink.put(map(record, range(20)))
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        assert sink.put(record(o, order(o, city="other")) for o in range(30)) == 30
    assert ids(tmp_path) == list(range(30))
    assert len(warnings.messages) == 1


@pytest.mark.parametrize("begin", [0, 3, 10, 19])
def test_an_ordinary_replay_is_quiet(tmp_path: Path, begin: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "penstock.connect")
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        sink.put(map(record, range(25)))
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        for offset in range(begin, 30):
            sink.put([record(offset)])
    assert ids(tmp_path) == list(range(30))
    (told,) = caplog.records
    assert (told.levelname, told.getMessage()) == (
        "INFO",
        f"{20 - begin} offsets of orders-0 ({begin} to 19) are in files already, and left out",
    )


def test_refused_records_are_marks_as_well(tmp_path: Path, warnings: pytest.LogCaptureFixture) -> None:
    config = local(tmp_path, behavior_on_null_values="ignore", flush_size="2")
    records = [record(0, None, None), record(1), record(2), record(3, None, None)]
    with RunningSink("FileSystemSink", config) as sink:
        assert sink.put(records) == 4
    with RunningSink("FileSystemSink", config) as sink:
        assert sink.put(records) == 4
    assert ids(tmp_path) == [1, 2]
    assert warnings.messages == []


def test_a_log_of_an_older_version_has_no_marks(tmp_path: Path, warnings: pytest.LogCaptureFixture) -> None:
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        sink.put(map(record, range(20)))
    (entry,) = (tmp_path / "logs" / "orders" / "0" / "archive").iterdir()
    known = orjson.loads(entry.read_bytes())
    del known["marks"]
    entry.write_bytes(orjson.dumps(known))
    for expected in (1, 1):  # then it has
        with RunningSink("FileSystemSink", local(tmp_path)) as sink:
            sink.put(map(record, range(5, 40)))
        assert len(warnings.messages) == expected
        warnings.clear()
    assert ids(tmp_path) == list(range(40))
