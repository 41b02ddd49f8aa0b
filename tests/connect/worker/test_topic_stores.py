"""The records of the worker's topics, as Kafka Connect writes and reads them; what a topic does is played by a list."""

from __future__ import annotations

import json
import threading
from typing import Any, cast

import pytest

from penstock.connect.offset_key import offset_key
from penstock.connect.worker.compacted_log import CompactedLog
from penstock.connect.worker.config_store import TargetState
from penstock.connect.worker.status_store import State, Status
from penstock.connect.worker.topic_config_store import Leader, TopicConfigStore
from penstock.connect.worker.topic_offset_store import TopicOffsetStore
from penstock.connect.worker.topic_status_store import TopicStatusStore


class ListLog:
    """A log whose records are read back when the test says so, or at once."""

    def __init__(self, store: Any) -> None:
        self.records: list[tuple[str, Any]] = []
        self._unread: list[tuple[bytes, bytes | None]] = []
        self._store = store
        store.attach(cast("CompactedLog", self))

    def write(self, records: list[tuple[str, bytes | None]], *, read_back: bool = True) -> None:
        for key, value in records:
            self.write_later(key, value)
        self.read()

    def write_later(self, key: str | bytes, value: bytes | None) -> None:
        text = key.decode() if isinstance(key, bytes) else key
        self.records.append((text, None if value is None else json.loads(value)))
        self._unread.append((text.encode(), value))

    def catch_up(self) -> None:
        self.read()

    def read(self) -> None:
        for key, value in self._unread:
            self._store.read(key, value, len(self.records))
        self._unread = []


@pytest.fixture
def changes() -> list[str]:
    return []


@pytest.fixture
def configs(changes: list[str]) -> TopicConfigStore:
    return TopicConfigStore(changes.append, lambda logger, level: changes.append(f"{logger}={level}"))


def test_connectors_are_written_in_kafkas_layout(configs: TopicConfigStore, changes: list[str]) -> None:
    log = ListLog(configs)
    configs.put_connector("c-1", {"name": "c-1"}, TargetState.STOPPED)
    configs.put_tasks("c-1", [{"task": "0"}, {"task": "1"}])
    configs.put_target("c-1", TargetState.STARTED)
    configs.put_level("org.example", "DEBUG")
    configs.put_leader(Leader("http://host:8083", 3))
    configs.remove("c-1")
    assert log.records == [
        ("target-state-c-1", {"state": "PAUSED", "state.v2": "STOPPED"}),
        ("connector-c-1", {"properties": {"name": "c-1"}}),
        ("task-c-1-0", {"properties": {"task": "0"}}),
        ("task-c-1-1", {"properties": {"task": "1"}}),
        ("commit-c-1", {"tasks": 2}),
        ("target-state-c-1", {"state": "STARTED", "state.v2": "STARTED"}),
        ("logger-cluster-org.example", {"level": "DEBUG"}),
        ("penstock-leader", {"url": "http://host:8083", "generation": 3}),
        ("connector-c-1", None),
        ("target-state-c-1", None),
    ]
    assert changes == ["c-1", "c-1", "org.example=DEBUG", "c-1"]
    assert configs.leader == Leader("http://host:8083", 3)
    assert configs.names() == []


def read(store: Any, *records: tuple[str, Any]) -> None:
    for offset, (key, value) in enumerate(records):
        store.read(key.encode(), None if value is None else json.dumps(value).encode(), offset)


def test_what_kafkas_workers_wrote_is_understood(configs: TopicConfigStore) -> None:
    read(
        configs,
        ("session-key", {"key": "x", "algorithm": "HmacSHA256", "creation-timestamp": 1}),
        ("connector-a", {"properties": {"name": "a"}}),
        ("target-state-b", {"state": "PAUSED"}),
        ("connector-b", {"properties": {"name": "b"}}),
        ("task-a-0", {"properties": {"x": "1"}}),
        ("task-a-1", {"properties": {"x": "2"}}),
        ("commit-a", {"tasks": 1}),
        ("commit-b", {"tasks": 1}),
        ("tasks-fencing-a", {"task-count": 1}),
        ("restart-connector-a", {"include-tasks": True, "only-failed": False}),
    )
    a, b = configs.get("a"), configs.get("b")
    assert a is not None
    assert b is not None
    assert (a.target, a.tasks) == (TargetState.STARTED, ({"x": "1"},))
    # A commit without its tasks is not effective.
    assert (b.target, b.tasks) == (TargetState.PAUSED, ())


