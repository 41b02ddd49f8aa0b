"""State that is lost comes back from changelogs, and results go on as if nothing had happened."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from penstock import (
    EmitStrategy,
    JoinWindows,
    SessionWindows,
    SlidingWindows,
    Stores,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
)
from penstock.broker import LocalBroker
from penstock.errors import ProcessorStateError
from penstock.interpreter import task
from penstock.kafka.consumer_group import GroupOffset
from penstock.kafka.ranges import read_range
from penstock.spark.restore import restore_lost_state
from penstock.spark.task_restore import RestoreListener
from penstock.spark.tasks import changelog, inputs
from tests.conftest import TopicFactory
from tests.spark.application import Kafka
from tests.spark.in_process import InProcess

pytestmark = [pytest.mark.broker]
TEXT: dict[str, Any] = {"key_serde": "string", "value_serde": "string"}
Build = Callable[[StreamsBuilder, str, str], None]


def counts(builder: StreamsBuilder, source: str, target: str) -> None:
    builder.stream(source, **TEXT).group_by_key(**TEXT).count(store="counts").to_stream().to(target)


def shuffled(builder: StreamsBuilder, source: str, target: str) -> None:
    builder.stream(source, **TEXT).group_by(lambda v: v[:1], **TEXT).count(store="counts").to_stream().to(target)


def every_update(builder: StreamsBuilder, source: str, target: str) -> None:
    grouped = builder.stream(source, **TEXT).group_by_key(**TEXT)
    grouped.reduce(lambda a, b: a + b, store="joined", cache="off").to_stream().to(target)


def windows(builder: StreamsBuilder, source: str, target: str) -> None:
    windowed = builder.stream(source, **TEXT).group_by_key(**TEXT).windowed_by(TimeWindows("1s", grace="2s"))
    windowed.count(store="counts").to_stream(lambda w, v: str(w)).to(target, key_serde="string", value_serde="long")


def sliding(builder: StreamsBuilder, source: str, target: str) -> None:
    grouped = builder.stream(source, **TEXT).group_by_key(**TEXT)
    windowed = grouped.windowed_by(SlidingWindows("1s", grace="2s"))
    windowed.count(store="counts").to_stream(lambda w, v: str(w)).to(target, key_serde="string", value_serde="long")


def closed_windows(builder: StreamsBuilder, source: str, target: str) -> None:
    windowed = builder.stream(source, **TEXT).group_by_key(**TEXT).windowed_by(TimeWindows("1s", grace="500ms"))
    closed = windowed.emit_strategy(EmitStrategy.on_window_close()).count(store="counts")
    closed.to_stream(lambda w, v: str(w)).to(target, key_serde="string", value_serde="long")


def sessions(builder: StreamsBuilder, source: str, target: str) -> None:
    windowed = builder.stream(source, **TEXT).group_by_key(**TEXT).windowed_by(SessionWindows("1s", grace="2s"))
    windowed.count(store="counts").to_stream(lambda w, v: str(w)).to(target, key_serde="string", value_serde="long")


def suppressed(builder: StreamsBuilder, source: str, target: str) -> None:
    windowed = builder.stream(source, **TEXT).group_by_key(**TEXT).windowed_by(TimeWindows("1s", grace="1s"))
    counted = windowed.count(store="counts")
    final = counted.suppress(Suppressed.until_window_closes(), name="final")
    final.to_stream(lambda w, v: str(w)).to(target, key_serde="string", value_serde="long")


def outer_join(builder: StreamsBuilder, source: str, target: str) -> None:
    stream = builder.stream(source, **TEXT)
    left, right = stream.filter(lambda v: v < "m"), stream.filter(lambda v: v >= "m")
    within = JoinWindows("500ms", "500ms", grace="1s")
    left.outer_join(right, lambda a, b: f"{a}+{b}", within, store="pairs", **TEXT).to(target)


def table_join(builder: StreamsBuilder, source: str, target: str) -> None:
    stream = builder.stream(source, **TEXT)
    table = stream.filter(lambda v: v < "m").to_table(store="table")
    stream.filter(lambda v: v >= "m").join(table, lambda a, b: f"{a}+{b}", **TEXT).to(target)


def versioned_join(builder: StreamsBuilder, source: str, target: str) -> None:
    stream = builder.stream(source, **TEXT)
    table = stream.filter(lambda v: v < "m").to_table(store="table", versioned="1m")
    stream.filter(lambda v: v >= "m").join(table, lambda a, b: f"{a}+{b}", name="late", grace="1s", **TEXT).to(target)


def foreign_key_join(builder: StreamsBuilder, source: str, target: str) -> None:
    stream = builder.stream(source, **TEXT)
    left = stream.filter(lambda v: v < "m").to_table(store="left")
    right = stream.filter(lambda v: v >= "m").select_key(lambda v: v[:1]).to_table(store="right", **TEXT)
    joined = left.left_join(right, lambda a, b: f"{a}+{b}", on=lambda v: chr(ord(v[0]) + 12), name="fk", store="both")
    joined.to_stream().to(target, **TEXT)


class Remembering:
    """Forwards how often a key was seen, and when last; keeps both in a store of its own."""

    def init(self, context: Any) -> None:
        self.context = context
        self.seen = context.get_state_store("seen")

    def process(self, record: Any) -> None:
        last = self.seen.get(record.key)
        self.seen.put(record.key, record.value)
        self.context.forward(record.with_value(f"{record.value} after {last}"))


def own_store(builder: StreamsBuilder, source: str, target: str) -> None:
    builder.add_state_store(
        Stores.key_value_store_builder(Stores.persistent_key_value_store("seen"), "string", "string")
    )
    builder.stream(source, **TEXT).process(Remembering, "seen").to(target, **TEXT)


TOPOLOGIES: list[Build] = [
    counts, shuffled, every_update, windows, sliding, closed_windows, sessions, suppressed, outer_join, table_join,
    versioned_join, foreign_key_join, own_store,
]  # fmt: skip


# Changelogs of windows are deleted by the time of their records, by a broker that looks at them from time to time.
AN_HOUR_AGO = int(time.time() - 3600) * 1000


def records(round_: int) -> list[tuple[str, str, int]]:
    """Input with a little disorder in time; a round goes on where the one before ended."""
    numbers = range(40 * round_, 40 * round_ + 40)
    return [
        (f"k{n * 7 % 5}", f"{chr(97 + (n * 11 + n // 7) % 24)}{n}", AN_HOUR_AGO + n * 150 + (n * 37 % 5) * 90)
        for n in numbers
    ]


@pytest.fixture
def kafka(broker: LocalBroker) -> Kafka:
    return Kafka(broker.bootstrap_servers)


@pytest.fixture
def make(kafka: Kafka, tmp_path: Path) -> Callable[..., InProcess]:
    def start(build: Build, source: str, target: str, name: str, **settings: Any) -> InProcess:
        builder = StreamsBuilder()
        build(builder, source, target)
        options = {"penstock_changelogs": "all", **settings}
        return InProcess(
            builder,
            tmp_path / name,
            bootstrap_servers=kafka.settings["bootstrap.servers"],
            application_id=name,
            **options,
        )

    return start


def output(kafka: Kafka, topic: str) -> list[tuple[Any, ...]]:
    return [(m.partition(), m.key(), m.value(), m.timestamp()[1]) for m in kafka.read_settled(topic)]


@pytest.mark.parametrize("build", TOPOLOGIES, ids=lambda build: build.__name__)
def test_results_go_on_as_if_nothing_was_lost(
    build: Build, kafka: Kafka, topic: TopicFactory, make: Callable[..., InProcess]
) -> None:
    source, straight, broken = topic("in", partitions=2), topic("straight"), topic("broken")
    apps: dict[str, InProcess] = {}
    for round_ in range(3):
        kafka.send(source, *records(round_))
        for target in (straight, broken):
            name = f"{build.__name__}-{target}".replace("_", "-").lower()[-80:]
            if target == broken and round_ > 0:
                apps[target].lose_state()
            if target not in apps or target == broken:
                apps[target] = make(build, source, target, name)
            assert apps[target].batches() == 1
    assert output(kafka, broken) == output(kafka, straight)
    assert len(output(kafka, straight)) > 10


@pytest.mark.parametrize("build", [counts, shuffled, every_update, windows, sessions], ids=lambda build: build.__name__)
def test_a_batch_that_goes_out_in_parts_is_restored_like_any_other(
    build: Build, kafka: Kafka, topic: TopicFactory, make: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Caches are flushed every five records, and changelogs get four changes at a time."""
    source, whole, parts = topic("in", partitions=2), topic("whole"), topic("parts")
    for round_ in range(2):
        kafka.send(source, *records(round_))
        make(build, source, whole, f"whole-{source}").batches()
        with monkeypatch.context() as patch:
            for module, name, value in ((task, "MAX_HELD", 1), (changelog, "_MANY", 3), (inputs, "CHUNK_RECORDS", 5)):
                patch.setattr(module, name, value)
            patch.setattr(inputs, "read_range", partial(read_range, chunk_records=5))
            app = make(build, source, parts, f"parts-{source}")
            app.batches()
            app.lose_state()
    last = [{m.key(): (m.value(), m.timestamp()[1]) for m in kafka.read_settled(target)} for target in (whole, parts)]
    # A session that grew within a batch is seen in parts only, and then taken back.
    assert {key: row for key, row in last[0].items() if row[0]} == {key: row for key, row in last[1].items() if row[0]}
    if build is not every_update:
        assert len(kafka.read_settled(parts)) > len(kafka.read_settled(whole))


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
def test_with_either_guarantee_and_only_named_stores(
    guarantee: str, kafka: Kafka, topic: TopicFactory, make: Callable[..., InProcess]
) -> None:
    source, target = topic("in", partitions=2), topic("out")
    settings = {"penstock_changelogs": "named", "processing_guarantee": guarantee}
    name = f"named-{target}"
    kafka.send(source, *records(0))
    app = make(counts, source, target, name, **settings)
    app.batches()
    app.lose_state()
    kafka.send(source, *records(1))
    again = make(counts, source, target, name, **settings)
    again.batches()
    last = {m.key(): int.from_bytes(m.value(), "big") for m in kafka.read_settled(target)}
    assert last == {f"k{i}".encode(): 16 for i in range(5)}
    described = kafka.admin.describe_topic(f"{name}-counts-changelog")
    assert described.configs["cleanup.policy"] == "compact"
    assert len(described.partitions) == 2


