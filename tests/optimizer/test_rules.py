"""Each rule: what it changes, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock import JoinWindows, StreamsBuilder, Topology, TopologyTestDriver
from penstock.optimizer import RULES
from penstock.topology.operators import NullKeyFilter, PassThrough, SelfJoin, StreamStreamJoin
from tests.streams.building import operators, source

MERGE = {"topology.optimization": "merge.repartition.topics"}
SELF_JOIN = {"topology.optimization": "single.store.self.join"}
TEXTS = {"default.key.serde": "string", "default.value.serde": "string"}


def echo(record: Any, context: Any) -> Iterator[Any]:
    yield record


def append(aggregate: str, value: str) -> str:
    return aggregate + value


def test_every_rule_shows_what_it_does() -> None:
    for rule in RULES:
        module = __import__(rule.apply.__module__, fromlist=["__doc__"])
        assert ">>> " in str(module.__doc__)


class TestMergeSources:
    def test_equal_topics_and_patterns(self) -> None:
        builder = StreamsBuilder()
        builder.stream("a", "b").to("x")
        builder.stream("b", "a").to("y")
        builder.stream(pattern="p.*").to("x")
        builder.stream(pattern="p.*").to("y")
        topology = builder.build()
        assert [n for n in topology.nodes if "SOURCE" in n] == [
            "KSTREAM-SOURCE-0000000000",
            "KSTREAM-SOURCE-0000000004",
        ]
        assert len(topology.children("KSTREAM-SOURCE-0000000000")) == 2

    def test_a_join_of_equal_sources_has_one_partner(self) -> None:
        builder = StreamsBuilder()
        builder.stream("a").join(builder.stream("a"), within=1)
        topology = builder.build()
        assert topology.copartitioned == []
        assert [type(o) for o in operators(topology).values()].count(StreamStreamJoin) == 2


class TestReuseSourceTopics:
    def test_only_materialised_source_tables(self) -> None:
        builder = StreamsBuilder()
        builder.table("named", store="rows")
        builder.table("unread").to_stream().to("out")
        builder.stream("s").to_table(store="other")
        topology = builder.build({"topology.optimization": "reuse.ktable.source.topics"})
        assert topology.source_changelogs == {"rows": "named"}
        assert (topology.stores["rows"].logging, topology.stores["other"].logging) == (False, True)


class TestMergeRepartitionTopics:
    def test_below_one_key_change(self) -> None:
        builder = StreamsBuilder()
        changed = builder.stream("in").select_key(len, name="key")
        changed.group_by_key(key_serde="long").count(name="a")
        changed.filter(bool, name="f").group_by_key(value_serde="string").reduce(max, name="b")
        topology = builder.build(MERGE)
        assert list(topology.internal_topics) == ["a-repartition"]
        assert set(topology.children("a-repartition-source")) == {"a", "f"}
        assert topology.children("f") == ("b",)
        node = source(topology, "a-repartition")
        assert (node.key_serde.name, node.value_serde.name) == ("long", "string")

    def test_two_steps_below_the_same_node(self) -> None:
        builder = StreamsBuilder()
        kept = builder.stream("in").select_key(len).filter(bool, name="f")
        kept.group_by_key().count(name="a")
        kept.group_by_key().count(name="b")
        topology = builder.build(MERGE)
        assert topology.children("a-repartition-source") == ("f",)
        assert topology.children("f") == ("a", "b")

    def test_values_that_change_in_between_stop_it(self) -> None:
        builder = StreamsBuilder()
        changed = builder.stream("in").select_key(len)
        changed.map_values(str).group_by_key().count(name="a")
        changed.process_values(echo).group_by_key().count(name="b")
        assert list(builder.build(MERGE).internal_topics) == ["a-repartition", "b-repartition"]

    def test_a_processor_changes_both(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").process(echo, name="p").group_by_key().count(name="a")
        assert builder.build(MERGE).children("p") == ("a-repartition-filter",)

    def test_the_users_own_repartition_stays(self) -> None:
        builder = StreamsBuilder()
        changed = builder.stream("in").select_key(len)
        changed.repartition(name="mine").to("out")
        changed.group_by_key().count(name="a")
        assert set(builder.build(MERGE).internal_topics) == {"mine-repartition", "a-repartition"}

    def test_below_a_merge_of_key_changes(self) -> None:
        builder = StreamsBuilder()
        one, two = builder.stream("a").select_key(len), builder.stream("b").select_key(len)
        both = one.merge(two, name="both")
        both.group_by_key().count(name="a")
        both.filter(bool).group_by_key().count(name="b")
        topology = builder.build(MERGE)
        assert list(topology.internal_topics) == ["a-repartition"]
        assert topology.children("both") == ("a-repartition-filter",)

    def test_copartition_groups_follow(self) -> None:
        builder = StreamsBuilder()
        changed = builder.stream("in").select_key(len)
        changed.join(builder.table("t"), name="j")
        changed.group_by_key().count(name="n")
        topology = builder.build(MERGE)
        assert topology.copartitioned == [("j-repartition-source", "KSTREAM-SOURCE-0000000003")]

    def test_results_stay(self) -> None:
        assert _counts({}) == _counts(MERGE)


def _counts(options: dict[str, Any]) -> list[Any]:
    builder = StreamsBuilder()
    changed = builder.stream("in").select_key(lambda k, v: v[:1])
    changed.group_by_key().count(name="a").to_stream().to("a", value_serde="long")
    changed.filter(lambda v: len(v) > 1).group_by_key().reduce(append, name="b").to_stream().to("b")
    with TopologyTestDriver(builder.build(options), TEXTS) as driver:
        topic = driver.create_input_topic("in")
        for value in ("x", "xy", "z", "xyz"):
            topic.pipe_input("k", value, timestamp=0)
        a, b = driver.create_output_topic("a"), driver.create_output_topic("b")
        return [a.read_key_values_to_list(), b.read_key_values_to_list()]


class TestSelfJoin:
    def test_one_store(self) -> None:
        builder = StreamsBuilder()
        stream = builder.stream("in")
        stream.join(stream, JoinWindows(5, 5), store="s", name="j").to("out")
        topology = builder.build(SELF_JOIN)
        assert len(topology.stores) == 1
        assert isinstance(operators(topology)["j-merge"], SelfJoin)
        assert "j-other-windowed" not in topology.nodes

    @pytest.mark.parametrize("kind", ["left_join", "outer_join"])
    def test_joins_with_results_of_one_side_are_left_alone(self, kind: str) -> None:
        builder = StreamsBuilder()
        stream = builder.stream("in")
        getattr(stream, kind)(stream, JoinWindows(5, 5), store="s", name="j").to("out")
        assert not any(isinstance(operator, SelfJoin) for operator in operators(builder.build(SELF_JOIN)).values())

    def test_two_reads_of_one_topic_are_one_stream(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").join(builder.stream("in"), within=5)
        assert len(builder.build(SELF_JOIN).stores) == 1

    def test_operators_in_between_stop_it(self) -> None:
        builder = StreamsBuilder()
        stream = builder.stream("in")
        stream.join(stream.filter(bool), within=5)
        assert len(builder.build(SELF_JOIN).stores) == 2

    def test_several_joins_of_one_stream(self) -> None:
        builder = StreamsBuilder()
        stream = builder.stream("in")
        stream.join(stream, within=5, store="a").to("x")
        stream.join(stream, within=9, store="b").to("y")
        assert list(builder.build(SELF_JOIN).stores) == ["a-this-join-store", "b-this-join-store"]


class TestKeepNullKeys:
    def test_any_left_join_downstream_keeps_them(self) -> None:
        found = _filter(lambda s, b: s.group_by_key().count().to_stream().left_join(b.table("t")))
        assert isinstance(found, PassThrough)

    def test_global_left_joins_count(self) -> None:
        found = _filter(lambda s, b: s.repartition(name="r").left_join(b.global_table("t"), on=len))
        assert isinstance(found, PassThrough)

    def test_inner_joins_do_not(self) -> None:
        found = _filter(lambda s, b: s.join(b.stream("other"), within=1))
        assert isinstance(found, NullKeyFilter)


def _filter(use: Any) -> Any:
    """The filter in front of the first repartition topic of a re-keyed stream."""
    builder = StreamsBuilder()
    use(builder.stream("in").select_key(len), builder)
    topology: Topology = builder.build()
    return next(o for name, o in operators(topology).items() if "filter" in name.lower())
