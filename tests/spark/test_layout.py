"""Tasks, levels and passes of topologies."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import StreamsBuilder
from penstock.errors import TopologyError
from penstock.spark.layout import Layout, batch_of, lay_out, pass_number

SERDES: Any = {"key_serde": "string", "value_serde": "string"}


def layout(builder: StreamsBuilder, **topics: int) -> Layout:
    return lay_out(builder.build(), topics)


def shape(layout: Layout) -> list[tuple[int, int, tuple[str, ...]]]:
    return [(p.level, p.subtopology, p.topics) for p in layout.passes]


def test_one_sub_topology_is_one_level() -> None:
    builder = StreamsBuilder()
    builder.stream("in", **SERDES).filter(lambda v: True).to("out", **SERDES)
    found = layout(builder, **{"in": 3})
    assert shape(found) == [(0, 0, ("in",))]
    assert found.tasks == {0: 3}
    assert found.levels == 1


def test_a_repartition_is_a_level_with_as_many_partitions_as_its_input() -> None:
    builder = StreamsBuilder()
    builder.stream("in", **SERDES).group_by(lambda v: v, **SERDES).count(name="n").to_stream().to("out")
    found = layout(builder, **{"in": 3})
    assert shape(found) == [(0, 0, ("in",)), (1, 1, ("n-repartition",))]
    assert found.tasks == {0: 3, 1: 3}


def test_a_join_of_a_rekeyed_stream_and_a_table_waits_for_the_stream() -> None:
    builder = StreamsBuilder()
    table = builder.table("table", **SERDES)
    builder.stream("in", **SERDES).select_key(lambda v: v).join(table, lambda a, b: a, name="j", **SERDES).to("out")
    found = layout(builder, **{"in": 2, "table": 5})
    assert found.partitions["j-repartition"] == 5
    joined = next(p for p in found.passes if "table" in p.topics)
    assert joined.level == 1
    assert set(joined.topics) == {"table", "j-repartition"}


def test_a_foreign_key_join_runs_its_left_side_twice() -> None:
    builder = StreamsBuilder()
    left, right = builder.table("left", **SERDES), builder.table("right", **SERDES)
    left.join(right, lambda a, b: a, on=lambda v: v, name="fk").to_stream().to("out", **SERDES)
    found = layout(builder, left=2, right=3)
    passes = {p.topics: (p.level, p.subtopology, p.index) for p in found.passes}
    left_pass = next(v for topics, v in passes.items() if "left" in topics)
    right_pass = next(v for topics, v in passes.items() if "right" in topics)
    answers = next(v for topics, v in passes.items() if any("response" in t for t in topics))
    assert left_pass[0] == 0
    assert right_pass[0] == 1
    assert answers[0] == 2
    assert answers[1] == left_pass[1]
    assert (left_pass[2], answers[2]) == (0, 1)
    assert found.pass_count[left_pass[1]] == 2
    registration = next(t for t in found.partitions if "registration" in t)
    assert found.partitions[registration] == 3


def test_two_sub_topologies_may_read_from_each_other() -> None:
    builder = StreamsBuilder()
    customers, orders = builder.table("customers", **SERDES), builder.stream("orders", **SERDES)
    by_city = customers.group_by(lambda k, v: (v, v), **SERDES).count(name="city")
    orders.join(by_city, lambda a, b: a).to("a", **SERDES)
    orders.select_key(lambda v: v).join(customers, lambda a, b: a, name="j", **SERDES).to("b", **SERDES)
    found = layout(builder, customers=2, orders=2)
    # One of them is enough to break the circle: the other still merges all that it reads by time.
    assert [(level, set(topics)) for level, _, topics in shape(found)] == [
        (0, {"customers"}),
        (1, {"orders", "city-repartition"}),
        (2, {"j-repartition"}),
    ]
    assert [(p.subtopology, p.index) for p in found.passes] == [(0, 0), (1, 0), (0, 1)]


def test_joined_topics_of_different_sizes_are_refused() -> None:
    builder = StreamsBuilder()
    left, right = builder.stream("left", **SERDES), builder.stream("right", **SERDES)
    left.join(right, lambda a, b: a, within="1m").to("out", **SERDES)
    with pytest.raises(TopologyError) as caught:
        layout(builder, left=2, right=3)
    assert str(caught.value) == (
        "topics left with 2 partitions and right with 3 partitions are joined and must have the same number. "
        "Put .repartition(partitions=3) in front of the join on the side of left, "
        "or give both topics the same number of partitions."
    )


def test_repartition_topics_keep_the_partitions_they_started_with() -> None:
    builder = StreamsBuilder()
    builder.stream("in", **SERDES).group_by(lambda v: v, **SERDES).count(name="n").to_stream().to("out")
    found = lay_out(builder.build(), {"in": 6}, {"n-repartition": 3})
    assert found.tasks == {0: 6, 1: 3}


def test_patterns_take_all_topics_that_match() -> None:
    builder = StreamsBuilder()
    builder.stream(pattern="in-.*", **SERDES).to("out", **SERDES)
    found = layout(builder, **{"in-a": 2, "in-b": 4})
    assert set(found.passes[0].topics) == {"in-a", "in-b"}
    assert found.tasks == {0: 4}


def test_chains_of_repartitions_go_one_level_deeper_each() -> None:
    builder = StreamsBuilder()
    stream = builder.stream("in", **SERDES)
    for step in range(3):
        stream = stream.select_key(lambda v: v).repartition(name=f"r{step}", **SERDES)
    stream.to("out", **SERDES)
    found = layout(builder, **{"in": 2})
    assert [p.level for p in found.passes] == [0, 1, 2, 3]
    assert found.levels == 4


def test_a_repartition_does_not_change_its_partitions_under_its_state() -> None:
    builder = StreamsBuilder()
    builder.stream("in", **SERDES).repartition(partitions=8, name="r").to("out", **SERDES)
    topology = builder.build()
    (name,) = topology.internal_topics
    assert lay_out(topology, {"in": 2}, {name: 8}).partitions[name] == 8
    with pytest.raises(TopologyError, match=f"{name} is to have 8 partitions, but the state .* is spread over 4"):
        lay_out(topology, {"in": 2}, {name: 4})


def test_passes_are_numbered_on_whatever_their_number_was() -> None:
    numbers = [
        pass_number(batch, index) for batch, passes in ((-1, 1), (0, 2), (1, 3), (2, 1)) for index in range(passes)
    ]
    assert numbers == sorted(set(numbers))
    assert [batch_of(number) for number in numbers] == [-1, 0, 0, 1, 1, 1, 2]