def test_versions_tell_changes_apart(configs: TopicConfigStore) -> None:
    log = ListLog(configs)

    def version() -> int:
        entry = configs.get("c")
        assert entry is not None
        return entry.version

    configs.put_connector("c", {"a": "1"})
    first = version()
    configs.put_connector("c", {"a": "1"})
    assert version() == first
    configs.put_connector("c", {"a": "2"})
    assert version() != first
    configs.put_tasks("c", [{}])
    configs.remove("c")
    configs.put_connector("c", {"a": "1"})
    assert version() != first
    entry = configs.get("c")
    assert entry is not None
    assert entry.tasks == ()
    assert log.records


STATUS = Status(State.RUNNING, "host:8083", None, 7, "1.0")
FIELDS = {"state": "RUNNING", "trace": None, "worker_id": "host:8083", "generation": 7, "version": "1.0"}


def test_states_are_written_in_kafkas_layout() -> None:
    statuses = TopicStatusStore()
    log = ListLog(statuses)
    statuses.put_connector("c", STATUS)
    statuses.put_task("c", 0, STATUS)
    statuses.add_topics("c", ["t"])
    statuses.add_topics("c", ["t"])
    stamp = log.records[-1][1]["topic"].pop("discoverTimestamp")
    assert isinstance(stamp, int)
    statuses.remove("c")
    assert log.records == [
        ("status-connector-c", FIELDS),
        ("status-task-c-0", FIELDS),
        ("status-topic-t:connector-c", {"topic": {"name": "t", "connector": "c", "task": 0}}),
        ("status-topic-t:connector-c", None),
        ("status-task-c-0", None),
        ("status-connector-c", None),
    ]
    assert statuses.connector("c") is None


def test_own_states_that_come_back_are_no_news() -> None:
    statuses = TopicStatusStore()
    log = ListLog(statuses)
    statuses.put_connector("c", STATUS)
    statuses.put_connector("c", Status(State.PAUSED, "host:8083"))
    log._unread.pop()  # the newer one is still on its way
    log.read()
    found = statuses.connector("c")
    assert found is not None
    assert found.state is State.PAUSED
    statuses.follow()
    read(statuses, ("status-connector-c", {**FIELDS, "state": "FAILED", "trace": "other worker"}))
    found = statuses.connector("c")
    assert found is not None
    assert (found.state, found.trace) == (State.FAILED, "other worker")


def test_a_follower_reads_states_and_topics() -> None:
    statuses = TopicStatusStore()
    read(
        statuses,
        ("status-connector-c", FIELDS),
        ("status-task-c-1", FIELDS),
        ("status-task-c-0", FIELDS),
        ("status-topic-t:connector-c", {"topic": {"name": "t", "connector": "c", "task": 0, "discoverTimestamp": 1}}),
        ("status-topic-u:connector-c", {"topic": {"name": "u", "connector": "c", "task": 0, "discoverTimestamp": 1}}),
        ("status-topic-t:connector-c", None),
        ("status-task-c-1", None),
    )
    assert statuses.connector("c") == STATUS
    assert statuses.tasks("c") == {0: STATUS}
    assert statuses.topics("c") == ["u"]
    read(statuses, ("status-connector-c", None))
    assert statuses.connector("c") is None


