"""Another topology over the state of an earlier one: refused, or taken with what still fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import StreamsBuilder, TopologyError
from penstock.broker import LocalBroker
from tests.conftest import TopicFactory
from tests.spark.application import Kafka
from tests.spark.in_process import InProcess

pytestmark = [pytest.mark.broker]


class World:
    """Records of one key, counted."""

    def __init__(self, broker: LocalBroker, topic: TopicFactory, folder: Path) -> None:
        self.kafka = Kafka(broker.bootstrap_servers)
        self.source, self.out = topic("in"), topic("out")
        self._folder = folder

    def count(self, store: str, *, windows: bool = False, changed: str = "refuse") -> None:
        """One more record, counted by a topology whose store has that name."""
        builder = StreamsBuilder()
        grouped = builder.stream(self.source, key_serde="string", value_serde="string").group_by_key()
        counts = grouped.tumbling("5m").count(name=store) if windows else grouped.count(name=store)
        counts.to_stream(lambda key, value: "k").to(self.out, key_serde="string", value_serde="long")
        self.kafka.send(self.source, ("k", "v", 1))
        InProcess(
            builder,
            self._folder,
            bootstrap_servers=self.kafka.settings["bootstrap.servers"],
            application_id=f"app-{self.source}",
            penstock_topology_changed=changed,
        ).batches()

    def results(self) -> list[int]:
        return [int.from_bytes(m.value(), "big") for m in self.kafka.read(self.out)]


@pytest.fixture
def world(broker: LocalBroker, topic: TopicFactory, tmp_path: Path) -> World:
    return World(broker, topic, tmp_path)


def test_new_stores_start_empty_and_orphaned_ones_are_kept(world: World) -> None:
    world.count("counts")
    with pytest.raises(TopologyError, match=r"\(orphaned stores: counts; new stores: totals\)"):
        world.count("totals")
    assert world.results() == [1]
    world.count("totals", changed="allow")
    assert world.results() == [1, 2], "with the record that was refused"
    world.count("counts", changed="allow")
    assert world.results() == [1, 2, 2]


def test_rows_of_another_kind_are_never_taken(world: World) -> None:
    world.count("counts")
    for changed in ("refuse", "allow"):
        with pytest.raises(
            TopologyError, match=r"of another kind: counts \(timestamped key value before, timestamped window"
        ):
            world.count("counts", windows=True, changed=changed)
    world.count("by-window", windows=True, changed="allow")
    assert world.results() == [1, 3]


def copying(out: str, *topics: str) -> StreamsBuilder:
    builder = StreamsBuilder()
    for topic in topics:
        builder.stream(topic, key_serde="bytes", value_serde="bytes").to(out, key_serde="bytes", value_serde="bytes")
    return builder


def test_no_sub_topology_is_taken_for_another_that_has_committed(
    broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    kafka, first, second, third, out = Kafka(broker.bootstrap_servers), topic("1"), topic("2"), topic("3"), topic("out")
    settings = {
        "bootstrap_servers": broker.bootstrap_servers,
        "application_id": f"app-{out}",
        "processing_guarantee": "exactly_once_v2",
    }
    kafka.send(second, ("k", "v", 1))
    InProcess(copying(out, first, second), tmp_path, **settings).batch(commit=False)
    with pytest.raises(TopologyError) as raised:
        InProcess(copying(out, third, first, second), tmp_path, **settings)
    assert str(raised.value).startswith(
        f"the last batch in {tmp_path / 'checkpoint'} was cut off, and sub-topologies have other numbers now: "
        f"0 (read {first} before, reads {third} now); 1 (read {second} before, reads {first} now)"
    )
    InProcess(copying(out, first, second, third), tmp_path, **settings).batches()
    InProcess(copying(out, third, first, second), tmp_path, **settings).batches()
    assert [m.value() for m in kafka.read_settled(out)] == [b"v"]
