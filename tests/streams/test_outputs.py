from __future__ import annotations

from typing import Any

import pytest

from penstock import Produced, Repartitioned, Serdes, StreamsBuilder
from penstock.topology.nodes import InternalTopic, SinkNode
from tests.streams.building import says, sink, source, stream


def by_length(topic: str, key: Any, value: Any, partitions: int) -> int:
    return len(key) % partitions


def test_to() -> None:
    builder = StreamsBuilder()
    builder.stream("in").to(
        "out", Produced.with_("string", "long").with_stream_partitioner(by_length).with_name("sink")
    )
    node = sink(builder.build(), "out")
    assert (node.name, node.key_serde, node.value_serde) == ("sink", Serdes.string(), Serdes.long())
    assert node.partitioner is by_length
    assert not node.internal


def test_to_a_topic_that_a_function_names() -> None:
    def choose(key: Any, value: Any, context: Any) -> str:
        return f"out-{key}"

    builder = StreamsBuilder()
    builder.stream("in").to(choose)
    topology = builder.build()
    (node,) = [n for n in topology.nodes.values() if isinstance(n, SinkNode)]
    assert node.topic is choose
    assert "(extractor class: test_to_a_topic_that_a_function_names.<locals>.choose)" in str(topology.describe())


def test_through_reads_the_topic_back() -> None:
    builder = StreamsBuilder()
    builder.stream("in", value_serde="long").through("between", key_serde="string").to("out")
    topology = builder.build()
    assert source(topology, "between").value_serde == Serdes.long()
    assert sink(topology, "out").key_serde == Serdes.string()
    assert [s.sink_topics for s in topology.subtopologies()] == [("between",), ("out",)]


class TestRepartition:
    def test_a_topic_of_our_own(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").repartition(name="spread", partitions=6, partitioner=by_length, key_serde="string")
        topology = builder.build()
        assert topology.internal_topics == {"spread-repartition": InternalTopic("spread-repartition", 6)}
        node = sink(topology, "spread-repartition")
        assert (node.partitioner, node.key_serde, node.internal) == (by_length, Serdes.string(), True)

    def test_the_object(self) -> None:
        builder = StreamsBuilder()
        options = Repartitioned.as_("spread").with_number_of_partitions(2).with_stream_partitioner(by_length)
        builder.stream("in").repartition(options.with_key_serde("string").with_value_serde("long"))
        assert builder.build().internal_topics["spread-repartition"].partitions == 2
        assert Repartitioned.number_of_partitions(3).partitions == 3
        assert Repartitioned.stream_partitioner(by_length).partitioner is by_length

    def test_a_topic_of_the_users(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").repartition(topic="spread").to("out")
        topology = builder.build()
        assert topology.internal_topics == {}
        assert not sink(topology, "spread").internal
        assert not source(topology, "spread").internal

    def test_the_key_counts_as_unchanged_after_it(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").select_key(len).repartition(name="spread").group_by_key().count(name="n")
        assert list(builder.build().internal_topics) == ["spread-repartition"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: stream().to("a b"),
            (
                "the topic 'a b' is not a legal name (at {}). "
                "Use 1 to 249 characters of a-z A-Z 0-9 . _ -, but not . or .. alone."
            ),
        ),
        (
            lambda: stream().to(3),
            "the topic of to is 3, not a function (at {}). Give a function of (key, value) or (key, value, context).",
        ),
        (lambda: stream().through(str), "through needs the name of a topic (at {}). Only to() takes a function."),
        (
            lambda: stream().repartition(topic="mine", partitions=3),
            (
                "repartition was given partitions and the topic mine (at {}). "
                "A topic of yours has its own number of partitions; drop one of them."
            ),
        ),
    ],
)
def test_refused(call: Any, message: str) -> None:
    says(call, message)
