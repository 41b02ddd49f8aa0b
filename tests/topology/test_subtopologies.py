from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock import Stores, StreamsBuilder, Subtopology, Topology


def echo(record: Any, context: Any) -> Iterator[Any]:
    yield record


def test_a_repartition_topic_cuts() -> None:
    builder = StreamsBuilder()
    builder.stream("in").group_by(len).count(name="n").to_stream().to("out")
    first, second = builder.build().subtopologies()
    assert first == Subtopology(
        0,
        (
            "KSTREAM-SOURCE-0000000000",
            "KSTREAM-KEY-SELECT-0000000001",
            "n-repartition-filter",
            "n-repartition-sink",
        ),
        ("in",),
        (),
        ("n-repartition",),
        (),
    )
    assert (second.id, second.source_topics, second.sink_topics) == (1, ("n-repartition",), ("out",))
    assert second.stores == ("n",)


def test_a_shared_store_connects() -> None:
    store = Stores.key_value_store_builder(Stores.persistent_key_value_store("seen"))
    apart = StreamsBuilder()
    apart.stream("a").to("out")
    apart.stream("b").to("out")
    assert len(apart.build().subtopologies()) == 2
    together = StreamsBuilder().add_state_store(store)
    together.stream("a").process(echo, "seen").to("out")
    together.stream("b").process(echo, "seen").to("out")
    (only,) = together.build().subtopologies()
    assert only.source_topics == ("a", "b")
    assert only.sink_topics == ("out",)


def test_a_global_store_has_a_number_but_runs_no_task() -> None:
    builder = StreamsBuilder()
    table = builder.global_table("facts")
    builder.stream("in").join(table, on=len).to(lambda key, value: "out")
    (only,) = builder.build().subtopologies()
    assert (only.id, only.source_topics, only.sink_topics) == (1, ("in",), ())


def test_patterns() -> None:
    builder = StreamsBuilder()
    builder.stream(pattern="in-.*").to("out")
    (only,) = builder.build().subtopologies()
    assert (only.source_topics, only.source_patterns) == ((), ("in-.*",))


def test_a_node_that_joins_two_parts_later() -> None:
    topology = Topology().add_source("a", "a").add_source("b", "b")
    assert [s.id for s in topology.subtopologies()] == [0, 1]
    topology.add_processor("both", echo, "b", "a")
    (only,) = topology.subtopologies()
    assert (only.id, only.nodes) == (0, ("a", "b", "both"))
