"""A task: its stores, what a commit keeps, and the records it does not read."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import ContextualProcessor, Record, StreamsBuilder, StreamsError, Topology
from penstock.interpreter import task as task_module
from penstock.interpreter.sink import Collector
from penstock.interpreter.task import Task
from penstock.optimizer.combine_before_shuffle import combine_before_shuffle
from penstock.runtime.settings import Settings
from penstock.state.bytes_store import MemoryBytesStore


class Collected(Collector):
    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []

    def send(self, topic: str, key: Any, value: Any, timestamp: int, headers: Any, partition: Any) -> None:
        self.sent.append((topic, key, value, timestamp))

    def partition_count(self, topic: str) -> int:
        return 1


class Home:
    """Where tasks keep their rows, so that one may go on where another stopped."""

    def __init__(self, topology: Topology, **settings: Any) -> None:
        self.topology = topology
        self.rows: dict[str, MemoryBytesStore] = {}
        self.out = Collected()
        self.config = Settings({key.replace("_", "."): value for key, value in settings.items()}).task_config()

    def task(self, **options: Any) -> Task:
        return Task(
            self.topology,
            config=self.config,
            collector=self.out,
            bytes_store=lambda name: self.rows.setdefault(name, MemoryBytesStore()),
            system_time=lambda: 0,
            **options,
        )


def accept(task: Task, topic: str, *records: tuple[bytes, bytes, int], partition: int = 0) -> None:
    source = task.source(topic, partition)
    source.enter()
    for offset, (key, value, timestamp) in enumerate(records):
        source.accept(offset, timestamp, key, value, None)


def counting() -> Topology:
    builder = StreamsBuilder()
    builder.stream("in").group_by_key().count(name="counts").to_stream().to("out", value_serde="long")
    return builder.build()


def number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def test_a_flush_forwards_what_caches_hold() -> None:
    home = Home(counting())
    task = home.task()
    accept(task, "in", (b"a", b"x", 1), (b"b", b"x", 2), (b"a", b"x", 3))
    assert home.out.sent == []
    task.flush()
    assert [(key, number(value), timestamp) for _, key, value, timestamp in home.out.sent] == [
        (b"b", 1, 2),
        (b"a", 2, 3),
    ]
    task.flush()
    assert len(home.out.sent) == 2


def windowed() -> Topology:
    builder = StreamsBuilder()
    counts = builder.stream("in").group_by_key().tumbling(10).count()
    counts.to_stream(lambda k, v: k.key).to("out", value_serde="long")
    return builder.build()


def in_sessions() -> Topology:
    builder = StreamsBuilder()
    counts = builder.stream("in").group_by_key().session(5).count()
    counts.to_stream(lambda k, v: k.key).to("out", value_serde="long")
    return builder.build()


@pytest.mark.parametrize("topology", [counting(), windowed(), in_sessions()], ids=["keys", "windows", "sessions"])
def test_caches_that_hold_much_are_flushed_in_the_middle(topology: Topology, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_module, "MAX_HELD", 3)
    home = Home(topology)
    task = home.task()
    accept(task, "in", (b"a", b"x", 1), (b"b", b"x", 2))
    task.relieve()
    assert home.out.sent == []
    accept(task, "in", (b"c", b"x", 3))
    task.relieve()
    assert [(key, number(value)) for _, key, value, _ in home.out.sent] == [(b"a", 1), (b"b", 1), (b"c", 1)]
    accept(task, "in", (b"a", b"x", 4))
    task.relieve()
    assert len(home.out.sent) == 3
    task.flush()
    assert [(key, number(value)) for _, key, value, _ in home.out.sent if value][3:] == [(b"a", 2)]


def test_partial_aggregates_count_as_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_module, "MAX_HELD", 2)
    builder = StreamsBuilder()
    builder.stream("in").group_by(lambda k, v: k).count(name="counts").to_stream().to("out", value_serde="long")
    home = Home(combine_before_shuffle(builder.build()))
    task = home.task()
    accept(task, "in", (b"a", b"x", 1), (b"a", b"x", 2))
    task.relieve()
    assert home.out.sent == []
    accept(task, "in", (b"b", b"x", 3))
    task.relieve()
    assert [(key, number(value)) for _, key, value, _ in home.out.sent] == [(b"a", 2), (b"b", 1)]


def test_without_caches_everything_is_forwarded_at_once() -> None:
    home = Home(counting(), statestore_cache_max_bytes=0)
    accept(home.task(), "in", (b"a", b"x", 1), (b"a", b"x", 3))
    assert [number(value) for _, _, value, _ in home.out.sent] == [1, 2]


def test_another_task_goes_on_over_the_same_rows() -> None:
    home = Home(counting())
    first = home.task()
    accept(first, "in", (b"a", b"x", 70))
    first.flush()
    kept = first.commit_metadata()
    first.close()
    second = home.task(metadata=kept)
    assert second.context.stream_time == 70
    accept(second, "in", (b"a", b"x", 1))
    second.flush()
    assert number(home.out.sent[-1][2]) == 2


def test_a_commit_keeps_the_clocks_of_partitions_and_the_last_closed_windows() -> None:
    builder = StreamsBuilder()
    builder.stream("in", "other").group_by_key().tumbling(10).count(name="counts", emit="close").to_stream().to("out")
    home = Home(builder.build())
    task = home.task()
    accept(task, "in", (b"a", b"x", 25), partition=3)
    accept(task, "other", (b"a", b"x", 7))
    kept = task.commit_metadata()
    assert kept["stream time"] == 25
    assert kept["partition time in-3"] == 25
    assert kept["partition time other-0"] == 7
    later = home.task(metadata=kept)
    assert later.commit_metadata() == kept


def test_operator_clocks_can_be_carried_over() -> None:
    builder = StreamsBuilder()
    windows = builder.stream("in").group_by_key().tumbling(10)
    windows.count(name="counts", retention="1h").to_stream().to("out", value_serde="long")
    home = Home(builder.build(), statestore_cache_max_bytes=0)
    first = home.task()
    accept(first, "in", (b"a", b"x", 50))
    assert list(first.operator_clocks().values()) == [50]
    forgetful, careful = home.task(), home.task()
    careful.set_operator_clocks(first.operator_clocks())
    accept(careful, "in", (b"a", b"x", 5))
    assert careful.context.dropped == {"late for its window": 1}
    accept(forgetful, "in", (b"a", b"x", 5))
    assert forgetful.context.dropped == {}


def test_a_task_has_the_nodes_it_is_given() -> None:
    builder = StreamsBuilder()
    builder.stream("in").group_by(len, key_serde="long", name="by-length").count(name="counts")
    topology = builder.build()
    above, below = topology.subtopologies()
    home = Home(topology, application_id="app")
    first, second = (home.task(nodes=part.nodes, task_id=f"{i}_0") for i, part in enumerate((above, below)))
    assert (list(first.stores), list(second.stores)) == ([], ["counts"])
    accept(first, "in", (b"a", b"xyz", 1))
    ((topic, key, value, timestamp),) = home.out.sent
    accept(second, topic, (key, value, timestamp))
    assert topic == "app-by-length-repartition"
    assert second.stores["counts"].get(3) == (1, 1)


def test_a_topic_it_does_not_read() -> None:
    with pytest.raises(StreamsError) as caught:
        Home(counting()).task(task_id="1_4").source("out", 0)
    assert str(caught.value) == "task 1_4 got a record of topic 'out', which it does not read. Its topics: in."


def test_wall_clock_punctuators_run_when_they_are_due() -> None:
    times: list[int] = []

    class Tick(ContextualProcessor[Any, Any, Any, Any]):
        def init(self, context: Any) -> None:
            context.schedule(10, "wall", times.append)

        def process(self, record: Record[Any, Any]) -> None:
            """Only ticks count."""

    builder = StreamsBuilder()
    builder.stream("in").process(Tick)
    home = Home(builder.build())
    now = 5
    task = Task(
        home.topology,
        config=home.config,
        collector=home.out,
        bytes_store=lambda name: MemoryBytesStore(),
        system_time=lambda: now,
    )
    assert (task.punctuate_wall_clock(), times) == (False, [])
    now = 15
    assert (task.punctuate_wall_clock(), times) == (True, [15])


def test_a_value_that_a_store_cannot_write_is_told_with_the_operators_name() -> None:
    builder = StreamsBuilder()
    builder.stream("in").group_by_key().aggregate(0, lambda value, total: total + 1, name="total")
    task = Home(builder.build()).task()
    accept(task, "in", (b"a", b"x", 1))
    with pytest.raises(StreamsError, match=r"the string serde cannot write int 1 .*\(node total, task 0_0"):
        task.flush()


def test_a_request_for_a_commit_is_noted() -> None:
    class Ask(ContextualProcessor[Any, Any, Any, Any]):
        def process(self, record: Record[Any, Any]) -> None:
            self.context.commit()

    builder = StreamsBuilder()
    builder.stream("in").process(Ask)
    task = Home(builder.build()).task()
    before = task.services.commit_requested
    accept(task, "in", (b"a", b"x", 1))
    assert (before, task.services.commit_requested) == (False, True)