def test_a_batch_that_was_cut_off_after_its_commit_is_not_done_twice(
    kafka: Kafka, topic: TopicFactory, make: Callable[..., InProcess]
) -> None:
    """Spark did not note the batch as done, the task had committed it, and then the state was lost."""
    source, target = topic("in", partitions=2), topic("out")
    kafka.send(source, *records(0))
    name = f"cut-{target}"
    app = make(counts, source, target, name, processing_guarantee="exactly_once_v2")
    app.batches()
    kafka.send(source, *records(1))
    assert app.batch(commit=False)
    app.lose_state()
    again = make(counts, source, target, name, processing_guarantee="exactly_once_v2")
    kafka.send(source, *records(2))
    assert again.batches() == 2
    assert [int.from_bytes(m.value(), "big") for m in kafka.read_settled(target) if m.key() == b"k0"] == [8, 16, 24]


def test_but_where_others_wait_for_its_rows_it_cannot_be_rebuilt(
    kafka: Kafka, topic: TopicFactory, make: Callable[..., InProcess]
) -> None:
    def build(builder: StreamsBuilder, source: str, target: str) -> None:
        counted = builder.stream(source, **TEXT).group_by_key(**TEXT).count(store="first")
        again = counted.to_stream().map(lambda k, v: ("all", str(v))).group_by_key(**TEXT)
        again.count(store="second").to_stream().to(target)

    source, target = topic("in"), topic("out")
    kafka.send(source, *records(0))
    name = f"deep-{target}"
    app = make(build, source, target, name, processing_guarantee="exactly_once_v2")
    app.batches()
    kafka.send(source, *records(1))
    app.batch(commit=False)
    app.lose_state()
    with pytest.raises(
        ProcessorStateError, match=r"the state of task 0_0 cannot be rebuilt: its last batch was cut off"
    ):
        make(build, source, target, name, processing_guarantee="exactly_once_v2")


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
def test_a_lost_checkpoint_goes_on_from_the_group(
    guarantee: str, kafka: Kafka, topic: TopicFactory, make: Callable[..., InProcess]
) -> None:
    source, target = topic("in", partitions=2), topic("out")
    kafka.send(source, *records(0))
    name = f"gone-{target}"
    settings = {"processing_guarantee": guarantee, "penstock_restore": "changelog"}
    app = make(counts, source, target, name, **settings)
    app.batches()
    ends = kafka.admin.end_offsets([(source, 0), (source, 1)])
    shutil.rmtree(app.folder)
    with pytest.raises(ProcessorStateError, match="has no offsets that would say how far it came"):
        make(counts, source, target, name, **settings)
    shutil.rmtree(app.folder)
    kafka.admin.set_group_offsets(name, {at: GroupOffset(end) for at, end in ends.items()})
    kafka.send(source, *records(1))
    again = make(counts, source, target, name, **settings)
    assert again.batches() == 1
    assert make(counts, source, target, name, **settings).batches() == 0
    last = {m.key(): int.from_bytes(m.value(), "big") for m in kafka.read_settled(target)}
    assert last == {f"k{i}".encode(): 16 for i in range(5)}


