from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.connect.api import OffsetReader, SourceRange, SourceTask
from penstock.connect.data import SourceRecord
from penstock.connect.errors import ConnectError
from penstock.connect.spark import source_host
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.sink_planner import SinkPlanner, share
from penstock.connect.spark.source_host import SourceHost
from penstock.connect.spark.source_offsets import OffsetsFile, SharedOffsets
from penstock.connect.spark.source_planner import SourcePlanner
from penstock.connect.validation import ConnectorKind
from penstock.kafka.admin import TopicSummary
from penstock.kafka.consumer_group import GroupOffset
from penstock.kafka.errors import TopicMissing


class Kafka:
    """Topics with first and last offsets, and one group."""

    def __init__(self, **ends: list[int]) -> None:
        self.ends = {(topic, p): end for topic, offsets in ends.items() for p, end in enumerate(offsets)}
        self.starts = dict.fromkeys(self.ends, 0)
        self.committed: dict[tuple[str, int], int] = {}

    def topics(self) -> dict[str, TopicSummary]:
        names = sorted({topic for topic, _ in self.ends})
        return {n: TopicSummary(n, sum(t == n for t, _ in self.ends), 1, n.startswith("__")) for n in names}

    def start_offsets(self, partitions: Any) -> dict[tuple[str, int], int]:
        return {at: self.starts[at] for at in partitions}

    def end_offsets(self, partitions: Any, *, committed: bool = False) -> dict[tuple[str, int], int]:
        missing = [at for at in partitions if at not in self.ends]
        if missing:
            raise TopicMissing(missing[0][0])
        return {at: self.ends[at] for at in partitions}

    def group_offsets(self, group: str, partitions: Any) -> dict[tuple[str, int], GroupOffset]:
        return {at: GroupOffset(self.committed[at]) for at in partitions if at in self.committed}

    def set_group_offsets(self, group: str, offsets: Mapping[tuple[str, int], GroupOffset]) -> None:
        self.committed |= {at: found.offset for at, found in offsets.items()}


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def sink_job(tasks: int = 1, consumer: dict[str, str] | None = None, **config: str) -> ConnectJob:
    given = {key.replace("_", "."): value for key, value in config.items()}
    return ConnectJob("run", "s", ConnectorKind.SINK, given, ({},) * tasks, {"consumer": consumer or {}, "admin": {}})


def reported(plans: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"committed": [[t, p, end] for t, p, _, _, end in plan["ranges"]], "topics": []} for plan in plans]


def test_a_topic_that_is_gone_when_a_batch_is_committed_is_told_with_how_far_it_was_read() -> None:
    class Gone(Kafka):
        def set_group_offsets(self, group: str, offsets: Mapping[tuple[str, int], GroupOffset]) -> None:
            raise TopicMissing("t")

    planner = SinkPlanner(sink_job(topics="t"), Gone(t=[3, 0]), Time())
    plans = planner.next()
    with pytest.raises(ConnectError, match=r"The topic t, which connector s has read to \{0: 3, 1: 0\}"):
        planner.done(plans, reported(plans))


def test_a_sink_reads_what_is_there_and_commits_it() -> None:
    kafka = Kafka(t=[3, 0])
    planner = SinkPlanner(sink_job(topics="t"), kafka, Time())
    plans = planner.next()
    assert plans == [{"task": 0, "batch": 0, "ranges": [["t", 0, 0, 0, 3]]}]
    assert planner.topics(plans) == {"t"}
    planner.done(plans, reported(plans))
    assert kafka.committed == {("t", 0): 3}
    assert planner.next() == []
    kafka.ends["t", 1] = 2
    assert planner.next() == [{"task": 0, "batch": 1, "ranges": [["t", 1, 0, 0, 2]]}]


def test_a_sink_goes_on_where_its_group_stands_and_a_task_that_lags_is_told() -> None:
    kafka = Kafka(t=[10])
    kafka.committed["t", 0] = 4
    planner = SinkPlanner(sink_job(topics="t"), kafka, Time())
    plans = planner.next()
    assert plans[0]["ranges"] == [["t", 0, 4, 4, 10]]
    planner.done(plans, [{"committed": [["t", 0, 6]], "topics": []}])
    kafka.ends["t", 0] = 12
    assert planner.next()[0]["ranges"] == [["t", 0, 6, 10, 12]]
    assert kafka.committed == {("t", 0): 6}


def test_a_batch_that_failed_is_planned_again() -> None:
    planner = SinkPlanner(sink_job(topics="t"), Kafka(t=[3]), Time())
    assert [plan["ranges"] for plan in planner.next()] == [plan["ranges"] for plan in planner.next()]


def test_partitions_are_divided_between_tasks() -> None:
    planner = SinkPlanner(sink_job(tasks=2, topics="a, b"), Kafka(a=[1, 1], b=[1]), Time())
    found = {plan["task"]: [r[:2] for r in plan["ranges"]] for plan in planner.next()}
    assert found == {0: [["a", 0], ["b", 0]], 1: [["a", 1]]}


