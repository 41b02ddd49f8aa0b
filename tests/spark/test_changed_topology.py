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