def test_and_not_from_where_it_first_started(
    kafka: Kafka, topic: TopicFactory, make: Callable[..., InProcess], caplog: pytest.LogCaptureFixture
) -> None:
    """The setting of the first start is still there: what it names was counted long ago."""
    source, target = topic("in", partitions=2), topic("out")
    kafka.send(source, *records(0))
    name = f"again-{target}"
    settings = {"penstock_restore": "changelog", "penstock_start_offsets": {source: "earliest"}}
    app = make(counts, source, target, name, **settings)
    assert app.job.start["positions"] == {source: "earliest"}, "it counts for the first start"
    app.batches()
    ends = kafka.admin.end_offsets([(source, 0), (source, 1)])
    kafka.admin.set_group_offsets(name, {at: GroupOffset(end) for at, end in ends.items()})
    shutil.rmtree(app.folder)
    kafka.send(source, *records(1))
    assert "penstock.start.offsets" not in caplog.text
    again = make(counts, source, target, name, **settings)
    assert again.batches() == 1
    last = {m.key(): int.from_bytes(m.value(), "big") for m in kafka.read_settled(target)}
    assert last == {f"k{i}".encode(): 16 for i in range(5)}
    assert f"penstock.start.offsets does not count for {source}: the checkpoint of {name} is gone" in caplog.text