def test_topics_by_regex_come_and_internal_ones_do_not() -> None:
    time, kafka = Time(), Kafka(orders_1=[1], __orders_x=[5], other=[1])
    planner = SinkPlanner(sink_job(topics_regex=".*orders.*"), kafka, time)
    plans = planner.next()
    assert planner.topics(plans) == {"orders_1"}
    planner.done(plans, reported(plans))
    kafka.ends["orders_2", 0] = 1
    kafka.starts["orders_2", 0] = 0
    assert planner.next() == []
    time.now = 10
    assert planner.topics(planner.next()) == {"orders_2"}


def test_a_topic_that_is_missing_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    planner = SinkPlanner(sink_job(topics="nope"), Kafka(t=[1]), Time())
    assert planner.next() == []
    assert "waits for the topic nope" in caplog.text


@pytest.mark.parametrize(("policy", "begin"), [("earliest", 2), ("latest", 9)])
def test_partitions_without_offset_begin_as_the_policy_says(policy: str, begin: int) -> None:
    kafka = Kafka(t=[9])
    kafka.starts["t", 0] = 2
    planner = SinkPlanner(sink_job(consumer={"auto.offset.reset": policy}, topics="t"), kafka, Time())
    planner.next()
    kafka.ends["t", 0] = 10
    assert planner.next()[0]["ranges"] == [["t", 0, begin, begin, 10]]


def test_no_policy_is_an_error() -> None:
    planner = SinkPlanner(sink_job(consumer={"auto.offset.reset": "none"}, topics="t"), Kafka(t=[9]), Time())
    with pytest.raises(ConnectError, match=r"no offset for t-0, and auto.offset.reset is none"):
        planner.next()


def test_a_topic_that_was_deleted_is_named_with_what_was_read() -> None:
    kafka = Kafka(t=[3], u=[1])
    planner = SinkPlanner(sink_job(topics="t,u"), kafka, Time())
    plans = planner.next()
    planner.done(plans, reported(plans))
    del kafka.ends["t", 0]
    with pytest.raises(ConnectError, match=r"topic t, which connector s has read to \{0: 3\}.* is gone"):
        planner.next()


def test_a_topic_that_was_made_again_is_not_read_as_if_nothing_had_happened() -> None:
    kafka = Kafka(t=[30])
    kafka.committed["t", 0] = 40
    with pytest.raises(ConnectError, match="deleted and made again"):
        SinkPlanner(sink_job(topics="t"), kafka, Time()).next()


def test_records_that_retention_removed_are_skipped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    kafka = Kafka(t=[30])
    kafka.committed["t", 0] = 5
    kafka.starts["t", 0] = 20
    planner = SinkPlanner(sink_job(topics="t"), kafka, Time())
    assert planner.next()[0]["ranges"] == [["t", 0, 20, 20, 30]]
    assert "offsets 5 to 20 of t-0 are gone" in caplog.text


def test_idle_waits_grow_with_the_time_and_end_with_data() -> None:
    time, kafka = Time(), Kafka(t=[0])
    planner = SinkPlanner(sink_job(topics="t"), kafka, time)
    waits = []
    for now in (0.0, 1.0, 5.0, 15.0, 100.0):
        time.now = now
        waits.append(planner.idle_ms)
    assert waits == [20, 20, 100, 300, 500]
    kafka.ends["t", 0] = 1
    planner.next()
    assert planner.idle_ms == 20


def test_a_budget_is_shared() -> None:
    assert share({("t", 0): 100, ("t", 1): 1, ("t", 2): 100}, 21) == {("t", 1): 1, ("t", 0): 10, ("t", 2): 10}
    assert sum(share({("t", p): 5 for p in range(10)}, 3).values()) >= 3


class Numbers(SourceTask):
    """A source of numbers up to a limit that tests raise."""

    limit = 0

    def plan(self, offsets: OffsetReader) -> Sequence[SourceRange]:
        done = offsets.offset({"part": "a"})
        begin = 0 if done is None else done["n"]
        return [] if begin >= self.limit else [SourceRange({"part": "a"}, done, {"n": self.limit})]

    def read(self, wanted: SourceRange) -> Iterator[SourceRecord]:
        return iter(())

    def commit(self, delivered: Sequence[SourceRange]) -> None:
        self.delivered = list(delivered)


def test_a_source_goes_on_behind_what_was_read(tmp_path: Path) -> None:
    published: list[Any] = []
    task = Numbers({})
    planner = SourcePlanner([task], OffsetsFile(tmp_path / "c", published.append))
    assert planner.next() == []
    task.limit = 5
    plans = planner.next()
    assert plans == [{"task": 0, "batch": 0, "ranges": [[{"part": "a"}, None, {"n": 5}]]}]
    planner.done(plans, [])
    assert task.delivered == [SourceRange({"part": "a"}, None, {"n": 5})]
    assert published == [[{"partition": {"part": "a"}, "offset": {"n": 5}}]]
    task.limit = 7
    assert planner.next() == [{"task": 0, "batch": 1, "ranges": [[{"part": "a"}, {"n": 5}, {"n": 7}]]}]