def test_offsets_keep_the_keys_they_have() -> None:
    offsets = TopicOffsetStore()
    log = ListLog(offsets)
    offsets.read(b'["c",{"protocol":"1","table":"t"}]', b'{"incrementing":5}', 0)
    offsets.read(b'["c", {"table": "u"}]', b'{"incrementing":6}', 1)
    offsets.read(b'["d",{"table":"t"}]', b'{"incrementing":7}', 2)
    assert sorted(offsets.load("c"), key=str) == [
        {"partition": {"protocol": "1", "table": "t"}, "offset": {"incrementing": 5}},
        {"partition": {"table": "u"}, "offset": {"incrementing": 6}},
    ]
    offsets.save("c", [{"partition": {"table": "u"}, "offset": {"incrementing": 8}}])
    offsets.save("c", [{"partition": {"table": "new"}, "offset": {"incrementing": 1}}])
    offsets.save("d", [{"partition": {"table": "t"}, "offset": None}])
    log.read()
    assert log.records == [
        ('["c", {"table": "u"}]', {"incrementing": 8}),
        ('["c",{"table":"new"}]', {"incrementing": 1}),
        ('["d",{"table":"t"}]', None),
    ]
    assert offsets.load("d") == []


UMLAUT = {"filename": "/tmp/ü.txt"}
PLAIN, ESCAPED = '["c",{"filename":"/tmp/ü.txt"}]'.encode(), b'["c",{"filename":"/tmp/\\u00fc.txt"}]'


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["in time", "out of time"])
def test_of_two_keys_for_one_partition_the_later_record_counts(order: tuple[int, int]) -> None:
    offsets = TopicOffsetStore()
    log = ListLog(offsets)
    # They may be in different partitions of the topic, which are read in any order.
    records = [(ESCAPED, b'{"position":9000}', 5, 1000), (PLAIN, b'{"position":10}', 3, 2000)]
    for one in order:
        offsets.read(*records[one])
    assert offsets.load("c") == [{"partition": UMLAUT, "offset": {"position": 10}}]
    offsets.save("c", [{"partition": UMLAUT, "offset": {"position": 11}}])
    assert log.records == [(ESCAPED.decode(), None), (PLAIN.decode(), {"position": 11})]


def test_a_reset_counts_for_all_keys_of_a_partition() -> None:
    offsets = TopicOffsetStore()
    log = ListLog(offsets)
    offsets.read(PLAIN, None, 1, 2000)
    offsets.read(ESCAPED, b'{"position":9000}', 1, 1000)
    assert offsets.load("c") == []
    offsets.read(ESCAPED, b'{"position":9000}', 2, 3000)
    offsets.save("c", [{"partition": UMLAUT, "offset": None}])
    assert log.records == [(ESCAPED.decode(), None)]
    assert offsets.load("c") == []


def test_partitions_are_spelled_as_in_the_topic() -> None:
    """As Java's connectors order them: tasks write the key again, and compaction compares bytes."""
    offsets = TopicOffsetStore()
    ListLog(offsets)
    key = b'["c",{"server":"s","database":"d"}]'
    offsets.read(key, b'{"n":1}', 0, 1)
    (entry,) = offsets.load("c")
    assert offset_key("c", entry["partition"]) == key


@pytest.mark.parametrize("content", [[], "x", 1, {"properties": []}, {"properties": None}, {}])
@pytest.mark.parametrize("key", ["target-state-x", "connector-x", "task-x-0", "task-x-", "commit-x", "penstock-leader"])
def test_records_of_other_shapes_do_not_end_the_reading(configs: TopicConfigStore, key: str, content: object) -> None:
    log = object.__new__(CompactedLog)
    log.topic, log._on_record, log._reached, log._news = "t", configs.read, {0: 0}, threading.Condition()
    configs.read(b"connector-x", b'{"properties": {"name": "x"}}', 0)
    log._take(Record(key.encode(), json.dumps(content).encode()))
    assert log._reached == {0: 2}
    entry = configs.get("x")
    assert entry is not None
    assert entry.config == {"name": "x"}


class Record:
    """A message of a topic."""

    def __init__(self, key: bytes, value: bytes) -> None:
        self.key, self.value = lambda: key, lambda: value

    def error(self) -> None: ...

    def offset(self) -> int:
        return 1

    def partition(self) -> int:
        return 0

    def timestamp(self) -> tuple[int, int]:
        return 1, 0