def test_lost_stores_without_a_changelog_are_not_passed_over(
    kafka: Kafka, topic: TopicFactory, make: Callable[..., InProcess]
) -> None:
    source, target = topic("in"), topic("out")
    kafka.send(source, *records(0))
    name = f"none-{target}"
    app = make(counts, source, target, name, penstock_changelogs="none")
    app.batches()
    app.lose_state()
    with pytest.raises(ProcessorStateError) as raised:
        make(counts, source, target, name, penstock_changelogs="none")
    assert "/checkpoint/state is missing, and these stores have no changelog: counts. Restore the folder" in str(
        raised.value
    )
    empty = make(counts, source, target, name, penstock_changelogs="none", penstock_restore="empty")
    kafka.send(source, ("k0", "x", 1))
    empty.batches()
    assert int.from_bytes(kafka.read_settled(target)[-1].value(), "big") == 1


def test_a_table_that_reuses_its_topic_is_restored_as_far_as_it_was_read(
    kafka: Kafka, topic: TopicFactory, make: Callable[..., InProcess]
) -> None:
    source, target = topic("in"), topic("out")

    def build(builder: StreamsBuilder, source: str, target: str) -> None:
        builder.table(source, store="table", **TEXT).filter(lambda v: True, store="copy").to_stream().to(target)

    settings = {"topology_optimization": "all"}
    kafka.send(source, *records(0))
    app = make(build, source, target, f"reuse-{target}", **settings)
    app.batches()
    assert f"reuse-{target}-table-changelog" not in kafka.admin.topics()
    app.lose_state()
    kafka.send(source, ("k0", "changed", 1))
    told = Told()
    again = make(build, source, target, f"reuse-{target}", **settings)
    shutil.rmtree(again.checkpoint / "state")
    restore_lost_state(again.job, kafka.admin, told)
    assert ("start", (source, 0), "table", 0, 40) in told.calls, "not the record that is still to be processed"
    again.batches()
    assert [m.value() for m in kafka.read_settled(target)][-1] == b"changed"


class Told(RestoreListener):
    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def on_restore_start(self, partition: tuple[str, int], store: str, start: int, end: int) -> None:
        self.calls.append(("start", partition, store, start, end))

    def on_batch_restored(self, partition: tuple[str, int], store: str, batch_end: int, restored: int) -> None:
        self.calls.append(("batch", partition, store, batch_end, restored))

    def on_restore_end(self, partition: tuple[str, int], store: str, restored: int) -> None:
        self.calls.append(("end", partition, store, restored))


def test_a_listener_hears_of_it(kafka: Kafka, topic: TopicFactory, make: Callable[..., InProcess]) -> None:
    source, target = topic("in"), topic("out")
    kafka.send(source, *records(0))
    app = make(counts, source, target, f"told-{target}")
    app.batches()
    app.lose_state()
    told = Told()
    restore_lost_state(app.restarted(), kafka.admin, told)
    at = (f"told-{target}-counts-changelog", 0)
    assert told.calls == [("start", at, "counts", 0, 5), ("batch", at, "counts", 5, 5), ("end", at, "counts", 5)]
    told.calls.clear()
    restore_lost_state(app.restarted(), kafka.admin, told)
    assert told.calls == [], "once is enough"