def test_a_batch_that_was_begun_is_the_first_one_after_a_crash_exactly_as_it_was(tmp_path: Path) -> None:
    task = Numbers({})
    task.limit = 5
    first = SourcePlanner([task], OffsetsFile(tmp_path))
    planned = first.next()
    task.limit = 100
    offsets = OffsetsFile(tmp_path)
    second = SourcePlanner([task], offsets)
    assert second.next() == planned == second.next()
    second.done(planned, [])
    assert second.next()[0]["ranges"] == [[{"part": "a"}, {"n": 5}, {"n": 100}]]
    assert OffsetsFile(tmp_path).incarnation == offsets.incarnation


def test_changed_offsets_begin_a_new_count(tmp_path: Path) -> None:
    offsets = OffsetsFile(tmp_path)
    offsets.done(3, [{"partition": {"b": 1, "a": 2}, "offset": {"n": 1}}])
    before = offsets.incarnation
    offsets.done(4, [{"partition": {"a": 2, "b": 1}, "offset": {"n": 2}}])
    assert offsets.entries() == [{"partition": {"a": 2, "b": 1}, "offset": {"n": 2}}]
    offsets.replace([])
    again = OffsetsFile(tmp_path)
    assert (again.batch, again.entries(), again.planned()) == (-1, [], None)
    assert again.incarnation != before


def test_shared_offsets_are_told_unless_tasks_write_them() -> None:
    told: list[Any] = []
    entry = {"partition": {"part": "a"}, "offset": {"n": 3}}
    task = Numbers({})
    task.limit = 4
    planner = SourcePlanner([task], SharedOffsets(lambda: [entry], told.append))
    plans = planner.next()
    assert plans[0]["ranges"] == [[{"part": "a"}, {"n": 3}, {"n": 4}]]
    planner.done(plans, [])
    assert told == [[{"partition": {"part": "a"}, "offset": {"n": 4}}]]


def test_a_task_that_keeps_records_back_is_asked_again_when_it_said() -> None:
    time, kafka = Time(), Kafka(t=[10], u=[1])
    planner = SinkPlanner(sink_job(tasks=2, topics="t,u"), kafka, time)
    plans = planner.next()
    kept = {"task": 0, "committed": [["t", 0, 4]], "topics": [], "wake_ms": 2000}
    planner.done(plans, [kept, {"task": 1, "committed": [["u", 0, 1]], "topics": [], "wake_ms": None}])
    assert planner.next() == []
    time.now = 2.1
    plans = planner.next()
    assert [(plan["task"], plan["ranges"]) for plan in plans] == [(0, [["t", 0, 4, 10, 10]])]
    planner.done(plans, [{"task": 0, "committed": [["t", 0, 10]], "topics": [], "wake_ms": None}])
    assert kafka.committed["t", 0] == 10
    time.now = 9
    assert planner.next() == []


def test_partitions_stay_with_their_task_when_others_come() -> None:
    time, kafka = Time(), Kafka(m=[1, 1])
    planner = SinkPlanner(sink_job(tasks=2, topics_regex="[a-z]"), kafka, time)
    first = planner.next()
    planner.done(first, reported(first))
    for at in (("a", 0), ("a", 1)):
        kafka.ends[at], kafka.starts[at] = 1, 0
    kafka.ends["m", 0] = kafka.ends["m", 1] = 2
    time.now = 10
    found = {plan["task"]: [r[:2] for r in plan["ranges"]] for plan in planner.next()}
    assert found == {0: [["a", 0], ["m", 0]], 1: [["a", 1], ["m", 1]]}


def test_records_that_are_gone_while_a_task_has_them_in_hand_are_not_asked_for_again() -> None:
    kafka = Kafka(t=[10])
    planner = SinkPlanner(sink_job(topics="t"), kafka, Time())
    planner.done(planner.next(), [{"task": 0, "committed": [["t", 0, 4]], "topics": []}])
    kafka.starts["t", 0], kafka.ends["t", 0] = 7, 12
    assert planner.next()[0]["ranges"] == [["t", 0, 7, 10, 12]]


class TwoFields(Numbers):
    def plan(self, offsets: OffsetReader) -> Sequence[SourceRange]:
        partition = {"database": "ü", "server": "s"}
        return [SourceRange(partition, offsets.offset(partition), {"n": self.limit})]


def test_a_partition_is_written_as_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of the offset topic is made of its fields in their order; Java's connectors have theirs."""
    kept = {"partition": {"server": "s", "database": "ü"}, "offset": {"n": 3}}
    planner = SourcePlanner([TwoFields({})], SharedOffsets(lambda: [kept], None))
    (plan,) = planner.next()
    host = object.__new__(SourceHost)
    host._job = ConnectJob("run", "c", ConnectorKind.SOURCE, {}, ({},), {}, offsets_topic="offsets", commits_topic="t")
    monkeypatch.setattr(SourceHost, "_send", lambda self, producer, plan: None)
    monkeypatch.setattr(source_host, "_settle", lambda producer: None)
    producer = MagicMock()
    host._committer = MagicMock()
    host._transact(producer, plan)
    topic, value, key = producer.produce.call_args.args
    assert (topic, value) == ("offsets", b'{"n":0}')
    assert key == '["c",{"server":"s","database":"ü"}]'.encode()
