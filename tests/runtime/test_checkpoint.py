from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder, Topology
from penstock.errors import TopologyError
from penstock.runtime.checkpoint import Remembered, check_kinds, check_unchanged, recall, remember, write


def counting(name: str = "counts", *, rekeyed: bool = False) -> Topology:
    builder = StreamsBuilder()
    orders = builder.stream("orders")
    grouped = orders.group_by(lambda value: value, name="by-value") if rekeyed else orders.group_by_key()
    grouped.count(name=name).to_stream().to("out", value_serde="long")
    return builder.build()


def test_a_checkpoint_remembers_stores_and_the_partitions_of_repartition_topics(tmp_path: Path) -> None:
    folder = str(tmp_path / "new")
    assert recall(folder) is None
    now = remember(counting(rekeyed=True), {"orders": 3, "by-value-repartition": 3})
    kinds = {"counts": "timestamped key value"}
    sources = {"0": ["orders"], "1": []}
    assert now == Remembered({"counts": 1}, {"by-value-repartition": 3}, [], now.history, kinds, sources)
    write(folder, now)
    assert recall(folder) == now
    check_unchanged(now, now, folder)


def test_a_checkpoint_has_one_history_until_it_is_removed(tmp_path: Path) -> None:
    folder, topology, counts = str(tmp_path), counting(), {"orders": 2}
    write(folder, remember(topology, counts, slots=[2]))
    first = recall(folder)
    assert first is not None
    write(folder, remember(topology, counts, slots=[1], before=first))
    kinds, sources = {"counts": "timestamped key value"}, {"0": ["orders"]}
    assert recall(folder) == Remembered({"counts": 0}, {}, [1], first.history, kinds, sources)
    (tmp_path / "application.json").unlink()
    write(folder, remember(topology, counts, slots=[1], before=recall(folder)))
    after = recall(folder)
    assert after is not None
    assert after.history != first.history


@pytest.mark.parametrize(
    ("before", "now", "difference"),
    [
        (counting("counts"), counting("totals"), "orphaned stores: counts; new stores: totals"),
        (counting("counts"), counting("counts", rekeyed=True), "stores in another task: counts"),
    ],
)
def test_a_topology_that_does_not_fit_the_state_is_refused(before: Topology, now: Topology, difference: str) -> None:
    partitions = {"orders": 1, "by-value-repartition": 1}
    with pytest.raises(TopologyError) as raised:
        check_unchanged(remember(before, partitions), remember(now, partitions), "there")
    assert str(raised.value) == (
        f'the topology does not fit the state in there ({difference}). Give stores names of their own (name="...") so '
        'that they survive edits; set penstock.topology.changed="allow" to go on (new stores start empty, orphaned ones '
        "are kept in case their names come back), or use a new application.id."
    )


def windowed(name: str = "counts", **options: Any) -> Topology:
    builder = StreamsBuilder()
    builder.stream("orders").group_by_key().tumbling("5m").count(name=name, **options).to_stream().to(
        "out", value_serde="long"
    )
    return builder.build()


@pytest.mark.parametrize(
    ("before", "now", "kinds"),
    [
        (counting(), windowed(), "timestamped key value before, timestamped window now"),
        (
            windowed(),
            windowed(emit="close"),
            "timestamped window before, timestamped window emitted when closed now",
        ),
    ],
)
def test_a_store_that_is_of_another_kind_than_its_rows_is_refused(before: Topology, now: Topology, kinds: str) -> None:
    kept = remember(before, {})
    with pytest.raises(TopologyError) as raised:
        check_kinds(kept, remember(now, {}), "there")
    assert str(raised.value) == (
        f"the state in there has stores of these names, but of another kind: counts ({kinds}). Give the store another "
        "name, under which it starts empty, or use a new application.id."
    )
    check_kinds(kept, remember(before, {}), "there")
    check_kinds(Remembered({"counts": 0}, {}), remember(now, {}), "there")  # of an earlier version


def test_what_orphaned_rows_are_is_not_forgotten() -> None:
    first = remember(counting("counts"), {})
    second = remember(counting("totals"), {}, before=first)
    with pytest.raises(TopologyError, match="another kind: counts"):
        check_kinds(second, remember(windowed("counts"), {}, before=second), "there")
