from __future__ import annotations

from pathlib import Path

import pytest

from penstock import StreamsBuilder, Topology
from penstock.errors import TopologyError
from penstock.runtime.checkpoint import Remembered, check_unchanged, recall, remember, write


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
    assert now == Remembered({"counts": 1}, {"by-value-repartition": 3})
    write(folder, now)
    assert recall(folder) == now
    check_unchanged(now, now, folder)


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
        'that they survive edits; set penstock.topology.changed="allow" to start with the changed ones empty, or use a '
        "new application.id."
    )
